"""Which marginals to measure, decided on public data alone (the paper's "Marginal selection algorithm")."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.domain import Clique, Domain
from understudy.marginals import Counter
from understudy.mechanisms.mutual_information import (
    all_pairs,
    conditional_dependence,
    count_in_parts,
    pair_information,
)
from understudy.mechanisms.spanning_tree import Pair, heaviest, spanning_forest
from understudy.mechanisms.tree_capacity import cut_to_fit
from understudy.privacy.curator.question_checks import MOST_CELLS

FORCED_BONUS = 100.0  # paper, step 1: what is added to the weight of a forced pair


@dataclass(frozen=True)
class Selection:
    """The cliques to measure, by why each was chosen."""

    tree: tuple[Pair, ...]
    forced: tuple[Clique, ...]
    extra: tuple[Clique, ...]

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """All selected cliques, each set of columns once."""
        unique: dict[frozenset[str], Clique] = {}
        for clique in (*self.tree, *self.forced, *self.extra):
            unique.setdefault(frozenset(clique), clique)
        return tuple(unique.values())

    def within(self, domain: Domain, limit_cells: int) -> tuple[Clique, ...]:
        """`cliques` on another coding of the same columns: as many, in the same order, none too large.

        A clique of `limit_cells` cells or more becomes the largest part of it that fits. Where that
        befalls an extra triple, its pair would make the model hold the triple all the same: both
        become the tree's edges beside it. So one may stand there several times: it is measured so often. What
        no batch could hold together, or no model, is cut further.
        """
        found = self._within(domain, limit_cells)
        while limit_cells > 1 and sum(map(domain.size, found)) > MOST_CELLS:
            limit_cells //= 2
            found = self._within(domain, limit_cells)
        return tuple(cut_to_fit(domain, found))

    def _within(self, domain: Domain, limit_cells: int) -> tuple[Clique, ...]:
        instead: dict[Clique, Clique] = {}
        for pair, triple in zip(self.extra[::2], self.extra[1::2], strict=True):
            if domain.size(triple) >= limit_cells:
                middle = next(name for name in triple if name not in pair)
                instead |= {pair: (middle, pair[0]), triple: (middle, pair[1])}
        return tuple(
            _largest_part(
                domain,
                clique if clique in (*self.tree, *self.forced) else instead.get(clique, clique),
                limit_cells,
            )
            for clique in self.cliques
        )


def _largest_part(domain: Domain, clique: Clique, limit_cells: int) -> Clique:
    """The clique if it is below the limit, else its largest part that is; its smallest column where no part is."""
    parts = (part for k in range(len(clique), 0, -1) for part in itertools.combinations(clique, k))
    fitting = [part for part in parts if domain.size(part) < limit_cells]
    return max(fitting, key=domain.size) if fitting else (min(clique, key=domain.__getitem__),)


def select_on_public(
    public: Counter, *, forced: Sequence[Clique], triple_threshold: float, limit_cells: int
) -> Selection:
    """The maximum spanning tree by mutual information, the forced cliques, and triples that the tree misses.

    A clique of `limit_cells` cells or more is left out (step 5). Where an extra triple is too large, its
    pair is left out with it: together with the tree the pair would make the model hold the triple anyway.
    """
    domain = public.domain
    forced = [domain.clique(clique) for clique in forced]
    weights = pair_information(public, all_pairs(domain, limit_cells - 1))
    for clique in forced:
        for pair in itertools.combinations(domain.order(clique), 2):
            if pair in weights:
                weights[pair[0], pair[1]] += FORCED_BONUS
    tree = spanning_forest(domain.names, list(weights), heaviest(weights.values()))
    kept = [clique for clique in forced if domain.size(clique) < limit_cells]
    extra = _extra_triples(public, tree, triple_threshold, limit_cells)
    return Selection(tuple(tree), tuple(kept), tuple(extra))


def _extra_triples(public: Counter, tree: Sequence[Pair], threshold: float, limit_cells: int) -> list[Clique]:
    """For each column i, the pairs (j, k) of its neighbours, and (i, j, k), that the tree explains badly."""
    domain = public.domain
    around: dict[str, list[str]] = {name: [] for name in domain}
    for a, b in tree:
        around[a].append(b)
        around[b].append(a)
    triples = [
        (i, *pair)
        for i, neighbours in around.items()
        for pair in itertools.combinations(domain.order(neighbours), 2)
        if domain.size((i, *pair)) < limit_cells
    ]
    missed: dict[str, dict[Pair, float]] = {name: {} for name in domain}
    for marginal in count_in_parts(public, triples):
        i, j, k = marginal.clique
        error = conditional_dependence(marginal.counts)
        if error >= threshold:
            missed[i][j, k] = error
    extra: list[Clique] = []
    for i, weights in missed.items():
        for j, k in spanning_forest(around[i], list(weights), heaviest(weights.values())):
            extra += [(j, k), (i, j, k)]
    return extra
