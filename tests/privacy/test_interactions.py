"""What tables say beyond their own sums is told with noise for what one unit can do to all of it together."""

from __future__ import annotations

import copy
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from plain_engine import PlainEngine, people
from scipy import stats

from understudy.domain import Domain
from understudy.errors import BudgetError, ParameterError, ReleaseError
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.privacy import Budget, Curator, Gaussian, Group, Laplace, Neighbours, Seeded, recompute

DOMAIN = Domain({"a": 2, "b": 3, "c": 4})
PAIR, TRIPLE = ("a", "b"), ("a", "b", "c")
ALONE = [(0,), (1,), (2,)]
QUERIES = [
    Interactions((2, 3), ALONE[:2]),
    Interactions((2, 3, 4), ALONE),
    Interactions((3, 4), ALONE[:1]),
    Interactions((2, 3, 4), [(0, 1), (1, 2)]),
    None,
]
CLIQUES = [PAIR, TRIPLE, ("b", "c"), TRIPLE, ("a", "c")]
RELATIONS = [Neighbours(), Neighbours("add-remove", 3), Neighbours("replace"), Neighbours("replace", 2)]
OPEN = Gaussian(4.0, None)


def asked(records: np.ndarray, neighbours: Neighbours, seed: int, places: list[int]) -> Any:
    engine = PlainEngine({name: records[:, i] for i, name in enumerate(DOMAIN)}, DOMAIN)
    curator = Curator(engine, Budget(8.0, 1e-3), neighbours=neighbours, source=Seeded(seed))
    return curator.measure([CLIQUES[i] for i in places], None, OPEN, [QUERIES[i] for i in places])


@pytest.mark.parametrize("neighbours", RELATIONS, ids=str)
def test_one_unit_moves_all_answers_together_by_no_more_than_was_charged(neighbours: Neighbours) -> None:
    draw, furthest = np.random.default_rng(neighbours.l1), np.zeros(len(QUERIES) + 1)
    choices = [[i] for i in range(len(QUERIES))] + [list(range(len(QUERIES)))]
    for seed in range(60):
        rest = draw.integers(0, list(DOMAIN.values()), (int(draw.integers(0, 9)), 3))
        own, other = (
            np.repeat(draw.integers(0, list(DOMAIN.values()), (1, 3)), neighbours.records, axis=0)
            for _ in "ab"
        )
        after = np.vstack([rest, other]) if neighbours.relation == "replace" else rest
        for place, some in enumerate(choices):
            pairs = zip(
                asked(np.vstack([rest, own]), neighbours, seed, some),
                asked(after, neighbours, seed, some),
                strict=True,
            )
            # The same noise in both: what is left is what the unit does.
            moved = sum(float((((one.values - two.values) / one.stddev) ** 2).sum()) for one, two in pairs)
            furthest[place] = max(furthest[place], 4.0 * math.sqrt(moved))
    assert (furthest <= 1 + 1e-9).all()
    # What a record that is replaced can do at worst needs binary columns; one that is added always does it.
    assert furthest.min() > (0.99 if neighbours.relation == "add-remove" else 0.7)


def test_replacing_a_record_can_move_an_interaction_by_twice_what_adding_one_does() -> None:
    """Why the sensitivity is l1 times a record's move, and not l2 times."""
    query, table = Interactions((2, 2), ALONE[:2]), np.zeros((2, 2), np.int64)
    one, two = table.copy(), table.copy()
    one[0, 0], two[0, 1] = 1, 1
    moved = query.apply(one) - query.apply(two)
    assert math.sqrt(float((moved**2).sum())) == 2 * math.sqrt(query.squared_move)


def test_an_answer_is_the_interaction_and_noise_of_the_stated_scale() -> None:
    clique, off = ("sex", "age"), []
    exact = people(200)
    query = Interactions(exact.domain.shape(clique), ALONE[:2])
    true = query.apply(exact.count([clique])[0].counts)
    for seed in range(60):
        curator = Curator(people(200), Budget(20.0, 1e-3), source=Seeded(seed))
        (found,) = curator.measure([clique], None, Gaussian(1.5, None), [query])
        assert float(found.stddev) == pytest.approx(1.5 * math.sqrt(query.squared_move))
        off += ((found.values - true) / float(found.stddev)).tolist()
    assert stats.kstest(off, "norm").pvalue > 1e-6


def planned() -> Curator:
    """A curator that was asked interactions in portions, between choices."""
    curator = Curator(people(), Budget(1.0, 1e-9), source=Seeded(1))
    losses = curator.commit(
        [
            Group("columns", "measure", Fraction(1, 4), weights=(1.0,) * 4),
            Group("pairs", "measure", Fraction(1, 2)),
            Group("select", "choose", Fraction(1, 4), 2),
        ]
    )
    pairs = list(itertools.combinations(curator.domain, 2))
    curator.measure(list(curator.domain), budget=losses["columns"])
    for share in (Fraction(1, 3), Fraction(2, 3)):
        pair = pairs[curator.choose_dependent(pairs, losses["select"])]
        queries = [Interactions(curator.domain.shape(pair), ALONE[:2]), None]
        pool = losses["pairs"]
        assert isinstance(pool, Gaussian)
        curator.measure([pair, ("sex",)], [2.0, 1.0], pool.portion(share), queries)
    with pytest.raises(BudgetError):
        curator.measure([pair], None, pool.portion(Fraction(1, 100)), queries[:1])
    return curator


def test_interactions_in_portions_of_a_plan_cost_what_was_planned_and_verify() -> None:
    assert 0.9 < recompute(planned().certificate()) <= 1.0


@pytest.mark.parametrize(
    "change",
    [
        lambda charge: charge["scales"].__setitem__(0, charge["scales"][0] / 1.01),
        lambda charge: charge["scales"].__setitem__(0, charge["scales"][0] * 1.01),
        lambda charge: charge["interactions"][0]["left out"].pop(),
        lambda charge: charge["interactions"][0]["shape"].__setitem__(0, 3),
        lambda charge: charge["interactions"][0]["shape"].__setitem__(0, 2**40),
        lambda charge: charge["interactions"][0]["shape"].append(2),
        lambda charge: charge["interactions"][0].pop("shape"),
        lambda charge: charge["interactions"][0].__setitem__("left out", [[7]]),
        lambda charge: charge["interactions"][0].__setitem__("left out", [["0"]]),
        lambda charge: charge["interactions"].pop(),
        lambda charge: charge.__setitem__("interactions", "all"),
        lambda charge: charge.pop("interactions"),
    ],
)
def test_a_forged_charge_for_interactions_does_not_verify(change: Any) -> None:
    forged = copy.deepcopy(planned().certificate())
    charge = next(charge for charge in forged["charges"] if charge.get("interactions"))
    change(charge)
    with pytest.raises(ReleaseError):
        recompute(forged)


class Peeking(Interactions):
    """A query that would look at the counts."""

    def apply(self, cells: Any) -> Any:
        raise AssertionError("foreign code ran where exact counts are")


@pytest.mark.parametrize(
    ("clique", "query", "loss", "fault"),
    [
        (("sex", "age"), Interactions((2, 10), ALONE[:2]), Gaussian(4.0), BudgetError),
        (("sex", "age"), Interactions((2, 10), ALONE[:2]), Gaussian(4.0, (1.0,)), BudgetError),
        (("sex", "age"), Interactions((2, 10), ALONE[:2]), Laplace(0.1), BudgetError),
        (("sex", "age"), Interactions((2, 9), ALONE[:2]), OPEN, ParameterError),
        (("sex",), Interactions((2,), []), Laplace(0.1), BudgetError),
        (("sex", "age"), Peeking((2, 10), ALONE[:2]), OPEN, ParameterError),
    ],
)
def test_what_was_not_proved_is_refused_and_nothing_is_drawn(
    clique: Any, query: Any, loss: Any, fault: type[Exception]
) -> None:
    curator = Curator(people(), Budget(4.0, 1e-3), source=Seeded(0))
    assert curator.domain.shape(("sex", "age")) == (2, 10)
    with pytest.raises(fault):
        curator.measure([clique], None, loss, [query])
    assert not curator.charges


def test_of_a_column_of_one_code_there_is_nothing_to_ask() -> None:
    engine = PlainEngine({"a": np.zeros(5, np.int64), "b": np.arange(5) % 3}, Domain({"a": 1, "b": 3}))
    curator = Curator(engine, Budget(4.0, 1e-3), source=Seeded(0))
    with pytest.raises(ParameterError, match="nothing is left"):
        curator.measure([("a", "b")], None, OPEN, [Interactions((1, 3), ALONE[:2])])


def test_bins_and_interactions_may_stand_in_one_batch() -> None:
    curator = Curator(people(), Budget(4.0, 1e-3), source=Seeded(0))
    halves = Binned((np.array([0, 1]), np.array([0] * 5 + [1] * 5)))
    queries = [halves, Interactions((2, 10), ALONE[:2])]
    found = curator.measure([("sex", "age")] * 2, None, OPEN, queries)
    assert [m.values.size for m in found] == [4, 20]
    assert 0 < recompute(curator.certificate()) <= 4.0
