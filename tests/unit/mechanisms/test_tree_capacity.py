"""A mechanism never spends and then fails for size: the model it chooses always fits."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import SizeError
from understudy.mechanisms import MST, Fixed
from understudy.mechanisms.mutual_information import all_pairs
from understudy.mechanisms.spanning_tree import heaviest, spanning_forest
from understudy.mechanisms.tree_capacity import TreeCapacity, cut_to_fit, largest_forest
from understudy.model.tree.junction_tree import LIMIT_CELLS, build_tree
from understudy.privacy import Budget, Curator, Seeded

HUGE = Domain({"a": 60_000, "b": 60_000, "c": 60_000, "d": 3})


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_picked_the_tree_fits_and_spans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = Domain({f"c{i}": int(size) for i, size in enumerate(rng.integers(1, 400, rng.integers(2, 9)))})
    joined = [domain.names[:2]] if seed % 3 == 0 else []
    hub = min(domain.values())
    taken = build_tree(domain, joined, limit_cells=None).cells
    limit = taken + hub * sum(domain.values()) + int(rng.integers(0, 40_000))
    pairs = all_pairs(domain, 10**9)
    capacity = TreeCapacity(domain, joined, pairs, limit)

    def pick(left: np.ndarray) -> int:
        fitting = capacity.fitting(left)
        chosen = int(fitting[rng.integers(len(fitting))])  # there is always one
        capacity.join(chosen)
        return chosen

    tree = spanning_forest(domain.names, pairs, pick, joined)
    assert len(tree) == len(domain) - 1 - len(joined)
    assert build_tree(domain, [*joined, *tree], limit_cells=None).cells <= limit


@pytest.mark.parametrize("seed", range(30))
def test_no_tree_is_larger_than_the_one_that_is_forecast(seed: int) -> None:
    rng = np.random.default_rng(seed)
    most = int(rng.choice([3, 30]))  # few sizes, so that many pairs are as large as others
    domain = Domain({f"c{i}": int(size) for i, size in enumerate(rng.integers(1, most + 1, 9))})
    for limit in (
        most * most,
        most * most // 3 + 1,
    ):  # where every pair may be chosen, and where some may not
        pairs = [pair for pair in all_pairs(domain, 10**9) if domain.size(pair) <= limit]
        assert largest_forest(domain, limit) == spanning_forest(
            domain.names, pairs, heaviest(domain.size(pair) for pair in pairs)
        )


def test_a_column_that_fits_nowhere_stays_alone_and_nothing_fails() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    capacity = TreeCapacity(Domain({"a": 50, "b": 50, "c": 2}), [], pairs, limit_cells=150)
    assert capacity.fitting(np.arange(3)).size == 0


def test_a_forced_clique_that_cannot_fit_is_refused_from_the_schema_and_the_column_to_bin_is_named() -> None:
    for mechanism in (MST([("a", "b")]), Fixed([("a", "b")])):
        with pytest.raises(SizeError, match=r"column 'b' .*60,000 codes"):
            mechanism.plan(HUGE)


def test_cliques_of_learned_columns_are_cut_until_they_fit() -> None:
    assert cut_to_fit(HUGE, [("a", "d"), ("a", "b", "d")]) == [("a", "d"), ("b", "d")]
    small = Domain({"a": 3, "b": 4})
    assert cut_to_fit(small, [("a", "b")]) == [("a", "b")]


def test_columns_too_large_to_be_paired_are_still_synthesised() -> None:
    domain = Domain({"a": 40_000, "b": 40_000, "c": 2})
    rng = np.random.default_rng(0)
    table = Table(domain, {name: rng.integers(0, size, 3000) for name, size in domain.items()})
    budget = Budget(1.0, 1e-9)
    # Without compression nothing shrinks: the pair of a and b has 1.6e9 cells, beyond every limit.
    found = MST(threshold=0.0, limit_cells=10**12)(Curator(table, budget, source=Seeded(1)), domain, budget)
    assert ("a", "b") not in {m.clique for m in found.measurements}
    assert build_tree(found.field.domain, [m.clique for m in found.measurements]).cells <= LIMIT_CELLS
