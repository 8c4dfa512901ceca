"""Kruskal's algorithm, with the pick passed in: by weight on public data, by a private choice on records.

Edges are told by their places in a list, in arrays: among a thousand columns there are half a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique

Pair = tuple[str, str]
Places = npt.NDArray[np.int64]


def components(nodes: Iterable[str], cliques: Iterable[Clique]) -> dict[str, int]:
    """For every node the number of its connected component, once every clique has joined its columns."""
    label = {node: number for number, node in enumerate(nodes)}
    for clique in cliques:
        for other in clique[1:]:
            old, new = label[other], label[clique[0]]
            if old != new:
                label = {node: new if number == old else number for node, number in label.items()}
    return label


def ends(nodes: Iterable[str], edges: Sequence[Pair]) -> tuple[Places, Places]:
    """The numbers of the first and of the second node of every edge."""
    number = {node: i for i, node in enumerate(nodes)}
    one = np.fromiter((number[a] for a, _ in edges), np.int64, len(edges))
    return one, np.fromiter((number[b] for _, b in edges), np.int64, len(edges))


def spanning_forest(
    nodes: Sequence[str],
    edges: Sequence[Pair],
    pick: Callable[[Places], int | None],
    joined: Iterable[Clique] = (),
) -> list[Pair]:
    """Edges that join the nodes without a cycle, in the order picked.

    `pick` is given the places of every edge between two different components, rising, and returns one, or None to
    stop. Columns of a clique in `joined` count as connected from the start.
    """
    label = np.fromiter(components(nodes, joined).values(), np.int64)
    one, two = ends(nodes, edges)
    left = np.flatnonzero(label[one] != label[two])
    tree: list[Pair] = []
    while left.size:
        place = pick(left)
        if place is None:
            break
        tree.append(edges[place])
        label[label == label[two[place]]] = label[one[place]]
        left = left[label[one[left]] != label[two[left]]]
    return tree


def heaviest(weights: Iterable[float]) -> Callable[[Places], int]:
    """The pick of the classical algorithm: the edge of largest weight; weights are in the order of the edges."""
    known = np.fromiter(weights, np.float64)
    return lambda left: int(left[known[left].argmax()])
