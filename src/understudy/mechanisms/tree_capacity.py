"""How large a model may become: which pairs leave enough cells for a whole tree, and cliques cut to what fits.

A mechanism must never spend and then fail because its model is too large, so size is looked after while cliques
are chosen. Sizes of columns are public, or follow from what was released.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from understudy.domain import Clique, Domain
from understudy.mechanisms.spanning_tree import Pair, Places, components, ends
from understudy.model.tree.junction_tree import LIMIT_CELLS, build_tree, tree_cells


class TreeCapacity:
    """The cells that are left for the pairs of a tree around `joined` cliques.

    A pair fits when, after it, the columns that are still apart can all be joined by their smallest pairs. The
    cheapest way to join them is a star around the smallest column of all, so this takes one look at each part.
    """

    def __init__(
        self,
        domain: Domain,
        joined: Sequence[Clique],
        pairs: Sequence[Pair],
        limit_cells: int = LIMIT_CELLS,
    ) -> None:
        self._one, self._two = ends(domain.names, pairs)
        sizes = np.fromiter(domain.values(), np.int64, len(domain))
        self._cells = sizes[self._one] * sizes[self._two]
        self._part = np.fromiter(components(domain.names, joined).values(), np.int64, len(domain))
        self._smallest = np.full(len(domain), np.iinfo(np.int64).max)  # by part
        np.minimum.at(self._smallest, self._part, sizes)
        self._hub = min(domain.values(), default=1)
        taken = tree_cells(domain, joined)
        apart = sum(self._smallest[np.unique(self._part)].tolist()) - self._hub
        self._spare = limit_cells - taken - self._hub * apart
        # No tree is larger than the star around the largest column.
        self._ample = max(domain.values(), default=1) * sum(domain.values()) <= limit_cells - taken

    def fitting(self, places: Places) -> Places:
        """The pairs, by their places, that leave enough cells for the rest of the tree; all where every tree fits."""
        return places if self._ample else places[self._extra(places) <= self._spare]

    def join(self, place: int) -> None:
        """Take off the cells of a pair that was chosen."""
        self._spare -= int(self._extra(np.array([place]))[0])
        first, second = self._part[self._one[place]], self._part[self._two[place]]
        self._smallest[first] = min(self._smallest[first], self._smallest[second])
        self._part[self._part == second] = first

    def _extra(self, places: Places) -> Places:
        """The cells of pairs, less those that were set aside for the pair that each replaces."""
        one, two = (
            self._smallest[self._part[self._one[places]]],
            self._smallest[self._part[self._two[places]]],
        )
        return np.asarray(self._cells[places] - self._hub * np.maximum(one, two), np.int64)


def largest_forest(domain: Domain, limit_cells: int, joined: Iterable[Clique] = ()) -> list[Pair]:
    """A tree around `joined` of the largest pairs of at most so many cells: no tree of such pairs is larger."""
    joined = list(joined)
    if not joined and math.prod(sorted(domain.values())[-2:]) <= limit_cells:
        return _largest_star(domain)
    names, sizes = domain.names, np.fromiter(domain.values(), np.float64, len(domain))
    one, two = np.triu_indices(len(domain), 1)
    small = sizes[one] * sizes[two] <= limit_cells
    one, two = one[small], two[small]
    label = np.fromiter(components(domain.names, joined).values(), np.int64, len(domain))
    apart, tree = len(np.unique(label)), []
    largest_first = np.argsort(-sizes[one] * sizes[two], kind="stable")
    for place in (int(place) for place in largest_first):  # mostly a few of them join all
        new, old = label[one[place]], label[two[place]]
        if new != old:
            tree.append((names[one[place]], names[two[place]]))
            label[label == old] = new
            apart -= 1
            if apart == 1:  # no pair joins anything more
                break
    return tree


def _largest_star(domain: Domain) -> list[Pair]:
    """The same where every pair may be in it and nothing is joined: each column's largest pair is with the largest
    column, the first of them where several are, and pairs come the largest first."""
    if len(domain) < 2:
        return []
    names, sizes = domain.names, list(domain.values())
    hub = sizes.index(max(sizes))
    ends = sorted((-sizes[i], min(i, hub), max(i, hub)) for i in range(len(names)) if i != hub)
    return [(names[one], names[two]) for _, one, two in ends]


def check_fits(domain: Domain, cliques: Iterable[Clique]) -> None:
    """Refuse cliques whose model would not fit, naming the column to bin or the clique to drop."""
    wanted = list(cliques)
    if tree_cells(domain, wanted) > LIMIT_CELLS:
        build_tree(domain, wanted)


def cut_to_fit(domain: Domain, cliques: Sequence[Clique], limit_cells: int = LIMIT_CELLS) -> list[Clique]:
    """The cliques, the largest without its largest column until their model fits; as many as were given.

    Only columns whose codes were learned can make this necessary: what a schema says is checked beforehand.
    """
    kept = list(cliques)
    while any(len(c) > 1 for c in kept) and build_tree(domain, kept, limit_cells=None).cells > limit_cells:
        place = max(range(len(kept)), key=lambda i: (len(kept[i]) > 1, domain.size(kept[i])))
        widest = max(kept[place], key=domain.__getitem__)
        kept[place] = tuple(name for name in kept[place] if name != widest)
    return kept
