"""The two neighbouring tables of an audit: one without a certain unit and one with it.

The base holds three kinds of records. The unit that is added is the worst case in one of three ways: a `twin` of
the commonest record, a `stranger` that shares no value with any, or an `odd` one, whose cells are none that the
schema foresees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from understudy.domain import Schema
from understudy.errors import ParameterError
from understudy.privacy import Neighbours

TARGETS = ("twin", "stranger", "odd")
COLUMNS = ("zip", "level", "active", "age", "income")
UNIT = "person"
Cells = tuple[Any, ...]

_TWIN: Cells = ("01001", 1, True, 3, 12.5)
_BASE: tuple[tuple[Cells, int], ...] = (
    (_TWIN, 600),
    (("02002", 2, True, 4, 37.5), 300),
    (("10003", 3, True, 5, 62.5), 100),
)
_STRANGER: Cells = ("90004", 4, False, 8, 87.5)
_ODD_TYPED: Cells = ("x", -9, None, 10**12, float("nan"))  # where a column has a type that holds no text
_ODD_TEXT: Cells = ("x",) * len(COLUMNS)

_SCHEMA = """
[table]
name = "audit"
{unit}
[columns.zip]
type = "category"
values = ["01001", "02002", "10003", "90004"]
[columns.level]
type = "category"
values = [1, 2, 3, 4]
[columns.active]
type = "boolean"
[columns.age]
type = "integer"
min = 0
max = 9
[columns.income]
type = "number"
min = 0
max = 100
bins = 4
"""


@dataclass(frozen=True)
class NeighbouringTables:
    """Two neighbouring tables as rows of cells, and the schema of both.

    `typed` says whether columns have types of their own, so that an odd cell cannot be a text among numbers.
    """

    target: str
    neighbours: Neighbours
    typed: bool

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise ParameterError(
                f"target {self.target!r} is not known.", hint=f"choose one of {', '.join(TARGETS)}."
            )

    @cached_property
    def schema(self) -> Schema:
        """The schema of both tables, in which nothing is left to learn."""
        most = self.neighbours.records
        unit = f'unit = "{UNIT}"\nmax_records_per_unit = {most}' if most > 1 else ""
        return Schema.from_toml(_SCHEMA.format(unit=unit))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of both tables, the unit's first where there is one."""
        return (UNIT, *COLUMNS) if self.neighbours.records > 1 else COLUMNS

    @cached_property
    def without(self) -> list[Cells]:
        """The table before: without the unit, or with another in its place."""
        other = _STRANGER if self.target == "twin" else _TWIN
        return self._base + (self._unit(other) if self.neighbours.relation == "replace" else [])

    @cached_property
    def with_(self) -> list[Cells]:
        """The table with the unit."""
        odd = _ODD_TYPED if self.typed else _ODD_TEXT
        return self._base + self._unit({"twin": _TWIN, "stranger": _STRANGER, "odd": odd}[self.target])

    @property
    def _base(self) -> list[Cells]:
        records = [cells for cells, times in _BASE for _ in range(times)]
        if self.neighbours.records == 1:
            return records
        return [(f"p{place}", *cells) for place, cells in enumerate(records)]

    def _unit(self, cells: Cells) -> list[Cells]:
        """The records of the unit: one where a unit is a record, else one more than may count."""
        most = self.neighbours.records
        return [cells] if most == 1 else [("target", *cells)] * (most + 1)
