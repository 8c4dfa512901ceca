"""Sums of cells that each count with a weight, by the noisy measurements of a release: what each says, and its noise.

A measurement of interactions says nothing of the parts of its table that were left out: those are told by its
columns' own counts, or by pairs that tell columns as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.pipeline.accuracy.worst_case import Floats
from understudy.transforms.compress import Compression

MOST_CELLS = 1 << 20  # of a measurement that is looked at for some of its columns alone


@dataclass(frozen=True, eq=False)
class NoisySum:
    """A noisy sum, the standard deviation of its noise, and how much one record in each cell adds to it.

    `least` and `most` are the least and the most that a record adds which measurements may have counted in this cell,
    or may have left out.
    """

    value: float
    stddev: float
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class NoisySums:
    """The measurements of a release, and how its codes were merged."""

    measurements: tuple[Measurement, ...]
    compression: Compression

    def telling(self, clique: Clique) -> list[Measurement]:
        """The measurements that tell every sum over these columns, by themselves or with those of columns alone."""
        return self._telling.setdefault(clique, [m for m in self.measurements if self._tells(m, clique)])

    @cached_property
    def _telling(self) -> dict[Clique, list[Measurement]]:
        return {}

    def _tells(self, measured: Measurement, clique: Clique) -> bool:
        if not set(clique) <= set(measured.clique):
            return False
        if len(clique) < len(measured.clique) and measured.values.size > MOST_CELLS:
            return False
        query = measured.query
        if query is None:
            return True
        if not isinstance(query, Interactions) or max(map(len, query.left_out)) > 1:
            return False
        gone = [measured.clique[part[0]] for part in query.left_out if part]
        return bool(self.alone) and all(name not in clique or self.best_alone(name) for name in gone)

    def sum(self, measured: Measurement, weights: Floats, clique: Clique) -> NoisySum:
        """What a measurement that tells these columns says of the sum of their cells, each by its weight."""
        wide = self._spread(weights, clique, measured.clique)
        if isinstance(measured.query, Interactions):
            value, noise, least, most = self._completed(measured, measured.query, wide)
        else:
            variances = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(wide.shape)
            value = float((wide * measured.values.reshape(wide.shape)).sum())
            noise = math.sqrt(float((wide**2 * variances).sum()))
            least, most = np.minimum(wide, 0.0), np.maximum(wide, 0.0)  # it is counted, or was left out
        return NoisySum(value, noise, *(_gathered(end, clique, measured.clique) for end in (least, most)))

    def _completed(
        self, measured: Measurement, query: Interactions, wanted: Floats
    ) -> tuple[float, float, Floats, Floats]:
        """A sum of cells by what they were asked beyond their columns, and by what the columns' own counts say.

        Over weighted cells, a table adds up to its interactions there and, for each column, to its counts weighted by
        how much more a code's cells weigh than all do: those weights and the noise of both are known.
        """
        told = query.apply(wanted)
        weights = told / query.cells**2
        found = float(weights @ measured.values)
        variance = float(weights @ weights) * float(measured.stddev) ** 2
        inside = told.reshape(wanted.shape) / query.cells  # what a record adds by way of the interactions
        parts, least, most = {}, np.zeros(wanted.shape), np.zeros(wanted.shape)
        for part in query.left_out:
            others = tuple(axis for axis in range(wanted.ndim) if axis not in part)
            beyond = wanted.mean(axis=others, keepdims=True) - (wanted.mean() if part else 0.0)
            least, most = least + np.minimum(beyond, 0.0), most + np.maximum(beyond, 0.0)
            if part and np.abs(beyond).max() > 1e-12 * np.abs(wanted).max():
                parts[measured.clique[part[0]]] = beyond.reshape(-1)
        of_all = float(wanted.mean())
        ways = [self._of_columns(parts, of_all, measured.clique), self._of_pairs(parts, of_all)]
        rest, noise = min((way for way in ways if way is not None), key=lambda way: way[1])
        return found + rest, math.sqrt(variance + noise), inside + least, inside + most

    def _of_columns(self, parts: Mapping[str, Floats], of_all: float, clique: Clique) -> tuple[float, float]:
        """What columns add by their own counts, and so much of all records; with the variance of that."""
        if not parts:
            records, noise = self._records(clique)
            return of_all * records, (of_all * noise) ** 2
        found = variance = 0.0
        for place, (name, part) in enumerate(parts.items()):
            alone = self.best_alone(name)
            assert alone is not None  # `_tells` looked
            of_codes = part if place else part + of_all  # how many records there are is told once
            found += float(of_codes @ alone.values)
            variance += float(of_codes**2 @ np.broadcast_to(alone.stddev**2, alone.values.shape))
        return found, variance

    def _of_pairs(self, parts: Mapping[str, Floats], of_all: float) -> tuple[float, float] | None:
        """The same by pairs that tell columns alone as well; None where some column has none."""
        weights: dict[int, Floats] = {}
        pairs: dict[int, Measurement] = {}
        for name, part in parts.items():
            pair = min(self._pairs_telling(name), key=_noise_of_cells, default=None)
            if pair is None:
                return None
            query = pair.query
            assert isinstance(query, Interactions)
            along = [1] * len(query.shape)
            along[pair.clique.index(name)] = part.size
            wanted = np.broadcast_to(part.reshape(along), query.shape)
            pairs[id(pair)] = pair
            told = query.apply(wanted) / query.cells**2
            weights[id(pair)] = weights.get(id(pair), np.zeros(query.cells)) + told
        records, noise = self._records(tuple(parts))
        found, variance = of_all * records, (of_all * noise) ** 2
        for place, pair in pairs.items():
            found += float(weights[place] @ pair.values)
            variance += float(weights[place] @ weights[place]) * float(pair.stddev) ** 2
        return found, variance

    def _records(self, clique: Clique) -> tuple[float, float]:
        """How many records there are, and the noise of that: by every column of which all codes were counted."""
        whole = [m for m in self.alone if not len(self.compression.never.get(m.clique[0], ()))]
        told = whole or [m for m in self.alone if m.clique[0] in clique] or self.alone
        variances = [float(np.broadcast_to(m.stddev**2, m.values.shape).sum()) for m in told]
        precision = sum(1 / variance for variance in variances)
        mean = sum(float(m.values.sum()) / v for m, v in zip(told, variances, strict=True)) / precision
        return mean, precision**-0.5

    def _spread(self, cells: Floats, clique: Clique, whole: Clique) -> Floats:
        """Weights of some columns' cells as weights of the cells of more columns, which have them all."""
        left = [name for name in whole if name in clique]
        turned = cells.transpose([clique.index(name) for name in left])
        sizes = self.compression.sizes
        along = [sizes[name] if name in clique else 1 for name in whole]
        return np.broadcast_to(turned.reshape(along), [sizes[name] for name in whole])

    @cached_property
    def alone(self) -> list[Measurement]:
        """The measurements of single columns' counts: one charge each, so their noise is independent."""
        return [m for m in self.measurements if len(m.clique) == 1 and m.query is None]

    def best_alone(self, name: str) -> Measurement | None:
        """The most precise measurement of a column's own counts."""
        found = [m for m in self.alone if m.clique == (name,)]
        return min(found, key=lambda m: float(np.mean(m.stddev)), default=None)

    def _pairs_telling(self, name: str) -> list[Measurement]:
        """Pairs that were asked for all but how many records there are: each tells its columns alone as well."""
        return [
            m
            for m in self.measurements
            if name in m.clique
            and len(m.clique) == 2
            and isinstance(m.query, Interactions)
            and m.query.left_out == ((),)
            and not any(len(self.compression.never.get(name, ())) for name in m.clique)
        ]


def _gathered(cells: Floats, clique: Clique, whole: Clique) -> Floats:
    """Cells of more columns, alike along all others than those of a clique, as the clique's."""
    first = cells[tuple(slice(None) if name in clique else 0 for name in whole)]
    left = [name for name in whole if name in clique]
    return np.asarray(first.transpose([left.index(name) for name in clique]))


def _noise_of_cells(measured: Measurement) -> float:
    """The noise of a cell, of a measurement of interactions."""
    assert isinstance(measured.query, Interactions)
    return float(measured.stddev) / measured.query.cells
