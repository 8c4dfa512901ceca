"""How badly an estimate fits a marginal: their L1 distance, in exact integers.

Estimates are public (they were computed from what was released) and are rounded first, which is free. Then
every score is an exact int64 that one record moves by at most one.
"""

from __future__ import annotations

import math
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import OperatorError, ParameterError

Integers = npt.NDArray[np.int64]
Estimates = Callable[[Clique], npt.NDArray[Any]]
Rounding = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]  # a public rule: to whole numbers
_SQUARABLE = 2**29  # nine times the square of what is below fits in an int64
_HELD = 2**25  # cells of rounded estimates kept between their check and their use: a quarter of a gigabyte


class Rounded:
    """Estimates of some cliques, each computed once, checked and rounded, before anything is counted.

    What does not fit in memory waits in a file without a name: estimates are public.
    """

    def __init__(
        self,
        domain: Domain,
        wanted: Sequence[Clique],
        estimates: Estimates,
        rule: Rounding = np.rint,
    ) -> None:
        self._domain, self._estimates, self._rule = domain, estimates, rule
        self._held: dict[Clique, npt.NDArray[np.signedinteger[Any]]] = {}
        self._filed: dict[Clique, tuple[int, int]] = {}  # where in the file, and how many bytes
        self._file: IO[bytes] | None = None
        cells = 0
        for clique in wanted:
            table = self._round(clique)
            cells += table.size
            if cells <= _HELD:
                self._held[clique] = _narrow(table)
            else:
                self._put(clique, table)

    def take(self, clique: Clique) -> Integers:
        """The rounded estimate of a clique, flat; to be taken once."""
        held = self._held.pop(clique, None)
        if held is not None:
            return held.astype(np.int64)
        assert self._file is not None
        place, size = self._filed[clique]
        self._file.seek(place)
        return np.frombuffer(self._file.read(size), dtype=np.int64)

    def _put(self, clique: Clique, table: Integers) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed when this is gone)
                weakref.finalize(self, self._file.close)
            self._filed[clique] = self._file.tell(), table.nbytes
            self._file.write(table.tobytes())
            self._file.flush()
        except OSError as fault:
            why = fault.strerror or type(fault).__name__
            raise OperatorError(
                f"the estimates of so many candidates cannot be kept: {why}.",
                hint="offer fewer or smaller candidates, or make room for temporary files.",
            ) from None

    def _round(self, clique: Clique) -> Integers:
        table = np.array(self._estimates(clique), dtype=np.float64).reshape(-1)  # a copy: ours alone
        size = self._domain.size(clique)
        if table.size != size:
            raise ParameterError(f"the estimate of {clique!r} has {table.size} cells, not {size}.")
        with np.errstate(all="ignore"):  # what overflows is not finite, and refused
            whole = self._rule(table)
            fits = bool(np.isfinite(whole).all() and np.abs(whole).sum() <= 2.0**60)
        if not fits:
            raise ParameterError(
                f"the estimate of {clique!r} holds a cell that is not finite, or is past 2^60."
            )
        return whole.astype(np.int64)


def _narrow(table: Integers) -> npt.NDArray[np.signedinteger[Any]]:
    """The same whole numbers in half the memory, where they fit in half the bits: thousands of them wait at once."""
    fits = table.min(initial=0) >= -(2**31) and table.max(initial=0) < 2**31
    return table.astype(np.int32) if fits else table


def spread_parts(parts: int) -> Rounding:
    """The rule that rounds a table to whole numbers of `parts` of a record, and keeps the sum of any run of cells.

    Thousands of cells that expect a hundredth of a record each expect tens of records together: those stay.
    """

    def rule(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.diff(np.rint(np.cumsum(table * parts)), prepend=0.0)

    return rule


def misfit(counts: Integers, expected: Integers) -> int:
    """The L1 distance between exact counts and a rounded estimate."""
    return int(np.abs(counts - expected).sum())


def beyond_blur(misfits: Integers, blurs: Integers) -> Integers:
    """Misfits with what noise in the estimates alone would make of them taken off, as far as one record allows.

    A misfit x that a distance d and a blur c make together is near sqrt(d^2 + c^2), so d is near sqrt(x^2 - c^2).
    That rises too steeply just above c: here it is 3/5 of it from 5/4 of c on, and below that x - 4/5 c, the
    tangent. No step of x moves this by more than itself, and rounding down keeps that. Exact for any int64.
    """
    if max(misfits.max(initial=0), blurs.max(initial=0)) < _SQUARABLE:
        below = (5 * misfits - 4 * blurs) // 5
        above = _root(9 * np.maximum(misfits**2 - blurs**2, 0) // 25)
        return np.where(4 * misfits <= 5 * blurs, below, above)
    pairs = zip(misfits.tolist(), blurs.tolist(), strict=True)
    return np.array(
        [(5 * x - 4 * c) // 5 if 4 * x <= 5 * c else math.isqrt(9 * (x * x - c * c) // 25) for x, c in pairs],
        dtype=np.int64,
    )


def _root(squares: Integers) -> Integers:
    """The roots, rounded down: those of floats, set right by one where they are off."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > squares
    return np.asarray(roots + ((roots + 1) ** 2 <= squares), np.int64)
