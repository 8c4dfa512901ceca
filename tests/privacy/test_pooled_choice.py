"""A choice among an offer of a pool is the choice among the same candidates as a list: same scores, same price."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.marginals.product_estimates import ProductEstimates
from understudy.privacy import Budget, CandidatePool, Choice, Curator, Offer, Seeded
from understudy.privacy.curator import private_choice
from understudy.privacy.curator.misfit import misfit

SIZES = {"a": 3, "b": 2, "c": 5, "d": 1, "e": 4}
DOMAIN = Domain(SIZES)
CLIQUES = [*itertools.combinations(SIZES, 2), ("c",), ("a", "c", "e"), ()]
PAIRS = list(itertools.combinations(SIZES, 2))
BUDGET = Budget(10.0, 1e-9)


def records(seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    return Table(DOMAIN, {name: rng.integers(0, size, 500) for name, size in SIZES.items()})


def products(seed: int = 1) -> ProductEstimates:
    rng = np.random.default_rng(seed)
    return ProductEstimates({name: rng.random(size) * 300 for name, size in SIZES.items()}, 431.7)


def seen_scores(monkeypatch: pytest.MonkeyPatch) -> list:
    """What the exponential mechanism is handed: scores, epsilon, sensitivity."""
    seen: list = []
    draw = private_choice.choose

    def spy(scores: np.ndarray, epsilon: float, sensitivity: int, source: Seeded) -> int:
        seen.append((scores.tolist(), epsilon, sensitivity))
        return draw(scores, epsilon, sensitivity, source)

    monkeypatch.setattr(private_choice, "choose", spy)
    return seen


@pytest.mark.parametrize("cliques", [PAIRS, CLIQUES], ids=["pairs", "of all sizes"])
@pytest.mark.parametrize("given", [(), ("blurs",), ("weights",), ("blurs", "weights", "costs")])
def test_an_offer_scores_and_costs_what_the_list_does(
    cliques: list, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, seen = np.random.default_rng(7), seen_scores(monkeypatch)
    numbers = {name: rng.integers(1, 90, len(cliques)) for name in given}
    pool = CandidatePool(cliques, **{name: numbers[name] for name in given if name != "costs"})
    pooled, listed = (Curator(records(), BUDGET, source=Seeded(3)) for _ in range(2))
    one, other = products(), products()
    for _ in range(6):
        places = np.sort(rng.permutation(len(cliques))[: rng.integers(1, len(cliques) + 1)])
        costs = numbers["costs"][places] if "costs" in given else None
        first = pooled.choose(pool.offer(places), one, Choice(0.3), costs=costs)
        second = listed.choose(
            [cliques[i] for i in places],
            other,
            Choice(0.3),
            **{name: array[places].tolist() for name, array in numbers.items()},
        )
        assert first == second
        assert seen[-2] == seen[-1]
    assert [charge.losses for charge in pooled.charges] == [charge.losses for charge in listed.charges]


def test_distances_from_products_are_those_of_each_clique_bit_for_bit() -> None:
    estimates = products()
    tables = [marginal.counts.reshape(-1) for marginal in records().count(PAIRS)]
    near = [np.rint(estimates(clique).reshape(-1)).astype(np.int64) + 1 for clique in PAIRS]
    for counts in (tables, near):
        found = estimates.distances(PAIRS, counts)
        expected = [np.rint(estimates(clique).reshape(-1)).astype(np.int64) for clique in PAIRS]
        assert found.tolist() == [misfit(*pair) for pair in zip(counts, expected, strict=True)]


def test_a_pool_is_counted_once_and_what_changes_later_is_not_seen() -> None:
    class Counted(Table):
        asked: list = []  # noqa: RUF012

        def count(self, cliques):  # type: ignore[no-untyped-def]
            self.asked.extend(cliques)
            return super().count(cliques)

    table = records()
    engine = Counted(DOMAIN, dict(table.columns))
    curator, estimates = Curator(engine, BUDGET), products()
    pool = CandidatePool(PAIRS)
    for _ in range(4):
        curator.choose(pool.offer(np.arange(len(PAIRS))), estimates, Choice(0.1))
    assert Counted.asked == PAIRS
    pool.cliques = (("a",),)
    assert 0 <= curator.choose(pool.offer([0, 9]), estimates, Choice(0.1)) < 2
    assert Counted.asked == PAIRS


def test_the_words_of_a_choice_tell_one_offer_from_another() -> None:
    curator, estimates, pool = Curator(records(), BUDGET), products(), CandidatePool(PAIRS)
    for places in ([0, 1], [0, 2], [0, 1]):
        curator.choose(pool.offer(places), estimates, Choice(0.1))
    one, other, again = (charge.question["digest"] for charge in curator.charges)
    assert one == again != other


def test_faults_are_found_before_anything_is_charged() -> None:
    class Sly(CandidatePool):
        pass

    curator, estimates, pool = Curator(records(), BUDGET), products(), CandidatePool(PAIRS)
    wrong = ProductEstimates({name: np.ones(7) for name in SIZES}, 1.0)
    endless = ProductEstimates({name: np.full(size, np.inf) for name, size in SIZES.items()}, 1.0)
    for fault, ask in {
        ParameterError: [
            lambda: curator.choose(pool.offer([]), estimates, Choice(0.1)),
            lambda: curator.choose(pool.offer([1, 0]), estimates, Choice(0.1)),
            lambda: curator.choose(pool.offer([0, 0]), estimates, Choice(0.1)),
            lambda: curator.choose(pool.offer([-1]), estimates, Choice(0.1)),
            lambda: curator.choose(pool.offer([len(PAIRS)]), estimates, Choice(0.1)),
            lambda: curator.choose(pool.offer([0]), estimates, Choice(0.1), blurs=[1]),
            lambda: curator.choose(pool.offer([0]), estimates, Choice(0.1), costs=[1, 2]),
            lambda: curator.choose(Offer(Sly(PAIRS), np.arange(2)), estimates, Choice(0.1)),
            lambda: curator.choose(Offer(pool, [0, 1]), estimates, Choice(0.1)),  # type: ignore[arg-type]
            lambda: curator.choose(pool.offer([0]), wrong, Choice(0.1)),
            lambda: curator.choose(pool.offer([0]), endless, Choice(0.1)),
        ],
        DomainError: [
            lambda: curator.choose(CandidatePool([("a", "x")]).offer([0]), estimates, Choice(0.1)),
            lambda: curator.choose(CandidatePool([PAIRS[0], PAIRS[0]]).offer([0]), estimates, Choice(0.1)),
        ],
    }.items():
        for asked in ask:
            with pytest.raises(fault):
                asked()
    assert curator.charges == ()
    huge = Domain({"a": 10_000, "b": 10_000})
    table = Table(huge, {"a": np.zeros(1, np.int64), "b": np.zeros(1, np.int64)})
    with pytest.raises(SizeError):
        Curator(table, BUDGET).choose(CandidatePool([("a", "b")]).offer([0]), estimates, Choice(0.1))
