"""One column as two: a coarse value and its last digits; or as a coarse value alone.

The paper's "Transform data" and its reverse (with "Convert INCWAGE_B to DIGITS"), for any column of whole
numbers: INCWAGE is `Split("INCWAGE", ("INCWAGE_A", "INCWAGE_B"))`, VALUEH is `Floor("VALUEH")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Integer, Schema
from understudy.errors import ParameterError
from understudy.transforms.derive import TableTransform, exchange, redescribe, whole_numbers

Whole = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Floor:
    """`column` divided by `divisor`, rounded down, up to `cap`; larger values count as the cap.

    `special` values have codes of their own just above it. The paper's VALUEH: 0..5000, then 5001 and 5002.
    Negative values count as 0; missing ones stay missing.
    """

    column: str
    divisor: int = 5
    cap: int = 25_000
    special: tuple[int, ...] = (9_999_998, 9_999_999)

    def __post_init__(self) -> None:
        object.__setattr__(self, "special", _specials(self.special, self.cap))
        _check_coarse(self.column, self.divisor, self.cap)

    @property
    def reads(self) -> tuple[str, ...]:
        """The fine column."""
        return (self.column,)

    @property
    def top(self) -> int:
        """The coarse value of the cap, and of everything above it."""
        return self.cap // self.divisor

    def coarse(self, values: Whole) -> Whole:
        """The coarse value of each value."""
        coarse = np.clip(values, 0, self.cap) // self.divisor
        for place, special in enumerate(self.special):
            coarse[values == special] = self.top + 1 + place
        return coarse

    def back(self, coarse: Whole) -> Whole:
        """The smallest value of each coarse one, or the special value it stands for."""
        table = np.array([self.top * self.divisor, *self.special])
        return np.where(coarse <= self.top, coarse * self.divisor, table[np.maximum(coarse - self.top, 0)])

    def forward(self, table: pa.Table, /) -> pa.Table:
        values, missing = whole_numbers(table, self.column)
        return exchange(table, (self.column,), {self.column: _array(self.coarse(values), missing)})

    def reverse(self, table: pa.Table, /, rng: np.random.Generator | None = None) -> pa.Table:
        coarse, missing = whole_numbers(table, self.column)
        coarse = np.clip(coarse, 0, self.top + len(self.special))
        return exchange(table, (self.column,), {self.column: _array(self.back(coarse), missing)})

    def describe(self, schema: Schema) -> Schema:
        """The schema with the coarse column in place of the fine one, one code a value."""
        column = _coarse_column(self, schema, self.column)
        return redescribe(schema, self.column, {self.column: column})

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "floor", **_lists(asdict(self))}


@dataclass(frozen=True)
class Split:
    """`column` as two: `into[0]` is its `Floor`, `into[1]` the first of `moduli` that divides it.

    The paper's INCWAGE: 52 and 8 codes. On the way back the last digits are drawn from those the second
    code allows. `exact_top` makes everything at the cap the cap itself, as the contest entry did.
    """

    column: str
    into: tuple[str, str]
    divisor: int = 100
    cap: int = 5_000
    special: tuple[int, ...] = (9_999_998,)
    moduli: tuple[int, ...] = (100, 20, 50, 25, 10, 5, 2, 1)
    exact_top: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "special", _specials(self.special, self.cap))
        object.__setattr__(self, "moduli", tuple(self.moduli))
        object.__setattr__(self, "into", tuple(self.into))
        _check_coarse(self.column, self.divisor, self.cap)
        if (
            len(self.into) != 2
            or len({*self.into}) != 2
            or not all(isinstance(n, str) and n for n in self.into)
        ):
            raise ParameterError(f"split of {self.column!r}: into {self.into!r} is not two names.")
        if not all(isinstance(m, int) and not isinstance(m, bool) and m > 0 for m in self.moduli):
            raise ParameterError(
                f"split of {self.column!r}: moduli {self.moduli!r} are not whole numbers above 0."
            )
        if not self.moduli or self.moduli[-1] != 1 or any(not len(part) for part in self.digits):
            raise ParameterError(
                f"split of {self.column!r}: moduli {self.moduli!r} do not each add last digits of their own.",
                hint="order them so that none is covered by those before it, and end with 1.",
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The column that is split."""
        return (self.column,)

    @property
    def floor(self) -> Floor:
        """The coarse half."""
        return Floor(self.column, self.divisor, self.cap, self.special)

    @cached_property
    def digits(self) -> tuple[Whole, ...]:
        """For each modulus, the last digits it divides that none before it does: L_k of the paper."""
        left = np.arange(self.divisor)
        parts = []
        for modulus in self.moduli:
            divides = left % modulus == 0
            parts.append(left[divides])
            left = left[~divides]
        return tuple(parts)

    def forward(self, table: pa.Table, /) -> pa.Table:
        values, missing = whole_numbers(table, self.column)
        periods = np.full(len(values), len(self.moduli) - 1)
        for place in reversed(range(len(self.moduli))):  # the first that divides wins
            periods[values % self.moduli[place] == 0] = place
        first, second = self.into
        columns = {first: _array(self.floor.coarse(values), missing), second: _array(periods, missing)}
        return exchange(table, (self.column,), columns)

    def reverse(self, table: pa.Table, /, rng: np.random.Generator | None = None) -> pa.Table:
        rng = np.random.default_rng() if rng is None else rng
        coarse, missing = whole_numbers(table, self.into[0])
        periods, undigited = whole_numbers(table, self.into[1])
        coarse = np.clip(coarse, 0, self.floor.top + len(self.special))
        values = self.floor.back(coarse)
        finer = coarse <= (self.floor.top - 1 if self.exact_top else self.floor.top)
        drawn = self._draw(np.clip(periods, 0, len(self.moduli) - 1), rng)
        values = values + np.where(finer & ~undigited, drawn, 0)
        return exchange(table, self.into, {self.column: _array(values, missing)})

    def _draw(self, periods: Whole, rng: np.random.Generator) -> Whole:
        """Last digits for each period, all that it allows being as likely."""
        drawn = np.zeros(len(periods), np.int64)
        for place, allowed in enumerate(self.digits):
            here = periods == place
            drawn[here] = rng.choice(allowed, size=int(here.sum()))
        return drawn

    def describe(self, schema: Schema) -> Schema:
        """The schema with the two derived columns in place of the original, one code a value."""
        first, second = self.into
        source = schema[self.column]
        last = Integer(min=0, max=len(self.moduli) - 1, missing=False if source.missing is False else None)
        return redescribe(
            schema, self.column, {first: _coarse_column(self.floor, schema, self.column), second: last}
        )

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "split", **_lists(asdict(self))}


KINDS: Mapping[str, type[Any]] = {"split": Split, "floor": Floor}  # as `to_dict` names them


def transform_from_dict(said: Mapping[str, Any]) -> TableTransform:
    """The transform that a `to_dict` wrote; anything else is refused."""
    fields = dict(said)
    kind = KINDS.get(str(fields.pop("kind", None)))
    if kind is None:
        raise ParameterError(f"transform is not one of {', '.join(KINDS)}.")
    try:
        made: TableTransform = kind(**fields)
    except TypeError:
        raise ParameterError("transform is not of the form that to_dict writes.") from None
    return made


def _coarse_column(floor: Floor, schema: Schema, name: str) -> Integer:
    source = schema[name]
    codes = floor.top + 1 + len(floor.special)
    return Integer(
        min=0,
        max=codes - 1,
        bins=codes,
        missing=False if source.missing is False else None,
        description=source.description,
    )


def _array(values: Whole, missing: Mask) -> pa.Array:
    return pa.array(values, type=pa.int64(), mask=missing if missing.any() else None)


def _lists(fields: dict[str, Any]) -> dict[str, Any]:
    return {field: list(value) if isinstance(value, tuple) else value for field, value in fields.items()}


def _specials(special: Any, cap: int) -> tuple[int, ...]:
    values = tuple(special)
    if any(isinstance(v, bool) or not isinstance(v, int) or not cap < v < 2**63 for v in values):
        raise ParameterError(f"special {values!r} are not whole numbers above the cap {cap}.")
    if len(set(values)) != len(values):
        raise ParameterError(f"special {values!r} names a value twice.")
    return values


def _check_coarse(column: Any, divisor: Any, cap: Any) -> None:
    if not isinstance(column, str) or not column:
        raise ParameterError(f"column {column!r} is not a name.")
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in (divisor, cap))
    if not whole or not 0 < divisor <= cap <= 2**62:
        raise ParameterError(
            f"column {column!r}: divisor {divisor!r} and cap {cap!r} are not whole numbers, 0 < divisor <= cap."
        )
    if divisor > 1_000_000 or cap // divisor > 1_000_000:
        raise ParameterError(
            f"column {column!r}: divisor {divisor} and cap {cap} leave more than 1000000 values.",
            hint="take a divisor and a cap closer to each other.",
        )
