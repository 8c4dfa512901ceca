"""What a check of the surroundings found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How it stands: fine, something to know, or a fault without whose repair nothing should be run."""

    FINE = "fine"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True)
class Symptom:
    """One thing that was looked at: how it stands, what was seen, and what to do, where anything is to be done."""

    what: str
    state: State
    said: str
    todo: str = ""


def fine(what: str, said: str) -> Symptom:
    """A symptom that asks for nothing."""
    return Symptom(what, State.FINE, said)


def note(what: str, said: str, todo: str) -> Symptom:
    """A symptom that some will want to act on."""
    return Symptom(what, State.NOTE, said, todo)


def fault(what: str, said: str, todo: str) -> Symptom:
    """A symptom that must be acted on."""
    return Symptom(what, State.FAULT, said, todo)


def looked(what: str, look: Callable[[], Iterable[Symptom]]) -> list[Symptom]:
    """What a look at something found; one that fails is a fault itself, told without the error's words."""
    try:
        return list(look())
    except Exception as error:
        return [fault(what, f"could not be looked at ({type(error).__name__})", "report it, with this line")]
