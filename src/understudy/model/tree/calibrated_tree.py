"""A junction tree with the marginal of every clique: what questions, samplers and files need to know of a field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.model.fit_report import FitReport
from understudy.model.tree.factor import Array
from understudy.model.tree.junction_tree import JunctionTree


class CalibratedTree:
    """A distribution over a whole table, kept as the calibrated marginals of a junction tree.

    `tables[i]` is the marginal of `tree.cliques[i]` as probabilities (they sum to one); neighbours agree on
    their separators, which the caller of the constructor answers for. `total` is the number of records
    it stands for, `fit` what an estimation reached. `beside` holds pairs of columns that are known better than by the
    tree, which has no room for them: as probabilities, in the domain's order. Immutable.
    """

    def __init__(
        self,
        tree: JunctionTree,
        marginals: Sequence[npt.ArrayLike],
        total: float,
        fit: FitReport | None = None,
        beside: Mapping[Clique, npt.ArrayLike] | None = None,
    ) -> None:
        """`marginals` and `beside` hold one non-negative table a clique, in any scale."""
        if len(marginals) != len(tree.cliques):
            raise ParameterError(f"{len(marginals)} marginals were given for {len(tree.cliques)} cliques.")
        if not (math.isfinite(total) and total >= 0):
            raise ParameterError(f"total {total!r} is not a finite number of at least 0.")
        self.tree = tree
        self.tables = tuple(
            _probabilities(clique, tree.domain.shape(clique), table)
            for clique, table in zip(tree.cliques, marginals, strict=True)
        )
        self.total = float(total)
        self.fit = fit
        self.beside: Mapping[Clique, Array] = MappingProxyType(
            {clique: _beside(tree.domain, clique, table) for clique, table in (beside or {}).items()}
        )

    @property
    def domain(self) -> Domain:
        """The columns and their sizes."""
        return self.tree.domain

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques of the junction tree."""
        return self.tree.cliques


def _beside(domain: Domain, clique: Clique, table: npt.ArrayLike) -> Array:
    if len(clique) != 2 or domain.order(clique) != clique:
        raise ParameterError(f"{clique!r} is not a pair of columns in the domain's order.")
    return _probabilities(clique, domain.shape(clique), table)


def _probabilities(clique: Clique, shape: tuple[int, ...], table: npt.ArrayLike) -> Array:
    """A read-only copy of a marginal, scaled to one."""
    values = np.asarray(table, dtype=np.float64)
    if values.size != math.prod(shape):
        raise ParameterError(f"the marginal of {clique!r} has {values.size} cells, not {math.prod(shape)}.")
    whole = float(values.sum())
    if not (math.isfinite(whole) and whole > 0 and float(values.min()) >= 0):
        raise ParameterError(
            f"the marginal of {clique!r} must be finite, without a negative cell, and not all zero."
        )
    # What sums to one already is kept to the last bit, so that a field survives its file exactly.
    scale = 1.0 if abs(whole - 1.0) < 1e-12 else 1.0 / whole
    scaled = np.array(values.reshape(shape) * scale, order="C")  # sums depend on the order in memory
    scaled.flags.writeable = False
    return scaled
