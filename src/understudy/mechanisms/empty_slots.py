"""Slots, and ends of columns, that nobody is in as far as noise lets anyone tell: no synthetic record has them.

A slot for missing values, or for values outside a list, is kept wherever a schema does not rule it out, since
whether it is needed must not be looked up. Noise fills it all the same. So it does with the far end of a column whose
codes reach as far as could be, since nobody said how far records do. All here is post-processing of noisy counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist

import numpy as np

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.mechanisms.mechanism import Fit
from understudy.model import estimate
from understudy.transforms.compress import Compression

CHANCE = 0.01  # that noise alone lets any of a table's empty slots appear
_LEAST = 3.0  # standard deviations; paper, "Domain compression": less is likely to be noise


def empty_slots(domain: Domain, log: Iterable[Measurement]) -> dict[str, list[int]]:
    """For each column, the slots whose noisy count cannot be told from zero; and the end of a column that is open.

    A slot's count is read off every plain measurement of its column, alone or with others, each by its noise.
    A slot of a column that was never measured so is not judged.
    """
    measured = [m for m in log if m.query is None]
    slots = [
        (name, code)
        for name in domain
        for code in range(domain[name] - domain.layout(name).slots, domain[name])
    ]
    sure = max(_LEAST, NormalDist().inv_cdf(1 - CHANCE / max(1, len(slots))))
    found: dict[str, list[int]] = {}
    for name, code in slots:
        seen = [_count(domain, m, name, [code]) for m in measured if name in m.clique]
        if not seen:
            continue
        precision = sum(1 / variance for _, variance in seen)
        if not sum(count / variance for count, variance in seen) / precision > sure / precision**0.5:
            found.setdefault(name, []).append(code)
    for name in domain:
        alone = next((m for m in measured if m.clique == (name,)), None)
        if domain.layout(name).open_end and alone is not None:
            found.setdefault(name, []).extend(_empty_end(alone, domain.layout(name).ordered))
    return found


def unseen(
    domain: Domain, log: Iterable[Measurement], empty: Mapping[str, Sequence[int]]
) -> dict[str, tuple[float, float]]:
    """How many records each column's empty slots hold by their noisy counts, and the deviation of that noise."""
    measured = [m for m in log if m.query is None]
    found = {}
    for name, codes in empty.items():
        seen = [_count(domain, m, name, codes) for m in measured if name in m.clique]
        precision = sum(1 / variance for _, variance in seen)
        found[name] = sum(count / variance for count, variance in seen) / precision, precision**-0.5
    return found


def without_empty_slots(domain: Domain, log: Sequence[Measurement]) -> Compression:
    """The compression that leaves out empty slots, and merges nothing."""
    empty = empty_slots(domain, log)
    return Compression.none(domain, empty, unseen(domain, log, empty))


def _empty_end(measured: Measurement, ordered: int) -> range:
    """The last of a column's ordered codes, after all runs of neighbours that hold more than noise; not the first."""
    counts = np.asarray(measured.values[:ordered], np.float64)
    held = np.append(0.0, np.cumsum(counts))
    scale = float(np.max(measured.stddev))
    sure = max(_LEAST, NormalDist().inv_cdf(1 - CHANCE / ordered))
    for first in range(ordered - 1, 0, -1):
        runs = held[first + 1 :] - held[first]
        above = runs - sure * scale * np.sqrt(np.arange(1, len(runs) + 1))
        if above.max() > 0:
            return range(first + int(above.argmax()) + 1, ordered)
    return range(1, ordered)


def fit_without_empty_slots(domain: Domain, log: Sequence[Measurement]) -> Fit:
    """The field of measurements on a table's own codes, once those of empty slots are left out of both."""
    compression = without_empty_slots(domain, log)
    kept = tuple(compression.measurement(measured) for measured in log)
    return Fit(kept, estimate(compression.domain(domain), kept), compression)


def _count(domain: Domain, measured: Measurement, name: str, codes: Sequence[int]) -> tuple[float, float]:
    """The noisy count of some codes, and its variance."""
    shape, axis = domain.shape(measured.clique), measured.clique.index(name)
    values = measured.values.reshape(shape).take(codes, axis)
    scales = np.broadcast_to(measured.stddev, measured.values.shape).reshape(shape).take(codes, axis)
    return float(values.sum()), float(np.square(scales).sum())
