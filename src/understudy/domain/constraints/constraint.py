"""What every kind of constraint has: the columns that it is about, and conditions that no record may break."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.fields import flag, text
from understudy.domain.condition_truth import check
from understudy.domain.conditions import Condition, IsMissing
from understudy.errors import SchemaError


@dataclass(frozen=True)
class Constraint(ABC):
    """One rule. `count`: whether to spend a little on a noisy count of the records that break it."""

    keys: ClassVar[tuple[str, ...]]  # what a schema file calls its parts; the first tells the kind

    count: bool = field(default=False, kw_only=True)
    description: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        flag("count", self.count)
        text("description", self.description)

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""

    @property
    def computed(self) -> str | None:
        """The column that is worked out from the others, and not learned, if there is one."""
        return None

    @property
    def assigned(self) -> str | None:
        """The column whose value it says, learned or not, if there is one."""
        return self.computed

    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions none of which may be false of a record."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What a schema file says of it."""

    def said(self) -> dict[str, Any]:
        """What a schema file says of it, with what every rule may have."""
        more = {"count": self.count, "description": self.description}
        return self.fields() | {key: value for key, value in more.items() if value}

    def check(self, columns: Mapping[str, Column]) -> None:
        """Refuse a rule about columns that are not there, or that compares what cannot be."""
        for condition in self.conditions():
            check(condition, columns)

    def __str__(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.fields().items())


def check_known(names: Iterable[str], columns: Mapping[str, Column]) -> None:
    """Refuse columns that are not there, or whose type is not known."""
    for name in names:
        check(IsMissing(name), columns)


def refuse_rule(what: str, way_out: str) -> NoReturn:
    """Refuse a rule, with a way out."""
    raise SchemaError(what, hint=way_out)
