"""Noisy marginals pulled towards what is already known, as far as their own noise suggests.

A marginal of many cells and few records is mostly noise: fitted as it is, it spoils what simpler ones got right.
Each noisy table is therefore replaced, before the fit, by what its cells likely hold, given their noisy counts and
what the field fitted so far says of the same columns:

1. Rows and columns of a pair are first moved to the sums that are known better from the columns alone, so that
   a cell is judged by what is left in its row and column as well as by its own noisy count.
2. Then blocks of cells are put right, from the largest to single cells, each by the mean of its posterior (see
   `posterior_kernel`). Blocks come from runs of codes along each axis, apart from the slots: whether a value is
   missing is what columns tell of each other most sharply. How common it is that a block holds nothing, what was
   expected, or something else is learned from the noisy blocks of that size.

All of it is post-processing of released numbers and costs no privacy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.mechanisms import posterior_kernel as kernel
from understudy.model import Field, estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.processors import on_all_cores

Cells = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_LEAST = 1e-3  # of a record: what a cell is thought to hold where the prior has none
_SUREST = 0.05  # of its own noise: how well a cell is known that holds nothing
_DOUBT = 2.0  # times as little as was expected makes a cell better known
_KNOWN = 0.95  # of a block's variance: what the sums of its rows and columns may take away at most
_ROUNDS = 30  # of expectation and maximisation, which settle sooner
_LOOKED_AT = 2**16  # blocks of one size from which it is learned what blocks hold
_MOST_CUTS = 63  # that are looked for along an axis; more runs are cut by mass alone
_PARTS = 4  # into which the other axis is cut to find them
_MANY = 10**6  # cells of a table whose blocks are as long as they are wide, to be quick


def fit(
    domain: Domain,
    log: Sequence[Measurement],
    *,
    shrink: bool = True,
    values: Mapping[str, int] | None = None,
) -> Field:
    """The field of the measurements; with `shrink`, each table is first pulled towards the field of simpler ones.

    Pairs are pulled towards independence, triples towards what the pairs say, and so on. Measurements
    through a query and those of one column are fitted as they are. `values` says how many of a column's first
    codes are no slots.
    """
    if not shrink:
        return estimate(domain, log)
    total = estimate_total(domain, log)
    rest = [m for m in log if len(m.clique) > 1 and m.query is None and not m.stddev.ndim]
    pooled = {name: pooled_column(domain, name, log) for name in domain}
    alone = {name: spread(m.stddev) for name, m in pooled.items() if m is not None}
    known = [m for m in log if m not in rest and (len(m.clique) > 1 or m.query is not None)]
    known += [m for m in pooled.values() if m is not None]
    field = estimate(domain, known, total=total)
    for order in sorted({len(m.clique) for m in rest}):
        pairs = [(m, _counts(field, m)) for m in rest if len(m.clique) == order]
        known += on_all_cores(lambda pair: _shrunk(*pair, values or {}, alone), pairs)
        field = estimate(domain, known, total=total)
    return field


def pooled_column(domain: Domain, name: str, log: Sequence[Measurement]) -> Measurement | None:
    """What a column's own measurement and its pairs say of it together, each as far as its noise allows."""
    held, weight = np.zeros(domain[name]), np.zeros(domain[name])
    for m in log:
        if name not in m.clique or len(m.clique) > 2 or m.query is not None:
            continue
        shape = domain.shape(m.clique)
        summed = tuple(axis for axis, other in enumerate(m.clique) if other != name)
        certain = 1.0 / np.broadcast_to(m.stddev**2, m.values.shape).reshape(shape).sum(axis=summed)
        held += certain * m.values.reshape(shape).sum(axis=summed)
        weight += certain
    return Measurement((name,), held / weight, weight**-0.5) if weight.all() else None


def spread(stddev: Cells) -> float:
    """The noise of a typical cell."""
    return math.sqrt(float(np.mean(np.square(stddev))))


def _counts(field: Field, measured: Measurement) -> Cells:
    """What a field says of the cells that were measured."""
    return np.asarray(field.marginal(measured.clique).counts, dtype=np.float64)


def _shrunk(
    measured: Measurement, expected: Cells, values: Mapping[str, int], alone: Mapping[str, float]
) -> Measurement:
    best = coarse_to_fine(
        measured.values.reshape(expected.shape),
        expected,
        float(measured.stddev),
        values=[values.get(name, size) for name, size in zip(measured.clique, expected.shape, strict=True)],
        alone=[alone.get(name, math.inf) for name in measured.clique],
    )
    return surer(measured, best, expected)


def surer(measured: Measurement, best: Cells, expected: Cells) -> Measurement:
    """A measurement with what its cells likely hold in place of the noisy counts.

    A cell that was found to hold nothing of what was expected is known better than its own noise would let it be:
    else what columns disagree on by their noise would be laid there.
    """
    sure = np.clip(_DOUBT * best / np.maximum(expected, _LEAST), _SUREST, 1.0)
    return Measurement(measured.clique, best, measured.stddev * sure.reshape(-1))


def coarse_to_fine(
    noisy: Cells,
    prior: Cells,
    sigma: float,
    *,
    values: Sequence[int] | None = None,
    alone: Sequence[float] = (),
) -> Cells:
    """The noisy table pulled towards the prior, in blocks first and in cells last.

    `values` are the codes of each axis that are no slots, `alone` the noise of the prior's own sums along it.
    """
    table = np.maximum(prior, _LEAST, order="C")
    values = table.shape if values is None else values
    known = [0.0] * table.ndim
    if table.ndim == 2 and len(alone) == 2 and max(alone) < math.inf:
        noisy, known = _moved(noisy, table, sigma, alone)
    cuts = [_cuts(noisy, table, axis, sigma, values) for axis in range(table.ndim)]
    runs: list[dict[int, _Runs]] = [{} for _ in cuts]
    seen = np.ascontiguousarray(noisy, np.float64).reshape(-1)
    for level in _levels(table.shape, values):
        along = []
        for axis, groups in enumerate(level):
            cut = runs[axis].get(groups) or _runs(table, axis, groups, values[axis], cuts[axis], known[axis])
            if not cut.by_mass:
                runs[axis][groups] = cut
            along.append(cut)
        _pull(table.reshape(-1), seen, sigma, along)
    return table


@dataclass(frozen=True)
class _Runs:
    """An axis cut into runs: how many, the run of each code, and a run's variance beside that of one cell."""

    number: int
    run_of: npt.NDArray[np.int32]
    variance: Cells
    by_mass: bool  # cut where the table's mass lay: another table has other runs


def _pull(table: Cells, noisy: Cells, sigma: float, along: Sequence[_Runs]) -> None:
    """Multiply each block of a table, flat, by what it likely holds beside what was expected of it."""
    *others, last = along
    rows, variance = np.zeros(1, np.int32), np.full(1, sigma**2)
    for runs in others:
        rows = np.add.outer(rows * np.int32(runs.number), runs.run_of).reshape(-1)
        variance = np.multiply.outer(variance, runs.variance).reshape(-1)
    kernel.pull(
        table,
        noisy,
        rows,
        last.run_of,
        variance,
        last.variance,
        least=_LEAST,
        rounds=_ROUNDS,
        most=_LOOKED_AT,
    )


def _runs(table: Cells, axis: int, groups: int, values: int, cuts: Whole, known: float) -> _Runs:
    """The runs of so many groups along an axis, of which the sums are known so well."""
    starts, by_mass = _starts(table, axis, groups, values, cuts)
    lengths = np.diff(starts, append=table.shape[axis])
    run_of = np.repeat(np.arange(starts.size, dtype=np.int32), lengths)
    # A sum that is known takes its share of the noise off every block along it.
    left = np.maximum(1.0 - known * lengths / table.shape[axis], 1.0 - _KNOWN)
    return _Runs(starts.size, run_of, lengths * left, by_mass)


def _moved(noisy: Cells, prior: Cells, sigma: float, alone: Sequence[float]) -> tuple[Cells, list[float]]:
    """The noisy pair with the prior's sums, and how well blocks are known for it along each axis.

    The sum over an axis has the noise of as many cells as that is long. The prior's, to which this pair contributed,
    has less; what others contributed to it is what is known besides.
    """
    known = [0.0, 0.0]
    for summed in (1, 0):
        cells = prior.shape[summed]
        known[summed] = max(0.0, 1.0 - alone[1 - summed] ** 2 / (sigma**2 * cells))
        missing = prior.sum(axis=summed, keepdims=True) - noisy.sum(axis=summed, keepdims=True)
        noisy = noisy + missing / cells
    return noisy, known


def _levels(shape: Sequence[int], values: Sequence[int]) -> list[tuple[int, ...]]:
    """Into how many runs each axis is cut, from few blocks to single cells: twice as many on an axis every time."""
    axes = [[1 << power for power in range(int(size - 1).bit_length() + 1)] for size in values]
    if len(shape) == 2 and math.prod(shape) <= _MANY:
        found = sorted(itertools.product(*axes), key=lambda level: (math.prod(level), max(level)))
    else:
        found = [
            tuple(axis[min(i, len(axis) - 1)] for axis in axes)
            for i in range(max(len(axis) for axis in axes))
        ]
    return found if tuple(values) != tuple(shape) else found[1:]  # a single block is the prior's own total


def _starts(table: Cells, axis: int, groups: int, values: int, cuts: Whole) -> tuple[Whole, bool]:
    """Where each of so many runs of codes along an axis begins, and whether by mass; slots are on their own."""
    size = table.shape[axis]
    if groups >= values:
        return np.arange(size), False
    slots = np.arange(values, size)
    if groups <= len(cuts) + 1:
        return np.concatenate([[0], np.sort(cuts[: groups - 1]), slots]), False
    mass = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
    return np.append(np.union1d(cuts, _equal_parts(mass[:values], groups)), slots), True


def _equal_parts(mass: Cells, groups: int) -> Whole:
    """Where each of about so many runs of equal mass begins."""
    held = np.cumsum(mass)
    cuts = np.searchsorted(held, held[-1] * np.arange(1, groups) / groups) + 1
    return np.unique(np.clip(np.append(0, cuts), 0, len(mass) - 1))


def _cuts(noisy: Cells, prior: Cells, axis: int, sigma: float, values: Sequence[int]) -> Whole:
    """Where runs of codes along an axis begin, the cut that tells most first.

    As long as noise is no likely reason, that is where records before and behind it differ most along the other axes;
    then the heaviest run is halved.
    """
    others = [other for other in range(prior.ndim) if other != axis]
    last = values[axis]
    mass = prior.sum(axis=tuple(others))[:last, None]
    seen = _grouped(
        np.moveaxis(noisy, axis, 0), np.moveaxis(prior, axis, 0), values[others[0]] if others else 1
    )
    seen = seen[:last] / sigma
    held, square, product = (
        np.cumsum(np.vstack([np.zeros_like(part[:1]), part]), axis=0) for part in (mass, mass**2, mass * seen)
    )
    surely = 2 * math.log(max(2, last)) + 2 * seen.shape[1]

    def candidate(start: int, end: int) -> tuple[bool, float, int, int, int]:
        """How much a run is worth cutting: by what it tells, or else by its mass."""
        gain, cut = kernel.best_cut(product, square[:, 0], start, end)
        if gain > surely:
            return True, gain, start, cut, end
        half = int(np.searchsorted(held[:, 0], (held[start, 0] + held[end, 0]) / 2))
        return False, float(held[end, 0] - held[start, 0]), start, min(max(half, start + 1), end - 1), end

    found: list[int] = []
    runs = [candidate(0, last)] if last > 1 else []
    while runs and len(found) < _MOST_CUTS:
        best = max(runs)
        runs.remove(best)
        _, _, start, cut, end = best
        found.append(cut)
        runs += [candidate(*part) for part in ((start, cut), (cut, end)) if part[1] - part[0] > 1]
    return np.array(found, np.int64)


def _grouped(noisy: Cells, prior: Cells, values: int) -> Cells:
    """The noisy counts in a few groups of the other axes' cells, each as noisy as a cell: equal parts, and slots."""
    size = noisy.shape[0]
    if noisy.ndim > 2:
        values = math.prod(noisy.shape[1:])
    noisy, prior = noisy.reshape(size, -1), prior.reshape(size, -1)
    starts = np.append(_equal_parts(prior.sum(axis=0)[:values], _PARTS), np.arange(values, noisy.shape[1]))
    groups: Cells = np.add.reduceat(noisy, starts, axis=1)
    return groups / np.sqrt(np.diff(np.append(starts, noisy.shape[1])))


def block_sums(table: Cells, starts: Sequence[Whole]) -> Cells:
    """The sums of the blocks that the runs of all axes make."""
    for axis, start in enumerate(starts):
        table = np.add.reduceat(table, start, axis=axis)
    return table
