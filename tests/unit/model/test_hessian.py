"""The dual's passes over cliques, beside the same sums written out with whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.model.fitting.dual import clique_marginals
from understudy.model.fitting.dual.dual_hessian import Hessian
from understudy.model.fitting.observations import Observations
from understudy.model.tree.junction_tree import build_tree

DOMAIN = Domain({"a": 3, "b": 1, "c": 4, "d": 2, "e": 5, "f": 3, "g": 2, "h": 1})
CLIQUES = [
    ("a", "c"),
    ("c",),
    ("a", "d"),
    ("c", "d"),
    ("d", "e", "f"),
    ("e",),
    ("b", "f"),
    ("g", "h"),
    ("a", "c", "d", "e"),
]


def model(cliques, query=None):
    """A fit's places and its Hessian, every measurement as a price."""
    random = np.random.default_rng(5)
    measured = []
    for clique in cliques:
        size = DOMAIN.size(clique)
        matrix = random.normal(size=(size + 1, size)) if clique == query else None
        values = np.zeros(size if matrix is None else size + 1)
        measured.append(Measurement(clique, values, 1.0, query=matrix))
    tree = build_tree(DOMAIN, CLIQUES)
    partial = Observations(tree, measured)
    return partial, Hessian(partial.layout, partial)


def lifted(partial, prices):
    """What every cell pays, by broadcasting."""
    layout = partial.layout
    tree, edges = layout.tree, layout.separator_cells
    cells = [np.zeros(DOMAIN.shape(clique)) for clique in tree.cliques]

    def spread(k, columns, part):
        shape = [DOMAIN[name] if name in columns else 1 for name in tree.cliques[k]]
        cells[k] += part.reshape(shape)

    for k, (_, _, above, at, width, *_) in enumerate(layout.cliques.tolist()):
        if above >= 0:
            spread(k, tree.separator(k), prices[at : at + width])
            spread(above, tree.separator(k), -prices[at : at + width])
    observed = partial.to_cells(prices[edges : edges + partial.count])
    for (home, at, size), columns in zip(layout.places, layout.marginals, strict=True):
        spread(home, columns, observed[at : at + size])
    for i, k in enumerate(tree.roots):
        cells[k] += prices[edges + partial.count + i]
    return np.concatenate([cell.reshape(-1) for cell in cells])


@pytest.mark.parametrize("query", [None, ("c", "d")])
@pytest.mark.parametrize("large", [1, 1 << 17])
@pytest.mark.parametrize("cliques", [CLIQUES, CLIQUES[:3], CLIQUES[4:8], []])
def test_a_pass_prices_answers_and_sums_every_cell_once(monkeypatch, cliques, large, query):
    monkeypatch.setattr(clique_marginals, "_LARGE", large)
    partial, hessian = model(cliques, query)
    random = np.random.default_rng(6)
    count = partial.layout.separator_cells + partial.count + len(partial.layout.tree.roots)
    lift = np.stack([lifted(partial, unit) for unit in np.eye(count)], axis=1)
    prices, weights = random.normal(size=count), random.uniform(0.5, 2.0, size=partial.layout.cells)
    values, allowed = random.normal(size=weights.size), random.random(weights.size) < 0.8
    out, cells, yielding = (
        np.full(count, np.nan),
        np.full(weights.size, np.nan),
        np.full(weights.size, np.nan),
    )

    hessian.apply(prices, weights, out)
    np.testing.assert_allclose(out, lift.T @ (weights * (lift @ prices)), atol=1e-10)

    value = hessian.evaluate(prices, values, weights, allowed, cells, out)
    cost = lift @ prices
    bought = np.where(allowed, np.maximum(values - cost / weights, 0.0), 0.0)
    np.testing.assert_allclose(cells, bought, atol=1e-12)
    np.testing.assert_allclose(out, lift.T @ bought, atol=1e-10)
    assert value == pytest.approx(np.sum(0.5 * weights * (bought - values) ** 2 + cost * bought))

    hessian.diagonal(cells, weights, yielding, out)
    np.testing.assert_allclose(yielding, np.where(bought > 0, 1 / weights, 0.0))
    np.testing.assert_allclose(out, (lift**2).T @ yielding, atol=1e-10)


def test_a_long_row_is_worked_on_block_by_block():
    domain = Domain({"y": 2, "x": 3_000})
    tree = build_tree(domain, [("y", "x")])
    partial = Observations(tree, [Measurement(("x",), np.zeros(3_000), 1.0)])
    hessian = Hessian(partial.layout, partial)
    prices = np.random.default_rng(7).normal(size=3_001)
    values, weights, out = np.full(6_000, 5.0), np.full(6_000, 2.0), np.empty(3_001)
    cells = np.empty(6_000)
    hessian.evaluate(prices, values, weights, np.zeros(0, np.bool_), cells, out)
    bought = np.maximum(5.0 - (prices[:3_000] + prices[3_000]) / 2.0, 0.0)
    np.testing.assert_allclose(cells, np.tile(bought, 2))
    np.testing.assert_allclose(out, [*(2 * bought), 2 * bought.sum()])


def test_a_marginal_within_another_costs_no_pass_over_the_clique():
    domain = Domain({"a": 3, "c": 4, "d": 2})
    tree = build_tree(domain, [("a", "c", "d")])
    seen = [("a", "c"), ("c",), ("a",), ("c", "d")]
    partial = Observations(tree, [Measurement(c, np.zeros(domain.size(c)), 1.0) for c in seen])
    layout = clique_marginals.lay_out_marginals(partial.layout)
    assert sorted(layout.spans[:, 1].tolist()) == [8, 12]
