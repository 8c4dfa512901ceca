"""Kruskal's algorithm finds the heaviest tree, around what is joined already."""

import itertools

from understudy.mechanisms.spanning_tree import components, heaviest, spanning_forest

NODES = ("a", "b", "c", "d")
WEIGHTS = {
    ("a", "b"): 5.0,
    ("a", "c"): 4.0,
    ("b", "c"): 3.0,
    ("c", "d"): 1.0,
    ("a", "d"): 2.0,
    ("b", "d"): 0.5,
}


def test_the_tree_is_the_heaviest_of_all_trees() -> None:
    tree = spanning_forest(NODES, list(WEIGHTS), heaviest(WEIGHTS.values()))
    best = max(
        (sum(WEIGHTS[edge] for edge in edges), edges)
        for edges in itertools.combinations(WEIGHTS, 3)
        if len(set(components(NODES, edges).values())) == 1
    )
    assert set(tree) == set(best[1])


def test_columns_joined_beforehand_are_not_joined_again() -> None:
    tree = spanning_forest(NODES, list(WEIGHTS), heaviest(WEIGHTS.values()), joined=[("a", "b", "c")])
    assert tree == [("a", "d")]


def test_a_pick_of_none_stops_the_forest() -> None:
    assert spanning_forest(NODES, list(WEIGHTS), lambda candidates: None) == []
