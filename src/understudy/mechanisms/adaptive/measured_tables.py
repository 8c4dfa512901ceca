"""What was measured so far: each clique once, repeated measurements averaged, tables shrunk before the fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.mechanisms.adaptive.beyond_columns import columns_told
from understudy.mechanisms.repeated_measurement import averaged
from understudy.mechanisms.shrinkage import coarse_to_fine, pooled_column, spread, surer
from understudy.mechanisms.tables.least_risk import shrunk
from understudy.mechanisms.tables.noise_price import Cells
from understudy.mechanisms.tables.scaled_tables import scaled
from understudy.model import MarkovField, estimate
from understudy.model.tree.junction_tree import JunctionTree, build_tree, predict
from understudy.processors import on_all_cores

Codes = npt.NDArray[np.bool_]  # of a column, a truth for each

WORK = 3e7  # of a refit, in cells times passes: some tenths of a second; more brings it hardly nearer to the truth
LAST_WORK = 3e8  # of the last refit, which is to be certified where that takes about a second
PASSES = 200  # of a refit at least, however many cells it has
_ABSENT = 0.2  # of what was expected: a combination with less likely does not exist
_UNSTATED = 0.15  # of what was expected: values (or missing ones) that a code likely never has,
_LEFT = 0.1  # and how much of them is left to it


class MeasuredTables:
    """The measurements of a run on its compressed domain, and the field that is fitted to them.

    A table is pulled towards what the field said of it before it was first measured, and only as far as its noise
    suggests; so noise of one round is not taken for knowledge in the next. Two readings meet in it, by their
    geometric mean: that of least risk (`least_risk`), which errs less where what is expected is nearly right, and
    that by the posterior of its blocks (`mechanisms.shrinkage`), which sees that combinations do not exist. Where it
    says so it is believed: children must not be given an income because the other reading leaves some in every cell.
    """

    def __init__(
        self,
        domain: Domain,
        alone: Sequence[Measurement],
        records: float,
        values: Mapping[str, int],
        unstated: Mapping[str, Codes],
    ) -> None:
        self.domain, self.records, self.values, self.unstated = domain, records, values, unstated
        self._alone = list(alone)
        self.noise = _noise(alone)  # of what is known least of each column
        self._prior: dict[Clique, Cells] = {}
        self._found: dict[Clique, list[Measurement]] = {}
        self._public: list[Measurement] = []
        self._fitted: list[Measurement] = self._alone  # what the field was last fitted to
        self._tree: MarkovField = estimate(self.domain, self._alone, total=records)
        self._within: set[Clique] = set()  # of what was measured: what the tree has room for,
        self._beside: dict[Clique, Measurement] = {}  # and what stands beside it
        self.field: MarkovField = self._tree

    def measured(self, clique: Clique) -> Measurement | None:
        """What was first measured of a clique, if it was."""
        return self._found[clique][0] if clique in self._found else None

    @property
    def cliques(self) -> list[Clique]:
        """The cliques that were measured after the columns, in their order."""
        return list(self._found)

    @property
    def log(self) -> list[Measurement]:
        """Every measurement after those of the columns, as it was released."""
        return [measured for several in self._found.values() for measured in several]

    def add(self, measured: Sequence[Measurement], most: int | None = None) -> None:
        """Take in one batch, and fit the field anew: pairs for which `most` cells are too few stand beside it."""
        for m in measured:
            if m.clique not in self._prior:
                self._prior[m.clique] = np.asarray(self.field.marginal(m.clique).counts, np.float64)
            self._found.setdefault(m.clique, []).append(m)
        tables = {clique: averaged(several) for clique, several in self._found.items()}
        columns = self._columns(list(tables.values()))
        known = estimate(self.domain, columns, total=self.records)
        sums = {name: np.asarray(known.marginal((name,)).counts, np.float64) for name in self.domain}
        noise = {m.clique[0]: spread(m.stddev) for m in columns}
        self.noise = _noise(columns)
        held = [m for m in self._public if not any(set(m.clique) <= set(clique) for clique in self._found)]
        tree = self._with_room([m.clique for m in held], most)
        self._beside = {clique: m for clique, m in tables.items() if clique not in self._within}
        within = [m for clique, m in tables.items() if clique in self._within]
        pulled = on_all_cores(lambda m: self._shrunk(m, sums, noise), within)
        self._fitted = [*columns, *held, *pulled]
        self._refit(max(WORK, float(PASSES * tree.cells)))

    def settle(self) -> None:
        """Fit the field to its end, once all is measured, as far as a second's work goes."""
        if self._tree.fit is None or not self._tree.fit.converged:
            self._refit(LAST_WORK)

    def _refit(self, work: float) -> None:
        self._tree = estimate(self.domain, self._fitted, total=self.records, warm_start=self._tree, work=work)
        self._stand_beside()

    def _with_room(self, others: Sequence[Clique], most: int | None) -> JunctionTree:
        """A tree of other cliques and of what was measured, but for pairs for which it has no room."""
        pairs = [clique for clique in self._found if most is not None and len(clique) == 2]
        always = [clique for clique in self._found if clique not in pairs]
        tree = build_tree(self.domain, [*others, *always, *(p for p in pairs if p in self._within)])
        for pair in pairs:
            if pair not in self._within and (most is None or predict(tree, pair) <= most):
                tree = tree.with_clique(pair)
        self._within = {clique for clique in self._found if tree.home(clique) is not None}
        return tree

    def _stand_beside(self) -> None:
        """The field: the tree's, with pairs beside it as their noise suggests, pulled towards what it says of them.

        It was not fitted to them, so their noise is not taken for knowledge, however late they are read.
        """
        beside = list(self._beside)
        self.field = self._tree
        if not beside:
            return
        sums = {name: np.asarray(self._tree.marginal((name,)).counts, np.float64) for name in self.domain}
        for clique, marginal in zip(beside, self._tree.marginals(beside), strict=True):
            self._prior[clique] = np.asarray(marginal.counts, np.float64)
        read = on_all_cores(lambda clique: self._shrunk(self._beside[clique], sums, self.noise), beside)
        self.field = self._tree.with_beside(
            {
                self.domain.order(m.clique): scaled(
                    m.values.reshape(self.domain.shape(m.clique)), [sums[name] for name in m.clique]
                )
                for m in read
            }
        )

    def suppose(self, tables: Sequence[Measurement], field: MarkovField) -> None:
        """Begin at a field of public tables, and hold to each of them until all its columns are measured together."""
        self._public, self._tree, self.field = list(tables), field, field

    def _columns(self, tables: Sequence[Measurement]) -> list[Measurement]:
        """What is known of each column, from its own measurements and from its pairs together."""
        told = [column for m in tables for column in columns_told(m, self.records)]
        found = (pooled_column(self.domain, name, [*self._alone, *tables, *told]) for name in self.domain)
        return [measured for measured in found if measured is not None]

    def _shrunk(
        self, measured: Measurement, sums: Mapping[str, Cells], noise: Mapping[str, float]
    ) -> Measurement:
        clique = measured.clique
        prior = scaled(self._prior[clique], [sums[name] for name in clique])
        alone = [noise.get(name, math.inf) for name in clique]
        left, query = 1.0, measured.query
        if isinstance(query, Interactions):
            # What was left out is as the columns have it, so their sums bring no noise of their own.
            values = query.completed(measured.values, prior)
            measured = Measurement(clique, values, float(measured.stddev) / query.cells)
            alone = [0.0 if (axis,) in query.left_out else known for axis, known in enumerate(alone)]
            left = math.sqrt(query.squared_move) / query.cells  # of the noise, in the parts that were asked
        noisy, sigma = measured.values.reshape(prior.shape), float(measured.stddev)
        posterior = coarse_to_fine(
            noisy,
            prior,
            sigma,
            values=[self.values.get(name, size) for name, size in zip(clique, prior.shape, strict=True)],
            alone=alone,
        )
        both = np.sqrt(posterior * shrunk(noisy, prior, sigma * left))
        both = np.where(posterior < _ABSENT * prior, posterior, both)
        if both.ndim == 2:
            both = stated(both, prior, [self.unstated[name] for name in clique])
        return surer(measured, both, prior)


def _noise(columns: Sequence[Measurement]) -> dict[str, float]:
    """The noise of the code of each column that is known least."""
    return {m.clique[0]: float(np.max(m.stddev)) for m in columns}


def stated(table: Cells, expected: Cells, unstated: Sequence[Codes]) -> Cells:
    """The table of a pair in which a code that hardly ever has a value of the other column, or hardly ever lacks one,
    is taken never to: whether something is stated mostly follows from the other column altogether.

    `unstated` says of each axis which codes are no value.
    """
    for other in (1, 0):
        left = np.ones(table.shape)
        for part in (unstated[other], ~unstated[other]):
            held, thought = (cells.compress(part, other).sum(other) for cells in (table, expected))
            rare = np.expand_dims(held < _UNSTATED * thought, other)
            left = np.where(rare & np.expand_dims(part, 1 - other), _LEFT, left)
        table = table * left
    return table
