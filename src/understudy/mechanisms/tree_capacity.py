"""How large a model may become: which pairs leave enough cells for a whole tree, and cliques cut to what fits.

A mechanism must never spend and then fail because its model is too large, so size is looked after while cliques
are chosen. Sizes of columns are public, or follow from what was released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from understudy.domain import Clique, Domain
from understudy.mechanisms.mutual_information import all_pairs
from understudy.mechanisms.spanning_tree import Pair, components
from understudy.model.tree.junction_tree import LIMIT_CELLS, build_tree


class TreeCapacity:
    """The cells that are left for the pairs of a tree around `joined` cliques.

    A pair fits when, after it, the columns that are still apart can all be joined by their smallest pairs. The
    cheapest way to join them is a star around the smallest column of all, so this takes one look at each part.
    """

    def __init__(self, domain: Domain, joined: Sequence[Clique], limit_cells: int = LIMIT_CELLS) -> None:
        self._domain = domain
        self._part = components(domain.names, joined)
        self._smallest: dict[int, int] = {}
        for name, part in self._part.items():
            self._smallest[part] = min(domain[name], self._smallest.get(part, domain[name]))
        self._hub = min(domain.values(), default=1)
        taken = build_tree(domain, joined, limit_cells=None).cells
        apart = sum(self._smallest.values()) - self._hub
        self._spare = limit_cells - taken - self._hub * apart
        # No tree is larger than the star around the largest column.
        self._ample = max(domain.values(), default=1) * sum(domain.values()) <= limit_cells - taken

    def fitting(self, pairs: list[Pair]) -> list[Pair]:
        """The pairs that leave enough cells for the rest of the tree; all of them where every tree fits."""
        if self._ample:
            return pairs
        return [pair for pair in pairs if self._extra(pair) <= self._spare]

    def join(self, pair: Pair) -> None:
        """Take off the cells of a pair that was chosen."""
        self._spare -= self._extra(pair)
        first, second = self._part[pair[0]], self._part[pair[1]]
        self._smallest[first] = min(self._smallest[first], self._smallest.pop(second))
        self._part = {name: first if part == second else part for name, part in self._part.items()}

    def _extra(self, pair: Pair) -> int:
        """The cells of a pair, less those that were set aside for the pair that it replaces."""
        a, b = (self._smallest[self._part[name]] for name in pair)
        return self._domain[pair[0]] * self._domain[pair[1]] - self._hub * max(a, b)


def largest_forest(domain: Domain, limit_cells: int, joined: Iterable[Clique] = ()) -> list[Pair]:
    """A tree around `joined` of the largest pairs of at most so many cells: no tree of such pairs is larger."""
    falling = sorted(all_pairs(domain, limit_cells), key=lambda pair: -domain[pair[0]] * domain[pair[1]])
    label, tree = components(domain.names, joined), []
    for pair in falling:
        new, old = label[pair[0]], label[pair[1]]
        if new != old:
            tree.append(pair)
            label = {name: new if number == old else number for name, number in label.items()}
    return tree


def check_fits(domain: Domain, cliques: Iterable[Clique]) -> None:
    """Refuse cliques whose model would not fit, naming the column to bin or the clique to drop."""
    build_tree(domain, cliques)


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
