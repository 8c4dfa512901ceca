"""How far estimates are off is told with noise for what one unit can do to all distances together."""

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
from understudy.errors import BudgetError, DomainError, ParameterError, ReleaseError
from understudy.privacy import Budget, Choice, Curator, Gaussian, Group, Ledger, Neighbours, Seeded, recompute
from understudy.privacy.curator import noisy_distances
from understudy.privacy.curator.misfit import spread_parts
from understudy.privacy.curator.noisy_distances import PARTS

DOMAIN = Domain({"a": 2, "b": 3, "c": 4})
PAIRS = list(itertools.combinations(DOMAIN.names, 2))
TRIPLE = ("a", "b", "c")
SETS = [*([pair] for pair in PAIRS), [TRIPLE, ("a",)]]
WEIGHTS = [1.0, 2.0, 1.0, 3.0]
BUDGET = Budget(8.0, 1e-3)
RELATIONS = [Neighbours(), Neighbours("add-remove", 3), Neighbours("replace"), Neighbours("replace", 2)]


def engine(records: np.ndarray) -> PlainEngine:
    return PlainEngine({name: records[:, i] for i, name in enumerate(DOMAIN)}, DOMAIN)


def estimate(clique: Any) -> Any:
    """Estimates with every fraction of a record."""
    return np.linspace(0.0, 5.0, DOMAIN.size(clique)) ** 1.3


def asked(records: np.ndarray, neighbours: Neighbours, seed: int, **more: Any) -> Any:
    curator = Curator(engine(records), BUDGET, neighbours=neighbours, source=Seeded(seed))
    return curator.distances(SETS, estimate, Gaussian(4.0, None), **more)


def neighbouring(neighbours: Neighbours, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    def unit() -> Any:
        own = draw.integers(0, list(DOMAIN.values()), (neighbours.records, 3))
        own[:] = own[0] if draw.random() < 0.7 else own
        return own

    rest = draw.integers(0, list(DOMAIN.values()), (int(draw.integers(0, 9)), 3))
    table = np.vstack([rest, unit()])
    return table, np.vstack([rest, unit()]) if neighbours.relation == "replace" else rest


@pytest.mark.parametrize("neighbours", RELATIONS, ids=str)
def test_one_unit_moves_all_distances_together_by_no_more_than_was_charged(neighbours: Neighbours) -> None:
    draw, furthest = np.random.default_rng(neighbours.l1), 0.0
    for seed in range(150):
        one, two = (
            asked(records, neighbours, seed, weights=WEIGHTS) for records in neighbouring(neighbours, draw)
        )
        moved = (
            one.values - two.values
        ) / one.stddev  # the same noise in both: what is left are the distances
        assert float(np.abs((one.values - two.values) * PARTS % 1).max()) == 0.0
        furthest = max(furthest, 4.0 * math.sqrt(float((moved**2).sum())))
    assert furthest <= 1 + 1e-9
    assert furthest > 0.9, "the worst case was never met, so this shows little"


def test_noise_is_that_of_every_distance_moving_at_once() -> None:
    found = asked(np.zeros((1, 3), np.int64), Neighbours("replace", 2), 0)
    assert found.stddev == pytest.approx(
        [4.0 * 4 * 2] * 3 + [4.0 * 4 * 2 * 2]
    )  # sigma, l1, root of 4, cliques


def test_an_answer_is_the_distance_and_noise_of_the_stated_scale() -> None:
    off, sigma = [], 1.5
    exact = people(200)
    counts = {pair: exact.count([pair])[0].counts for pair in itertools.combinations(exact.domain, 2)}
    for seed in range(150):
        curator = Curator(people(200), Budget(20.0, 1e-3), source=Seeded(seed))
        found = curator.distances(
            [[pair] for pair in counts], lambda c: np.full(exact.domain.shape(c), 0.25), Gaussian(sigma, None)
        )
        true = [float(np.abs(table - 0.25).sum()) for table in counts.values()]
        off += ((found.values - true) / found.stddev).tolist()
    assert stats.kstest(off, "norm").pvalue > 1e-6


def test_rounding_keeps_the_sum_of_any_run_of_cells() -> None:
    table = np.random.default_rng(0).exponential(0.003, 5000)
    rounded = spread_parts(PARTS)(table)
    assert (rounded == np.rint(rounded)).all() and (rounded >= 0).all()
    assert np.abs(np.cumsum(rounded) / PARTS - np.cumsum(table)).max() <= 0.5 / PARTS + 1e-9


def test_distances_come_after_choices_in_a_plan_and_verify() -> None:
    curator = Curator(people(), Budget(1.0, 1e-9), source=Seeded(1))
    losses = curator.commit(
        [
            Group("columns", "measure", Fraction(1, 2), weights=(1.0,) * 4),
            Group("select", "choose", Fraction(1, 4), 2),
            Group("check", "measure", Fraction(1, 4)),
        ]
    )
    pairs = list(itertools.combinations(curator.domain, 2))
    curator.measure(list(curator.domain), budget=losses["columns"])
    curator.choose_dependent(pairs, losses["select"])
    found = curator.distances(
        [[pair] for pair in pairs], lambda c: np.zeros(1000)[: curator.domain.size(c)], losses["check"]
    )
    assert len(found.values) == 6
    assert 0.9 < recompute(curator.certificate()) <= 1.0
    with pytest.raises(
        BudgetError, match="order"
    ):  # a choice that could look at what was planned to follow it
        curator.choose_dependent(pairs, losses["select"])
    with pytest.raises(BudgetError, match="not, or no longer"):
        curator.distances([[pair] for pair in pairs], estimate, losses["check"])


def test_the_answer_is_drawn_once_and_resumed(tmp_path: Any) -> None:
    from understudy.privacy import Job

    def ask() -> Any:
        curator = Curator(
            people(), Budget(1.0, 1e-9), ledger=Ledger(tmp_path / "ledger.db"), job=Job("people", "one")
        )
        return curator.distances(
            [[("sex", "age")]], lambda c: np.zeros(20), Gaussian(20.0, None)
        ).values.tolist()

    assert ask() == ask()


@pytest.mark.parametrize(
    "change",
    [
        {"scales": [1.0]},
        {"scales": [1e9]},
        {"scales": []},
        {"summed": [3]},
        {"summed": [0]},
        {"summed": [2**40]},
        {"summed": ["1"]},
        {"summed": []},
        {"losses": [{"kind": "choice", "epsilon": 0.1, "count": 1}]},
    ],
)
def test_a_certificate_with_other_noise_than_was_charged_is_refused(change: dict[str, Any]) -> None:
    curator = Curator(people(), Budget(1.0, 1e-9), source=Seeded(1))
    curator.distances([[("sex", "age")]], lambda c: np.zeros(20), Gaussian(20.0, None))
    honest = curator.certificate()
    recompute(honest)
    forged = copy.deepcopy(honest)
    forged["charges"][0].update(change)
    with pytest.raises(ReleaseError):
        recompute(forged)


def test_a_planted_bug_that_halves_the_noise_is_seen_by_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noisy_distances, "distance_reach", lambda cliques, l1: PARTS * l1 * cliques // 2)
    curator = Curator(people(), Budget(1.0, 1e-9), source=Seeded(1))
    curator.distances([[("sex", "age")]], lambda c: np.zeros(20), Gaussian(20.0, None))
    with pytest.raises(ReleaseError, match="smaller scale"):
        recompute(curator.certificate())


def test_what_cannot_be_asked_is_refused_before_the_charge() -> None:
    curator = Curator(people(), Budget(1.0, 1e-9))
    loss = Gaussian(20.0, None)
    pair = [("sex", "age")]
    for sets, fault in (
        ([], ParameterError),
        ([[]], ParameterError),
        ([[()]], DomainError),
        ([[("x",)]], DomainError),
    ):
        with pytest.raises(fault):
            curator.distances(sets, estimate, loss)
    with pytest.raises(DomainError, match="twice"):
        curator.distances([[*pair, ("age", "sex")]], estimate, loss)
    for weights in ([], [1.0, 1.0], [0.0], [math.nan]):
        with pytest.raises(BudgetError):
            curator.distances([pair], estimate, loss, weights=weights)
    for wrong in (Gaussian(20.0), Choice(0.1), Budget(0.5, 1e-9)):
        with pytest.raises(BudgetError, match="left open"):
            curator.distances([pair], estimate, wrong)  # type: ignore[arg-type]
    for cells in (np.zeros(3), np.full(20, math.nan), np.full(20, 2.0**56)):
        with pytest.raises(ParameterError):
            curator.distances([pair], lambda c, cells=cells: cells, loss)
    assert not curator.charges
