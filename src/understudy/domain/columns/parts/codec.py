"""What a column type must offer to be encoded: a codec, in the file of its type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.codes import Codes, code_type
from understudy.errors import DomainError

Within = Literal["uniform", "midpoint"]
Whole = npt.NDArray[np.int64]


class Coded(Protocol):
    """What a codec knows of any column: how many of its codes stand for values, and how many there are."""

    @property
    def count(self) -> int: ...

    @property
    def size(self) -> int: ...


ColumnT = TypeVar("ColumnT", bound=Coded)


class Codec(ABC, Generic[ColumnT]):
    """Values of one column to codes and back.

    `encode` answers for every Arrow type and every value, and never raises on one: what does not fit goes to
    the slot that the column's description gives it.
    """

    arrow_type: pa.DataType  # the type in which values come back

    def __init__(self, column: ColumnT) -> None:
        self.column = column
        self.dtype = code_type(column.size)

    @abstractmethod
    def encode(self, array: pa.Array) -> Codes:
        """The code of each value of one plain array (see `domain.arrow_values`)."""

    @abstractmethod
    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        """A value for each code (see `in_range`), null for the slots."""

    @abstractmethod
    def reading_type(self) -> pa.DataType:
        """The type in which a CSV reader should try to parse the column, before it falls back to text.

        Only a type whose parser agrees with `grammar`: see there.
        """

    def in_range(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """`codes`, once every one is a code of this column."""
        codes = np.asarray(codes)
        if codes.size and (codes.min() < 0 or codes.max() >= self.column.size):
            raise DomainError(
                f"codes reach from {codes.min()} to {codes.max()}, but the column has {self.column.size}."
            )
        return codes

    def with_slots(self, codes: npt.NDArray[Any], of: Callable[[Whole], Any]) -> pa.Array:
        """`of` the codes that stand for values, as an array of `arrow_type` with nulls for the slots.

        What `of` is handed is its own, to change as it likes.
        """
        codes = self.in_range(codes)
        wide = codes.astype(np.int64)
        if not codes.size or codes.max() < self.column.count:
            return pa.array(of(wide), type=self.arrow_type)
        slots = codes >= self.column.count
        wide[slots] = 0
        return pa.array(of(wide), type=self.arrow_type, mask=slots)


def pick(last: Whole, rng: np.random.Generator, within: Within) -> Whole:
    """A whole number from 0 to each of `last`, both included: any one, or the middle one."""
    if within == "midpoint":
        return last // 2
    return rng.integers(0, last, endpoint=True) if last.any() else last.copy()


def step_aside(drawn: Whole, last: Whole, reserved: Callable[[Whole], npt.NDArray[np.bool_]]) -> Whole:
    """`drawn`, moved on by one wherever it stands for a value that has a code of its own."""
    for _ in range(8):  # more reserved values side by side than this are left as they are
        hit = reserved(drawn) & (last > 0)
        if not hit.any():
            break
        drawn[hit] = (drawn[hit] + 1) % (last[hit] + 1)
    return drawn
