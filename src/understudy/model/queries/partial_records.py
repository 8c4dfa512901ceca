"""Records of which some columns are known: how a person gives them, and in what order they are worked on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import DomainError, ParameterError

MISSING = -1


@dataclass(frozen=True, eq=False)
class PartialRecords:
    """Codes of some columns for `rows` records, checked; `MISSING` where a record lacks one."""

    codes: Mapping[str, npt.NDArray[np.int64]]
    rows: int

    def patterns(self) -> Iterator[tuple[npt.NDArray[np.intp], dict[str, npt.NDArray[np.int64]]]]:
        """Records that know the same columns, together: their places, and the codes they know."""
        names = [name for name, codes in self.codes.items() if (codes == MISSING).any()]
        always = {name: codes for name, codes in self.codes.items() if name not in names}
        if not names:
            yield np.arange(self.rows), always
            return
        known = np.stack([self.codes[name] != MISSING for name in names], axis=1)
        kinds, kind = np.unique(known, axis=0, return_inverse=True)
        for k, present in enumerate(kinds):
            rows = np.flatnonzero(kind.reshape(-1) == k)
            some = [name for name, here in zip(names, present, strict=True) if here]
            yield (
                rows,
                {name: codes[rows] for name, codes in always.items()}
                | {name: self.codes[name][rows] for name in some},
            )


def partial_records(domain: Domain, given: Mapping[str, Any], rows: int | None) -> PartialRecords:
    """Partial records from a mapping of columns to codes, one a record or one for all.

    Masked entries, NaN and -1 mean that a record lacks the column. `rows` is how many there are, when known.
    """
    columns = {name: _codes(name, domain[name], given[name]) for name in column_names(given)}
    lengths = {codes.size for codes in columns.values() if codes.ndim}
    if rows is not None:
        lengths.add(rows)
    if len(lengths) > 1:
        raise ParameterError(
            f"partial records: columns of {sorted(lengths)} records do not fit together.",
            hint="give every column as many codes as there are records, or one code for all.",
        )
    count = lengths.pop() if lengths else 1
    return PartialRecords(
        {name: np.broadcast_to(codes, (count,)).astype(np.int64) for name, codes in columns.items()}, count
    )


def column_names(given: Mapping[str, Any]) -> list[str]:
    """The columns of a mapping or of a data frame."""
    try:
        return list(given.keys())
    except AttributeError:
        raise ParameterError(
            f"partial records of type {type(given).__name__} are not a mapping.",
            hint='map columns to codes: {"sex": 0, "age": [31, 52]}.',
        ) from None


def _codes(name: str, size: int, value: Any) -> npt.NDArray[np.int64]:
    masked = np.ma.asarray(value)
    codes = np.asarray(masked.filled(MISSING) if masked.dtype.kind in "iu" else _whole(name, masked))
    if codes.ndim > 1:
        raise DomainError(f"column {name!r}: codes are given as one number or a list, not a table.")
    codes = codes.astype(np.int64)
    outside = int(((codes < MISSING) | (codes >= size)).sum())
    if outside:
        raise DomainError(f"column {name!r}: {outside} code(s) lie outside 0..{size - 1}.")
    return codes


def _whole(name: str, masked: Any) -> npt.NDArray[np.int64]:
    """Codes that came as other numbers, as pandas writes a column with gaps."""
    if masked.dtype.kind == "f":
        values = masked.filled(np.nan)
        codes = np.where(np.isnan(values), MISSING, values)
        if np.isfinite(codes).all() and (codes == np.floor(codes)).all() and (np.abs(codes) < 2**62).all():
            return codes.astype(np.int64)
    elif masked.size == 0:
        return np.empty(masked.shape, np.int64)
    raise DomainError(f"column {name!r}: codes are whole numbers.", hint="encode the values first.")


def labels(
    parts: list[tuple[npt.NDArray[Any], int]], rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Dense numbers for the distinct combinations of some codes, and one record that shows each.

    A part is an array of codes and how many there are. Numbers follow the order of the codes.
    """
    ids = np.zeros(rows, np.int64)
    count = 1 if rows else 0
    for codes, size in parts:
        key = ids * size + codes
        span = count * size
        if span <= max(4 * rows, 1024):
            seen = np.zeros(span, bool)
            seen[key] = True
            ids = (np.cumsum(seen) - 1)[key]
            count = int(seen.sum())
        else:
            distinct, inverse = np.unique(key, return_inverse=True)
            ids, count = inverse.reshape(-1).astype(np.int64), distinct.size
    shown = np.zeros(count, np.intp)
    shown[ids] = np.arange(rows)
    return ids, shown


def known_first(parents: Clique, known: Mapping[str, Any]) -> tuple[Clique, Clique]:
    """The parents that are known, and those that are free."""
    return (
        tuple(name for name in parents if name in known),
        tuple(name for name in parents if name not in known),
    )
