"""Belief propagation equals brute force, and does not underflow."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.model.tree.junction_tree import build_tree
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import lay_out_tree


def propagate(tree, potentials):
    """The clique marginals of a product of tables, one a clique, and the log of its sum."""
    layout = lay_out_tree(tree)
    tables = layout.flatten(potentials)
    log_total = Propagation(layout).calibrate(tables, np.empty(layout.separator_cells))
    if log_total == -math.inf:
        tables[:] = 0.0
    return layout.split(tables), log_total


@st.composite
def fields(draw):
    names = [f"c{i}" for i in range(draw(st.integers(1, 6)))]
    domain = Domain({name: draw(st.integers(1, 4)) for name in names})
    cliques = draw(st.lists(st.lists(st.sampled_from(names), unique=True, max_size=3), max_size=6))
    tree = build_tree(domain, cliques)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = [random.random(domain.shape(clique)) ** 3 for clique in tree.cliques]
    return tree, tables, random


def joint(tree, tables):
    domain = tree.domain
    whole = np.ones(domain.shape())
    for clique, table in zip(tree.cliques, tables, strict=True):
        whole = whole * table.reshape([domain[name] if name in clique else 1 for name in domain])
    return whole


def marginal(tree, whole, clique):
    return whole.sum(axis=tuple(i for i, name in enumerate(tree.domain) if name not in clique))


@settings(max_examples=many(250))
@given(fields())
def test_marginals_and_the_normaliser_are_those_of_the_whole_table(field):
    tree, tables, _ = field
    whole = joint(tree, tables)
    found, log_total = propagate(tree, tables)
    assert log_total == pytest.approx(math.log(whole.sum()), abs=1e-9)
    for clique, table in zip(tree.cliques, found, strict=True):
        np.testing.assert_allclose(table, marginal(tree, whole / whole.sum(), clique), atol=1e-12)


@settings(max_examples=many(125))
@given(fields())
def test_the_covariance_pass_is_the_derivative_of_the_marginals(field):
    tree, tables, random = field
    layout = lay_out_tree(tree)
    propagation = Propagation(layout)
    theta = np.log(layout.flatten(tables) + 1e-3)
    direction = random.normal(size=theta.size)
    step = 1e-5
    ends = []
    for sign in (1, -1):
        out = np.empty_like(theta)
        propagation.marginals(theta + sign * step * direction, out, np.empty(layout.separator_cells))
        ends.append(out)
    here, separators = np.empty_like(theta), np.empty(layout.separator_cells)
    propagation.marginals(theta, here, separators)
    change = direction.copy()
    propagation.covariance(here, separators, change)
    np.testing.assert_allclose(change, (ends[0] - ends[1]) / (2 * step), atol=1e-7)


@settings(max_examples=many(125))
@given(fields())
def test_the_cheapest_record_is_the_cheapest_of_all(field):
    tree, _, random = field
    layout = lay_out_tree(tree)
    cost = random.normal(size=layout.cells)
    everyone = sum(
        table.reshape([tree.domain[name] if name in clique else 1 for name in tree.domain])
        for clique, table in zip(tree.cliques, layout.split(cost.copy()), strict=True)
    )
    assert Propagation(layout).cheapest(cost) == pytest.approx(float(np.min(everyone)), abs=1e-9)


def test_a_hundred_columns_with_tiny_potentials_neither_underflow_nor_overflow():
    domain = Domain({f"c{i}": 5 for i in range(100)})
    tree = build_tree(domain, [(f"c{i}", f"c{i - 1}") for i in range(1, 100)])
    random = np.random.default_rng(1)
    layout = lay_out_tree(tree)
    theta = random.normal(scale=20, size=layout.cells)
    for offset in (-700.0, 0.0, 700.0):  # exp(-700 * 99) is far below the smallest float
        out = np.empty(layout.cells)
        log_total = Propagation(layout).marginals(theta + offset, out, np.empty(layout.separator_cells))
        assert math.isfinite(log_total)
        for table in layout.split(out):
            assert table.sum() == pytest.approx(1.0, abs=1e-9)


def test_a_star_of_a_hundred_disagreeing_leaves_does_not_underflow():
    domain = Domain({"hub": 3, **{f"c{i}": 3 for i in range(100)}})
    tree = build_tree(domain, [("hub", f"c{i}") for i in range(100)])
    random = np.random.default_rng(2)
    tables = [random.random((3, 3)) * 10.0 ** random.integers(-30, 30, size=(3, 3)) for _ in tree.cliques]
    found, log_total = propagate(tree, tables)
    assert math.isfinite(log_total)
    assert all(table.sum() == pytest.approx(1.0, abs=1e-9) for table in found)
