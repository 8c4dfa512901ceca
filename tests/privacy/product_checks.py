"""What must hold of the whole product: checks that raise AssertionError where a promise of privacy is broken.

Each goes through the curator's own door, so that a bug planted anywhere behind it is seen. `test_mutations`
shows that the product passes all of them, and that each planted bug fails the one that is named for it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from audit_worlds import Filled, audit
from plain_engine import PlainEngine
from rows_engine import base_and_target, rows
from sampling_checks import check_choice_law, check_tails, chi_square, unreachable
from scipy import stats

from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import BudgetError
from understudy.marginals.interactions import Interactions
from understudy.privacy import Budget, Choice, Curator, Gaussian, Job, Ledger, Neighbours
from understudy.privacy.curator import private_choice
from understudy.privacy.curator.verification import recompute
from understudy.privacy.noise.randomness import OperatingSystem, Seeded

ALPHA = 1e-9
BUDGET = Budget(1.0, 1e-5)
LARGE = Budget(60.0, 0.1, allow_large_epsilon=True)  # for noise of any scale
AMPLE = Budget(1e6, 0.5, allow_large_epsilon=True)  # for one choice, repeated a thousand times


def _noise(sigma: float, size: int, columns: int = 1) -> np.ndarray:
    """Released noise on empty counts at a scale, one row a marginal."""
    names = tuple(f"c{i}" for i in range(columns))
    curator = Curator(Filled(np.zeros(size, dtype=np.int64), names), LARGE)
    measured = curator.measure(names, budget=Gaussian(sigma / math.sqrt(columns)))
    assert all(abs(float(m.stddev) / sigma - 1) < 1e-9 for m in measured)
    return np.stack([m.values for m in measured])


def _released(sigma: float, size: int) -> np.ndarray:
    values = _noise(sigma, size)[0]
    assert np.array_equal(values, np.rint(values)), "a released count is not an integer"
    return values.astype(np.int64)


# -- noise ---------------------------------------------------------------------------------------------


def check_released_noise_follows_its_stated_scale() -> None:
    for sigma in (0.7, 3.0, 10.0, 900.0):
        assert chi_square(2, sigma, _released(sigma, 400_000)) > ALPHA, f"another law at {sigma}"


def check_released_counts_are_integers() -> None:
    values = _noise(10.0, 100_000)[0]
    assert np.array_equal(values, np.rint(values)), "a released count is not an integer"
    assert unreachable(values) == 0, "some outputs give a count away"


def check_released_tails_are_whole() -> None:
    check_tails(2, 3.0, _released)


def check_totals_are_noisy() -> None:
    """Nobody learns the number of records: a marginal's sum is as noisy as its cells together."""
    sigma, cells, columns = 5.0, 64, 400
    sums = _noise(sigma, cells, columns).sum(axis=1)
    spread = float((sums**2).sum() / (cells * sigma**2))
    assert min(stats.chi2.cdf(spread, columns), stats.chi2.sf(spread, columns)) > ALPHA, "totals give n away"


def check_no_noise_is_used_twice() -> None:
    rows = _noise(10.0, 2000, 6)
    again = _noise(10.0, 2000, 6)
    every = np.vstack([rows, again])
    related = np.corrcoef(every) - np.eye(len(every))
    assert np.abs(related).max() < 8 / math.sqrt(2000), "two measurements share their noise"


def check_no_seed_reaches_the_noise() -> None:
    runs = []
    for _ in range(2):
        random.seed(3)
        np.random.seed(3)  # noqa: NPY002
        runs.append(_noise(100.0, 64).tolist())
    assert runs[0] != runs[1], "a seed decides the noise"


def _distances(columns: int, neighbours: Neighbours, sigma: float = 8.0) -> np.ndarray:
    """Released distances of an empty table from nothing, in units of the noise that is due to so many of them."""
    names = tuple(f"c{i}" for i in range(columns))
    curator = Curator(Filled(np.zeros(2, dtype=np.int64), names), LARGE, neighbours=neighbours)
    loss = Gaussian(sigma, None, neighbours)
    found = curator.distances([[(name,)] for name in names], lambda _: np.zeros(2), loss)
    return found.values / (sigma * neighbours.l1 * math.sqrt(columns))


def check_interactions_have_the_noise_of_what_one_unit_moves() -> None:
    """By brute force: the furthest that one unit moves what is asked, over all cells that it may be in or go to."""
    query = Interactions((2, 30), [(0,), (1,)])
    alone = [query.apply(table) for table in np.eye(60, dtype=np.int64)]
    added = max(float((moved**2).sum()) for moved in alone)
    replaced = max(float(((one - alone[0]) ** 2).sum()) for one in alone)
    for neighbours, squares in (
        (Neighbours(), added),
        (Neighbours(records=3), 9 * added),
        (Neighbours("replace"), replaced),
    ):
        sigma, least = 8.0, math.sqrt(squares)
        values = []
        for _ in range(40):
            empty = PlainEngine({name: np.zeros(0, np.int64) for name in "ab"}, Domain({"a": 2, "b": 30}))
            curator = Curator(empty, LARGE, neighbours=neighbours)
            (found,) = curator.measure([("a", "b")], None, Gaussian(sigma, None, neighbours), [query])
            values.append(found.values / (sigma * least))
        spread, count = float((np.concatenate(values) ** 2).sum()), 40 * 60
        assert stats.chi2.cdf(spread, count) > ALPHA, "interactions have less noise than is due"
        assert stats.chi2.sf(spread, count) > ALPHA, "interactions have more noise than is due"


def check_distances_have_the_noise_of_all_moving_at_once() -> None:
    for neighbours in (Neighbours(), Neighbours("replace"), Neighbours(records=3)):
        values = np.concatenate([_distances(500, neighbours) for _ in range(6)])
        spread = float((values**2).sum())
        assert stats.chi2.cdf(spread, values.size) > ALPHA, "distances have less noise than is due"
        assert stats.chi2.sf(spread, values.size) > ALPHA, "distances have more noise than is due"


# -- audits --------------------------------------------------------------------------------------------


def _audited(neighbours: Neighbours, **more: object) -> None:
    result = audit(BUDGET, neighbours, runs=250_000, repeats=1, **more)  # type: ignore[arg-type]
    assert result.proved <= result.claim, f"an attacker proves epsilon {result.proved:.2f}"
    assert result.ceiling <= result.claim, f"measurements alone cost epsilon {result.ceiling:.2f}"


def check_audit_proves_no_more_than_the_claim() -> None:
    _audited(Neighbours())


def check_audit_of_replaced_records() -> None:
    _audited(Neighbours("replace"))


def check_audit_of_units_with_several_records() -> None:
    _audited(Neighbours(records=3))


def check_audit_of_weighted_batches() -> None:
    _audited(Neighbours(), weights=[1.0, 2.0, 3.0, 0.5, 8.0])


# -- choice --------------------------------------------------------------------------------------------


def _estimates(scores: list[int], records: int) -> object:
    """Estimates whose misfit with `records` identical records is each wanted score."""
    return lambda clique: np.array([records + scores[int(clique[0][1:])], 0.0])


def check_choices_follow_half_the_exponent() -> None:
    scores = [6, 4, 2, 0]
    base, _ = base_and_target(len(scores))
    for neighbours, sensitivity in (
        (Neighbours(), 1),
        (Neighbours("replace"), 2),
        (Neighbours(records=2), 2),
    ):
        curator = Curator(base, AMPLE, neighbours=neighbours)
        estimates = _estimates(scores, 3)
        candidates = [(name,) for name in base.domain]

        def pick(_: np.ndarray, epsilon: float, __: int, curator=curator, estimates=estimates) -> int:
            return curator.choose(candidates, estimates, Choice(epsilon))  # noqa: B023

        check_choice_law(pick, scores, 1.0, sensitivity, draws=1200)


@contextmanager
def _seen_scores() -> Iterator[list[np.ndarray]]:
    """Every array of scores from which the curator draws a choice."""
    seen: list[np.ndarray] = []
    draw = private_choice.choose

    def spy(scores: np.ndarray, epsilon: float, sensitivity: int, source: object) -> int:
        seen.append(np.array(scores))
        return draw(scores, epsilon, sensitivity, source)  # type: ignore[arg-type]

    private_choice.choose = spy
    try:
        yield seen
    finally:
        private_choice.choose = draw


def check_scores_are_exact_integers_of_sensitivity_one() -> None:
    """Scores are sums of integers whatever the estimates, and one record moves each by at most one."""
    rng = np.random.default_rng(0)
    domain = Domain({"a": 3, "b": 2, "c": 5})
    candidates = [("a",), ("b", "c"), ("a", "c"), ("a", "b", "c")]
    for _ in range(60):
        records = np.column_stack([rng.integers(0, size, 20) for size in domain.values()])
        tables = {c: rng.uniform(0, 3, domain.shape(c)) for c in candidates}
        with _seen_scores() as seen:
            for codes in (records, records[1:]):
                Curator(rows(domain, codes), AMPLE).choose(candidates, lambda c: tables[c], Choice(1.0))  # noqa: B023
        exact = [
            int(np.abs(m.counts - np.rint(tables[m.clique]).astype(int)).sum())
            for m in rows(domain, records).count(candidates)
        ]
        assert seen[0].dtype == np.int64
        assert seen[0].tolist() == exact, "scores are not the misfit of rounded estimates"
        assert np.abs(seen[0] - seen[1]).max() <= 1, "a record moves a score by more than one"


# -- neighbours ----------------------------------------------------------------------------------------


def check_neighbours_stay_as_close_as_declared() -> None:
    """With the same noise, neighbours' answers have the same shapes and differ by one cell a marginal."""
    rng = np.random.default_rng(1)
    domain = Domain({"a": 3, "b": 2, "c": 5})
    cliques = [("a",), ("b",), ("c",), ("a", "c")]
    for seed in range(100):
        records = np.column_stack([rng.integers(0, size, rng.integers(1, 8)) for size in (1,)] * 3)
        records[0] = [2, 1, 4]  # a record that is the only one with its values
        answers = [
            Curator(rows(domain, codes), LARGE, source=Seeded(seed)).measure(cliques, budget=Gaussian(4.0))
            for codes in (records, records[1:])
        ]
        for one, other in zip(*answers, strict=True):
            assert one.values.size == other.values.size, "a record changes the shape of a release"
            assert np.abs(one.values - other.values).sum() <= 1, "a record moves more than one cell by one"


def check_units_contribute_no_more_than_declared() -> None:
    """With the same noise, a person with ten records moves counts by no more than the three declared."""
    units = [0] * 10 + [1, 2, 2, 3, 3, 3]
    codes = {"a": [1] * 10 + [0, 1, 0, 1, 1, 0]}
    answers = []
    for start in (0, 10):
        table = Table({"a": 2}, {"a": codes["a"][start:]}).bound(units[start:], 3)
        curator = Curator(table, BUDGET, neighbours=Neighbours(records=3), source=Seeded(5))
        answers.append(curator.measure(["a"], budget=BUDGET)[0].values)
    assert np.abs(answers[0] - answers[1]).sum() <= 3, "a person contributes more than declared"


def check_rare_values_are_not_named() -> None:
    """A value that one person alone holds is named with probability delta, not more."""
    values = ["common"] * 500 + ["canary"]
    for _ in range(200):
        curator = Curator(PlainEngine({}, Domain({}), {"city": values}), BUDGET)
        named = curator.discover("city", BUDGET)
        assert "canary" not in tuple(named), "a value of one person was named"


# -- ledger and certificate ----------------------------------------------------------------------------


class _Broken(Filled):
    """An engine that dies when it is asked to count."""

    def count(self, cliques: object) -> list:  # type: ignore[override]
        raise KeyboardInterrupt


def check_the_charge_is_on_disk_before_the_count(folder: Path) -> None:
    ledger = Ledger(folder / "ledger.sqlite")
    broken = _Broken(np.zeros(2, dtype=np.int64), ("a",))
    curator = Curator(broken, BUDGET, ledger=ledger, job=Job("people", "one"))
    with suppress(KeyboardInterrupt):
        curator.measure(["a"], budget=BUDGET)
    on_disk = Ledger(folder / "ledger.sqlite", create=False).account("people").spent
    assert float(on_disk[0]) >= BUDGET.epsilon, "records were counted before the charge was written"
    assert float(on_disk[1]) >= BUDGET.delta, "records were counted before the charge was written"


def check_overspending_is_refused(folder: Path) -> None:
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.set_limit("people", 1.5, 1e-4)
    engine = Filled(np.zeros(2, dtype=np.int64), ("a",))
    Curator(engine, BUDGET, ledger=ledger, job=Job("people", "one"))
    try:
        Curator(engine, BUDGET, ledger=ledger, job=Job("people", "two"))
    except BudgetError:
        return
    raise AssertionError("more was spent than the limit allows")


def check_a_job_done_twice_draws_once(folder: Path) -> None:
    engine = Filled(np.zeros(1000, dtype=np.int64), ("a",))
    answers = []
    for _ in range(2):
        ledger = Ledger(folder / "ledger.sqlite")
        curator = Curator(engine, BUDGET, ledger=ledger, job=Job("people", "one"))
        answers.append(curator.measure(["a"], budget=BUDGET)[0].values)
    assert np.array_equal(*answers), "the same job drew its noise twice: their mean has less of it"


def check_seeded_noise_is_stamped() -> None:
    engine = Filled(np.zeros(4, dtype=np.int64), ("a",))
    for source, private in ((Seeded(1), False), (OperatingSystem(), True)):
        curator = Curator(engine, BUDGET, source=source)
        curator.measure(["a"], budget=BUDGET)
        certificate = curator.certificate()
        assert certificate["private"] is private, "seeded noise passes for private"
        assert ("NOT PRIVATE" in certificate["statement"]) is not private


def check_the_certificate_adds_up() -> None:
    engine = Filled(np.zeros(4, dtype=np.int64), ("a", "b"))
    curator = Curator(engine, BUDGET)
    curator.measure(["a"], budget=Budget(0.6, 5e-6))
    curator.measure(["b"], budget=Budget(0.4, 5e-6))
    assert 0.9 < recompute(curator.certificate()) <= BUDGET.epsilon
    try:
        curator.measure(["a"], budget=Budget(0.1, 1e-7))
    except BudgetError:
        return
    raise AssertionError("the curator answers beyond its budget")
