"""How good a chosen tree is: the summed mutual information of its pairs (the paper's appendix)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from benchmarks.contest.arenas import Arena
from benchmarks.contest.cells import Cell, Outcome
from benchmarks.contest.systems import nist_mst
from benchmarks.contest.tree_picture import graph_svg

from understudy.domain import Clique
from understudy.mechanisms.mutual_information import all_pairs, pair_information
from understudy.mechanisms.nist_mst import RARE
from understudy.mechanisms.spanning_tree import Pair, heaviest, spanning_forest
from understudy.transforms.compress import compress

RANDOM_TREES = 20


def tree_table(arena: Arena, private: Mapping[Cell, Outcome]) -> dict[str, dict[str, float]]:
    """By kind of tree and held-out table, its information; private trees are those that MST's cells chose."""
    found: dict[str, dict[str, float]] = {}

    def note(kind: str, table: str, value: float) -> None:
        found.setdefault(kind, {})[table] = value

    for table in arena.held_out:
        known = information(arena, table)
        names = arena.coded(table).domain.names
        note("best", table, _sum(known, spanning_forest(names, list(known), heaviest(known.values()))))
        note("public", table, _sum(known, nist_mst(arena, 1.0).selection.tree))
        by_epsilon: dict[float, list[float]] = {}
        for cell, outcome in private.items():
            if cell.table == table:
                by_epsilon.setdefault(cell.epsilon, []).append(
                    _sum(known, tree_within(names, outcome.cliques, known))
                )
        for epsilon, values in sorted(by_epsilon.items()):
            note(f"epsilon {epsilon:g}", table, float(np.mean(values)))
        note("random", table, _random(names, known))
    return found


@cache
def information(arena: Arena, table: str) -> dict[Pair, float]:
    """The mutual information of every pair on a table with its rare codes merged.

    With every code of columns such as VALUEH kept, sampling alone would make pairs look informative.
    """
    whole = arena.coded(table)
    counts = {
        m.clique[0]: np.asarray(m.counts, np.float64) for m in whole.count([(n,) for n in whole.domain])
    }
    merged = whole.recode(compress(counts, {name: RARE * len(whole) for name in counts}).maps)
    return pair_information(merged, all_pairs(merged.domain, 10**7))


def tree_within(names: tuple[str, ...], cliques: Iterable[Clique], known: Mapping[Pair, float]) -> list[Pair]:
    """The best tree among the pairs that were measured (the forced ones make a cycle: its weakest goes)."""
    pairs = {_ordered(c, known): None for c in cliques if len(c) == 2}
    weights = {pair: known[pair] for pair in pairs}
    return spanning_forest(names, list(weights), heaviest(weights.values()))


def picture(arena: Arena) -> str:
    """The graph that was selected on the public table, as SVG: tree, forced cliques, extra triangles."""
    selection = nist_mst(arena, 1.0).selection
    names = arena.coded(arena.public).domain.names
    kinds = {frozenset(pair): "tree" for pair in selection.tree}
    kinds = {frozenset(c): "extra" for c in selection.extra if len(c) == 2} | kinds
    for clique in selection.forced:
        kinds |= {frozenset((a, b)): "forced" for i, a in enumerate(clique) for b in clique[i + 1 :]}
    place = {name: number for number, name in enumerate(names)}
    edges: dict[tuple[str, str], str] = {}
    for pair, kind in kinds.items():
        first, second = sorted(pair, key=place.__getitem__)
        edges[first, second] = kind
    labels = {name: str(number + 1) for name, number in place.items()} if len(names) > 40 else None
    return graph_svg(names, edges, labels=labels)


def _ordered(pair: Clique, known: Mapping[Pair, float]) -> Pair:
    return (pair[0], pair[1]) if (pair[0], pair[1]) in known else (pair[1], pair[0])


def _sum(known: Mapping[Pair, float], tree: Iterable[Pair]) -> float:
    return sum(known[_ordered(pair, known)] for pair in tree)


def _random(names: tuple[str, ...], known: Mapping[Pair, float]) -> float:
    """The mean over random spanning trees."""
    rng = np.random.default_rng(0)

    def tree() -> list[Pair]:
        weights = {pair: float(weight) for pair, weight in zip(known, rng.random(len(known)), strict=True)}
        return spanning_forest(names, list(known), heaviest(weights.values()))

    return float(np.mean([_sum(known, tree()) for _ in range(RANDOM_TREES)]))
