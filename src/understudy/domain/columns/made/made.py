"""What every made-up column has: values of its own making, and no codes.

Nothing of such a column is learned, so nothing of it can leak: a value is a function of the column's description,
of the sample's seed and of where in the sample its record stands.
"""

from __future__ import annotations

import zlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pyarrow as pa

from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.fields import refuse
from understudy.errors import SchemaError


@dataclass(frozen=True)
class Place:
    """Where in a sample some records stand: the sample's seed, and how many records come before them."""

    seed: int
    first: int = 0

    def within(self, column: str) -> Place:
        """This place in the sample, with a seed of the column's own."""
        seed = np.random.SeedSequence([self.seed, zlib.crc32(column.encode())]).generate_state(1, np.uint64)
        return Place(int(seed[0]), self.first)

    def after(self, rows: int) -> Place:
        """The place of the records that follow so many."""
        return Place(self.seed, self.first + rows)

    def random(self) -> np.random.Generator:
        """The randomness of this place alone."""
        return np.random.default_rng([self.seed, self.first])


@dataclass(frozen=True)
class Made(Column):
    """A column whose values are made up when records are generated: never read, never learned, never modelled."""

    bounded = False
    modelled = False

    def _check(self) -> None:
        for field, default in (("missing", None), ("outside", None), ("ordered", True)):
            if getattr(self, field) != default:
                refuse(
                    field, getattr(self, field), "has no meaning for a column that is never read.", "drop it."
                )

    @abstractmethod
    def generated(self, rows: int, place: Place) -> pa.Array:
        """The values of so many records that stand there; the same ones whoever makes them, and whenever."""

    @property
    def keys(self) -> int | None:
        """How many different values there are, where every record has one of its own; else None."""
        return None

    def ready(self) -> None:
        """Refuse a column that cannot be made here: an optional package is not installed."""

    @property
    def count(self) -> int:
        return 0

    def codec(self) -> NoReturn:
        raise SchemaError(
            f"a column of type {self.type!r} is made up: it has no codes.", hint="leave it out."
        )

    def value_labels(self) -> list[str]:
        return []
