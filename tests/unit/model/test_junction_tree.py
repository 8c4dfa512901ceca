"""The tree under a field: every clique has a home, and its size is known before anything is built."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.errors import DomainError, SizeError
from understudy.model.tree.junction_tree import build_tree, predict, tree_cells
from understudy.model.tree.triangulation import bits, eliminate


@st.composite
def graphs(draw):
    names = [f"c{i}" for i in range(draw(st.integers(0, 8)))]
    domain = Domain({name: draw(st.integers(1, 5)) for name in names})
    if not names:
        return domain, [()], [()]
    cliques = st.lists(st.sampled_from(names), unique=True, max_size=3).map(tuple)
    return domain, draw(st.lists(cliques, max_size=7)), draw(st.lists(cliques, max_size=4))


def check(tree, cliques):
    assert {name for clique in tree.cliques for name in clique} == set(tree.domain)
    assert sorted(tree.order) == sorted(tree.domain)
    assert all(tree.home(clique) is not None for clique in cliques)
    assert all(set(tree.cliques[tree.home(c)]) >= set(c) for c in cliques)
    for i, above in enumerate(tree.parent):
        assert above == -1 or (above > i and tree.separator(i))
    for name in tree.domain:  # running intersection: the cliques of a column are one connected piece
        tops = [
            i
            for i, clique in enumerate(tree.cliques)
            if name in clique and (tree.parent[i] < 0 or name not in tree.cliques[tree.parent[i]])
        ]
        assert len(tops) == 1
    for one, two in combinations(tree.cliques, 2):
        assert not set(one) <= set(two)
        assert not set(two) <= set(one)
    assert tree.cells == sum(tree.domain.size(clique) for clique in tree.cliques)


@settings(max_examples=many(500))
@given(graphs())
def test_a_tree_gives_every_clique_a_home_and_predicts_what_a_further_clique_would_cost(graph):
    domain, cliques, further = graph
    tree = build_tree(domain, cliques)
    check(tree, cliques)
    for clique in further:
        cost = predict(tree, clique)
        tree = tree.with_clique(clique)
        cliques = [*cliques, clique]
        check(tree, cliques)
        assert tree.cells == cost


def test_a_chordal_model_is_not_made_larger_than_its_cliques():
    domain = Domain({name: 10 for name in "abcdef"})
    tree = build_tree(domain, map(tuple, ["ab", "bc", "cd", "de", "bf"]))
    assert tree.cells == 500
    assert tree.width == 1


def test_a_cycle_costs_what_its_best_chord_costs():
    domain = Domain({"a": 2, "b": 50, "c": 2, "d": 50})
    assert build_tree(domain, map(tuple, ["ab", "bc", "cd", "da"])).cells == 2 * (2 * 2 * 50)


def test_the_same_cliques_in_any_order_give_the_same_size():
    domain = Domain({name: 3 + i for i, name in enumerate("abcdefgh")})
    cliques = [tuple(pair) for pair in ("ab", "bc", "cd", "da", "ae", "ef", "fg", "gb", "ch")]
    sizes = {
        build_tree(domain, turned).cells for turned in (cliques, cliques[::-1], cliques[4:] + cliques[:4])
    }
    assert len(sizes) == 1


def test_a_model_too_large_for_memory_is_refused_before_it_is_built_with_a_way_out():
    domain = Domain({f"c{i}": 1_000 for i in range(40)})
    cliques = list(combinations([f"c{i}" for i in range(10)], 2))
    with pytest.raises(SizeError, match=r"c\d.*limit_cells") as refusal:
        build_tree(domain, cliques)
    assert f"{1000**10 + 30_000:,} cells" in str(refusal.value)  # exact, though no float could hold it
    assert "bin or compress column" in refusal.value.hint


def test_the_refusal_names_the_clique_whose_loss_helps_most():
    domain = Domain({"a": 900, "b": 900, "c": 900, "d": 2})
    with pytest.raises(SizeError) as refusal:
        build_tree(domain, map(tuple, ["ab", "bc", "ca", "ad"]), limit_cells=10_000_000)
    assert "leave out clique" in refusal.value.hint
    assert "bin or compress" in refusal.value.hint


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(DomainError, match="'z'"):
        build_tree(Domain({"a": 2}), [("a", "z")])


def test_joining_two_components_adds_one_pair_and_nothing_else():
    domain = Domain({"a": 7, "b": 5, "c": 3, "d": 2})
    tree = build_tree(domain, [("a", "b"), ("c", "d")])
    assert len(tree.roots) == 2
    assert predict(tree, ("b", "c")) == tree.cells + 15


def test_hundreds_of_columns_are_joined_without_trouble():
    domain = Domain({f"c{i}": 4 for i in range(600)})
    tree = build_tree(domain, [(f"c{i}", f"c{i // 2}") for i in range(1, 600)])
    assert tree.cells == 599 * 16
    assert tree.bytes(8) == 599 * 128


def test_a_column_that_needs_no_edge_goes_before_any_that_does():
    chance = random.Random(3)
    for attempt in (0, 1, 2):
        around = [0] * 24
        for one, two in combinations(range(24), 2):
            if chance.random() < 0.4:
                around[one] |= 1 << two
                around[two] |= 1 << one
        order, later, _ = eliminate(list(around), [chance.randint(2, 9) for _ in around], attempt)
        left = (1 << 24) - 1
        for column in order:
            assert later[column] == around[column] & left
            simplicial = [v for v in bits(left) if not _apart(around, around[v] & left)]
            assert not simplicial or column in simplicial
            left ^= 1 << column
            for u in bits(later[column]):
                around[u] |= later[column] & ~(1 << u)


def _apart(around, columns):
    return any(columns & ~around[u] & ~(1 << u) for u in bits(columns))


@settings(deadline=None, max_examples=many(200))
@given(graphs())
def test_cells_are_known_without_a_tree(graph):
    domain, cliques, others = graph
    pairs = [clique[:2] for clique in cliques]
    for wanted in (cliques, pairs, pairs[:2], [*cliques, *others]):
        assert tree_cells(domain, wanted) == build_tree(domain, wanted, limit_cells=None).cells
