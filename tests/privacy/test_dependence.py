"""The question of PrivBayes and PrivSyn: which column depends most on others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import people

from nightly import many
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import BudgetError, DomainError, ParameterError
from understudy.privacy import Budget, Choice, Curator, Group, Neighbours, Seeded, recompute
from understudy.privacy.curator import private_choice
from understudy.privacy.curator.dependence import SENSITIVITY, dependence

BUDGET = Budget(2.0, 1e-9)


def exact(counts: np.ndarray) -> Fraction:
    """The distance by its definition, in fractions."""
    total = int(counts.sum())
    if not total:
        return Fraction(0)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    return sum(
        (
            abs(int(counts[i, j]) - Fraction(int(rows[i]) * int(columns[j]), total))
            for i in range(counts.shape[0])
            for j in range(counts.shape[1])
        ),
        Fraction(0),
    )


@settings(max_examples=many(500))
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(0, 40))
def test_a_score_is_the_exact_distance_and_one_record_moves_it_by_four_at_most(seed, a, b, records):
    random = np.random.default_rng(seed)
    counts = np.zeros((a, b), np.int64)
    np.add.at(counts, (random.integers(0, a, records), random.integers(0, b, records)), 1)
    score = dependence(counts.reshape(-1), a)
    assert score == exact(counts) // 1
    for cell in np.ndindex(a, b):
        more = counts.copy()
        more[cell] += 1
        assert abs(dependence(more.reshape(-1), a) - score) <= SENSITIVITY
        assert abs(exact(more) - exact(counts)) < SENSITIVITY


def test_one_record_can_move_a_score_by_three():
    counts = np.array([[1000, 0], [0, 0]], np.int64)
    more = counts + np.array([[0, 0], [0, 1]])
    assert dependence(more.reshape(-1), 2) - dependence(counts.reshape(-1), 2) == SENSITIVITY - 1


def test_scores_of_billions_of_records_do_not_overflow():
    counts = np.array([[3 * 10**9, 10**9], [10**9, 3 * 10**9]], np.int64)
    assert dependence(counts.reshape(-1), 2) == exact(counts) // 1
    near = np.array([[2**30, 0], [0, 2**30 - 1]], np.int64)
    assert dependence(near.reshape(-1), 2) == exact(near) // 1


def chain(rows: int = 4000) -> Table:
    random = np.random.default_rng(0)
    a = random.integers(0, 3, rows)
    b = np.where(random.random(rows) < 0.9, a, random.integers(0, 3, rows))
    return Table(Domain({"a": 3, "b": 3, "c": 3}), {"a": a, "b": b, "c": random.integers(0, 3, rows)})


def test_the_dependent_pair_is_chosen_and_the_choice_is_charged():
    curator = Curator(chain(), BUDGET, source=Seeded(1))
    half = Fraction(1, 2)
    plan = [Group("which", "choose", half, count=3), Group("counts", "measure", half)]
    loss = curator.commit(plan)["which"]
    offered = [("a", "b"), ("a", "c"), ("b", "c")]
    assert [curator.choose_dependent(offered, loss) for _ in range(3)] == [0, 0, 0]
    assert len(curator.charges) == 3 and recompute(curator.certificate()) <= BUDGET.epsilon
    with pytest.raises(BudgetError):
        curator.choose_dependent(offered, loss)


@pytest.mark.parametrize("neighbours", [Neighbours(), Neighbours("replace"), Neighbours("add-remove", 3)])
def test_the_choice_is_drawn_at_four_times_the_records_that_may_differ(monkeypatch, neighbours):
    seen = []
    monkeypatch.setattr(private_choice, "choose", lambda *asked: seen.append(asked) or 0)
    curator = Curator(people(), BUDGET, neighbours=neighbours)
    curator.choose_dependent([("sex", "age"), ("age", "school", "sex")], Choice(0.1), [5, 0])
    (scores, epsilon, sensitivity, _), expected = seen[0], []
    for clique in [("sex", "age"), ("age", "school", "sex")]:
        (marginal,) = people().count([clique])
        expected.append(exact(marginal.counts.reshape(marginal.counts.shape[0], -1)) // 1)
    assert scores.tolist() == [expected[0] - 5, expected[1]]
    assert (epsilon, sensitivity) == (0.1, 4 * neighbours.l1)


def test_a_family_offered_twice_or_unknown_is_refused_before_anything_is_charged():
    curator = Curator(people(), BUDGET)
    for offered in ([("sex", "age", "school"), ("sex", "school", "age")], [("sex", "height")], []):
        with pytest.raises((DomainError, ParameterError)):
            curator.choose_dependent(offered, Choice(0.1))
    with pytest.raises(BudgetError):
        curator.choose_dependent([("sex", "age")], BUDGET)
    assert not curator.charges


def test_a_column_alone_depends_on_nothing_and_can_be_chosen():
    curator = Curator(people(), BUDGET, source=Seeded(1))
    assert curator.choose_dependent([("sex",)], Choice(0.1)) == 0
