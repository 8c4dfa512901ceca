"""Kruskal's algorithm, with the pick passed in: by weight on public data, by a private choice on records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from understudy.domain import Clique

Pair = tuple[str, str]


def components(nodes: Iterable[str], cliques: Iterable[Clique]) -> dict[str, int]:
    """For every node the number of its connected component, once every clique has joined its columns."""
    label = {node: number for number, node in enumerate(nodes)}
    for clique in cliques:
        for other in clique[1:]:
            old, new = label[other], label[clique[0]]
            if old != new:
                label = {node: new if number == old else number for node, number in label.items()}
    return label


def spanning_forest(
    nodes: Sequence[str],
    edges: Sequence[Pair],
    pick: Callable[[list[Pair]], Pair | None],
    joined: Iterable[Clique] = (),
) -> list[Pair]:
    """Edges that join the nodes without a cycle, in the order picked.

    `pick` is given every edge between two different components and returns one, or None to stop.
    Columns of a clique in `joined` count as connected from the start.
    """
    label = components(nodes, joined)
    candidates = [edge for edge in edges if label[edge[0]] != label[edge[1]]]
    tree: list[Pair] = []
    while candidates:
        edge = pick(candidates)
        if edge is None:
            break
        tree.append(edge)
        old, new = label[edge[1]], label[edge[0]]
        label = {node: new if number == old else number for node, number in label.items()}
        candidates = [pair for pair in candidates if label[pair[0]] != label[pair[1]]]
    return tree


def heaviest(weights: dict[Pair, float]) -> Callable[[list[Pair]], Pair]:
    """The pick of the classical algorithm: the edge of largest weight."""
    return lambda candidates: max(candidates, key=weights.__getitem__)
