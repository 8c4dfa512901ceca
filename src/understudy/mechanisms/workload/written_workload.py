"""A workload as a person writes it, a line a set: `age,income`, with a weight `age,income=2`, or `3-way` alone."""

from __future__ import annotations

from collections.abc import Iterable

from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.mechanisms.workload.workload import Workload


def written_workload(lines: Iterable[str]) -> Workload:
    """The workload of these lines; empty ones, and what follows a #, are passed over."""
    said = [text for text in (line.split("#", 1)[0].strip() for line in lines) if text]
    if not said:
        raise ParameterError("the workload names no set of columns.", hint="write one a line: age,income")
    if len(said) == 1 and "," not in said[0] and "=" not in said[0] and Workload.is_order(said[0]):
        return Workload.of(said[0])
    listed: dict[Clique, float] = {}
    for text in said:
        names, equals, number = text.rpartition("=")
        weight = _weight(number) if equals else None
        clique = tuple(part.strip() for part in (names if weight is not None else text).split(","))
        listed[clique] = 1.0 if weight is None else weight
    return Workload.of(listed)


def _weight(text: str) -> float | None:
    """The number after an equals sign; None where there is none, and the sign belongs to a column's name."""
    try:
        return float(text)
    except ValueError:
        return None
