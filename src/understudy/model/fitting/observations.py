"""Measurements as one linear map from a tree's tables to answers, and its transpose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.model.tree.junction_tree import JunctionTree
from understudy.model.tree.projection_kernels import dot
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import Floats, TreeLayout, homes, lay_out_tree

_WRITTEN_OUT = 4_096  # entries of a query's matrix


@dataclass(frozen=True, eq=False)
class _Question:
    """One query about an observed marginal: where its cells lie, how their axes turn, where answers go."""

    measurement: Measurement
    cells: slice
    shape: tuple[int, ...]
    turn: tuple[int, ...]
    answers: slice

    @cached_property
    def _matrix(self) -> Floats | None:
        """The query written out, in the order of the observed cells, where it is small: that is faster to apply."""
        count = math.prod(self.shape)
        if self.measurement.query is None or count * self.measurement.values.size > _WRITTEN_OUT:
            return None
        return np.stack([self._asked(unit) for unit in np.eye(count)], axis=1)

    def ask(self, cells: Floats) -> Floats:
        here = cells[self.cells]
        if self._matrix is None:
            return self._asked(here)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond what numbers hold: it is refused later
            return np.asarray(self._matrix @ here)

    def _asked(self, cells: Floats) -> Floats:
        turned = np.ascontiguousarray(cells.reshape(self.shape).transpose(self.turn)).reshape(-1)
        return self.measurement.answers(turned)

    def transpose(self, answers: Floats) -> Floats:
        query = self.measurement.query
        turned = np.ascontiguousarray(answers[self.answers])
        if self._matrix is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # as above
                return np.asarray(turned @ self._matrix)
        if query is not None:
            turned = np.asarray(query.adjoint(turned), np.float64)
        shape = tuple(self.shape[axis] for axis in self.turn)
        back = np.argsort(self.turn) if self.turn else ()
        return turned.reshape(shape).transpose(back).reshape(-1)


class Observations:
    """Every measurement of a fit: answers, scales, and the map `B` from tables that sum to one.

    Direct measurements of one marginal are merged into their inverse-variance mean first (`offset` is
    the loss that no table can avoid); other queries are kept as they are. Without `merge` every measurement
    keeps its own answers, in the order given.
    """

    def __init__(
        self, tree: JunctionTree, measurements: Sequence[Measurement], *, merge: bool = True
    ) -> None:
        domain = tree.domain
        direct: dict[Clique, list[tuple[Floats, Floats]]] = {}
        queries: list[tuple[Clique, Measurement]] = []
        for measurement in measurements:
            clique = domain.order(measurement.clique)
            if measurement.query is None and merge:
                direct.setdefault(clique, []).append(turned(domain, measurement))
            else:
                queries.append((clique, measurement))
        observed = list(dict.fromkeys([*direct, *(clique for clique, _ in queries)]))
        where = dict(zip(observed, homes(tree, observed), strict=True))
        self.cliques = sorted(observed, key=lambda c: (where[c], [domain.names.index(n) for n in c]))
        self.layout: TreeLayout = lay_out_tree(tree, self.cliques)
        self._place = {
            clique: slice(a, a + n)
            for clique, (_, a, n) in zip(self.cliques, self.layout.places, strict=True)
        }
        self._merge(direct)
        self._add(domain, queries)
        self._cells = np.zeros(self.layout.observed_cells)

    def _merge(self, direct: dict[Clique, list[tuple[Floats, Floats]]]) -> None:
        self.direct = [clique for clique in self.cliques if clique in direct]
        self.offset = 0.0
        values, weights = [np.zeros(0)], [np.zeros(0)]
        for clique in self.direct:
            pairs = direct[clique]
            weight = sum((w for _, w in pairs), np.zeros(pairs[0][0].size))
            mean = sum((y * (w / weight) for y, w in pairs), np.zeros(weight.size))
            self.offset += (
                sum(0.5 * float(dot(w, (y - mean) ** 2)) for y, w in pairs) if len(pairs) > 1 else 0.0
            )
            values.append(mean)
            weights.append(weight)
        self.values, self.weights = np.concatenate(values), np.concatenate(weights)
        self._all_direct = len(self.direct) == len(self.cliques)
        spans = [] if self._all_direct else [self._place[clique] for clique in self.direct]
        self._take = np.concatenate([np.zeros(0, np.int64), *(np.arange(s.start, s.stop) for s in spans)])

    def _add(self, domain: Domain, queries: list[tuple[Clique, Measurement]]) -> None:
        self._questions: list[_Question] = []
        start = self.values.size
        values, weights = [self.values], [self.weights]
        for clique, measurement in queries:
            stop = start + measurement.values.size
            turn = tuple(clique.index(name) for name in measurement.clique)
            self._questions.append(
                _Question(measurement, self._place[clique], domain.shape(clique), turn, slice(start, stop))
            )
            values.append(measurement.values)
            weights.append(np.broadcast_to(measurement.stddev**-2.0, measurement.values.shape))
            start = stop
        self.values, self.weights = np.concatenate(values), np.concatenate(weights)

    @property
    def count(self) -> int:
        """The number of answers."""
        return self.values.size

    @property
    def plain(self) -> bool:
        """Whether answers and observed cells are the same."""
        return self._all_direct and not self._questions

    @property
    def has_questions(self) -> bool:
        """Whether any measurement is not of a marginal itself."""
        return bool(self._questions)

    def answers(self, propagation: Propagation, tables: Floats) -> Floats:
        """What the tables answer: `B p`."""
        propagation.observe(tables, self._cells)
        return self.from_cells(self._cells)

    def add_transpose(self, propagation: Propagation, factor: float, answers: Floats, tables: Floats) -> None:
        """Add `factor * B^T answers` to the tables."""
        propagation.add_observed(tables, factor, self.to_cells(answers))

    def from_cells(self, cells: Floats) -> Floats:
        """What the observed marginals answer (a new array)."""
        direct = cells.copy() if self._all_direct else cells[self._take]
        if not self._questions:
            return direct
        return np.concatenate([direct, *(question.ask(cells) for question in self._questions)])

    def to_cells(self, answers: Floats) -> Floats:
        """The transpose: answers carried back to the observed cells (perhaps the same array)."""
        if self.plain:
            return answers
        if self._all_direct:
            cells = answers[: self.layout.observed_cells].copy()
        else:
            cells = np.zeros(self.layout.observed_cells)
            cells[self._take] = answers[: self._take.size]
        for question in self._questions:
            cells[question.cells] += question.transpose(answers)
        return cells

    def diagonal(self, propagation: Propagation, tables: Floats) -> Floats:
        """The diagonal of `B diag(tables) B^T`, or nearly: what an answer moves by itself (a preconditioner)."""
        propagation.observe(tables, self._cells)
        return self.diagonal_of(self._cells)

    def diagonal_of(self, observed: Floats) -> Floats:
        """`diagonal`, given the observed marginals of the tables."""
        parts = [observed if self._all_direct else observed[self._take]]
        for question in self._questions:
            cells = observed[question.cells].reshape(question.shape).transpose(question.turn).reshape(-1)
            parts.append(_query_diagonal(question.measurement, cells))
        return np.concatenate(parts)

    def place(self, clique: Clique) -> slice:
        """Where an observed marginal lies among the observed cells."""
        return self._place[clique]

    def direct_measurements(self) -> Iterator[tuple[Clique, Floats, Floats]]:
        """Every merged direct measurement: its clique, values and inverse variances."""
        start = 0
        for clique in self.direct:
            stop = start + self._place[clique].stop - self._place[clique].start
            yield clique, self.values[start:stop], self.weights[start:stop]
            start = stop


def turned(domain: Domain, measurement: Measurement) -> tuple[Floats, Floats]:
    """Values and inverse variances of a direct measurement, flat in the domain's order."""
    shape = domain.shape(measurement.clique)
    order = domain.order(measurement.clique)
    turn = [measurement.clique.index(name) for name in order]

    def flat(array: npt.NDArray[Any]) -> Floats:
        full = np.broadcast_to(array, measurement.values.shape)
        return np.ascontiguousarray(full.reshape(shape).transpose(turn)).reshape(-1)

    return flat(measurement.values), flat(measurement.stddev**-2.0)


def check(domain: Domain, measurements: Sequence[Measurement]) -> None:
    """Refuse a measurement whose clique or number of values does not fit the domain."""
    for measurement in measurements:
        clique = domain.clique(measurement.clique)
        size = domain.size(clique)
        got = measurement.values.size
        if measurement.query is None:
            expected = size
        else:
            try:
                expected = measurement.query.apply(np.zeros(size)).size
            except (ValueError, IndexError, TypeError) as error:
                raise ParameterError(
                    f"measurement of {clique!r}: its query does not take {size} cells.",
                    hint="give a matrix with one column a cell of the clique, in C order.",
                ) from error
        if got != expected:
            raise ParameterError(
                f"measurement of {clique!r} has {got} values, its query gives {expected}.",
                hint="give one value a cell of the clique, in C order, or the query that was asked.",
            )


def _query_diagonal(measurement: Measurement, cells: Floats) -> Floats:
    query: Any = measurement.query
    if query is None:
        return cells
    matrix = getattr(query, "matrix", None)
    if matrix is not None:
        squared = (
            matrix.multiply(matrix) if callable(getattr(matrix, "multiply", None)) else np.square(matrix)
        )
        return np.asarray(squared @ cells, np.float64).reshape(-1)
    # Functions cannot be squared: bound every row by its sum against the others.
    joint = query.apply(cells * np.abs(query.adjoint(np.ones(measurement.values.size))))
    return np.abs(np.asarray(joint, np.float64))
