"""The curator: what each question returns, what it refuses before anything is charged, what it certifies."""

from __future__ import annotations

import contextlib
import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_engine import PlainEngine, people

import understudy as us
from understudy.errors import (
    BudgetError,
    DomainError,
    LedgerError,
    OperatorError,
    ParameterError,
    ReleaseError,
    SizeError,
)
from understudy.marginals import Marginal
from understudy.marginals.query import Binned
from understudy.privacy import (
    Approximate,
    Budget,
    Choice,
    Curator,
    Gaussian,
    Group,
    Job,
    Laplace,
    Ledger,
    Neighbours,
    Seeded,
    recompute,
)
from understudy.privacy.accounting.losses import normalised

BUDGET = Budget(1.0, 1e-9)
PAIRS = list(itertools.combinations(("sex", "labforce", "school", "age"), 2))


def plan(columns: int = 4, edges: int = 3) -> list[Group]:
    third = Fraction(1, 3)
    return [
        Group("one-way", "measure", third, weights=(1.0,) * columns),
        Group("select", "choose", third, count=edges),
        Group("two-way", "measure", third),
    ]


def uniform(domain: Any, total: float = 500.0) -> Any:
    return lambda clique: np.full(domain.shape(clique), total / domain.size(clique))


def test_the_lines_that_the_documents_promise_run_as_written() -> None:
    table = people()
    curator = us.Curator(table, budget=us.Budget(epsilon=1.0, delta=1e-9))
    measured = curator.measure([("sex", "labforce"), ("labforce", "school")], budget=curator.budget)
    assert [m.clique for m in measured] == [("sex", "labforce"), ("labforce", "school")]
    assert recompute(curator.certificate()) == pytest.approx(1.0, abs=0.01)
    with pytest.raises(BudgetError, match="whole budget"):
        curator.measure([("sex",)], budget=curator.budget)


def test_every_released_number_is_an_integer_with_the_scale_that_it_says() -> None:
    curator = Curator(people(), Budget(8.0, 1e-6))
    loss = Gaussian(40.0)
    drawn = []
    for _ in range(40):
        (measured,) = curator.measure([("sex", "age")], budget=loss)
        assert (measured.values == np.rint(measured.values)).all()
        assert float(measured.stddev) == pytest.approx(40.0)
        drawn.append(measured.values - people().count([("sex", "age")])[0].counts.reshape(-1))
    assert np.std(drawn) == pytest.approx(40.0, rel=0.15)


def test_weights_are_normalised_so_that_a_batch_costs_what_one_marginal_does() -> None:
    curator = Curator(people(), BUDGET)
    first, second = curator.measure(["sex", "age"], weights=[3.0, 4.0], budget=Gaussian(20.0))
    assert float(first.stddev) == pytest.approx(20.0 * 5 / 3)
    assert float(second.stddev) == pytest.approx(20.0 * 5 / 4)
    assert sum(1 / float(m.stddev) ** 2 for m in (first, second)) <= 1 / 20.0**2


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 7e-40, 3e200])
def test_equal_weights_are_normalised_as_any_others(weight: float) -> None:
    for number in (1, 2, 3, 7, 98, 1000):
        alike = normalised((weight,) * number)
        assert alike == normalised([weight] * number)  # a list takes the long way
        assert normalised(alike) == normalised(list(alike)) == alike


@pytest.mark.parametrize(
    ("neighbours", "factor"),
    [(Neighbours("add-remove", 3), 3.0), (Neighbours("replace"), 2**0.5), (Neighbours("replace", 2), 8**0.5)],
)
def test_noise_grows_with_what_a_unit_can_move(neighbours: Neighbours, factor: float) -> None:
    curator = Curator(people(), BUDGET, neighbours=neighbours)
    (measured,) = curator.measure(["sex"], budget=Gaussian(20.0))
    assert float(measured.stddev) == pytest.approx(20.0 * factor)


def test_a_binned_query_gets_noise_on_its_sums() -> None:
    curator = Curator(people(), BUDGET)
    query = Binned((np.array([0, 1]), np.array([0] * 5 + [1] * 5)))
    (measured,) = curator.measure([("sex", "age")], budget=Gaussian(10.0), queries=[query])
    exact = query.apply(people().count([("sex", "age")])[0].counts.reshape(-1).astype(float))
    assert measured.values.shape == (4,)
    assert np.abs(measured.values - exact).max() < 100


def test_a_plan_is_asked_as_planned_and_no_more() -> None:
    curator = Curator(people(), BUDGET)
    losses = curator.commit(plan())
    curator.measure(["sex", "labforce", "school", "age"], budget=losses["one-way"])
    estimate = uniform(curator.domain)
    for _ in range(3):
        assert 0 <= curator.choose(PAIRS, estimate, losses["select"]) < len(PAIRS)
    with pytest.raises(BudgetError, match="no longer"):
        curator.choose(PAIRS, estimate, losses["select"])
    with pytest.raises(BudgetError, match="plan"):
        curator.measure(["sex"], budget=Gaussian(1e6))
    curator.measure(PAIRS[:3], budget=losses["two-way"])
    with pytest.raises(BudgetError, match="no longer"):
        curator.measure(PAIRS[3:], budget=losses["two-way"])
    with pytest.raises(BudgetError):
        curator.commit(plan())
    assert 0.99 < recompute(curator.certificate()) <= 1.0


def test_planned_weights_cannot_be_swapped_for_others() -> None:
    curator = Curator(people(), BUDGET)
    losses = curator.commit(plan())
    with pytest.raises(BudgetError, match="plan"):
        curator.measure(["sex", "labforce", "school", "age"], weights=[1, 2, 3, 4], budget=losses["one-way"])
    with pytest.raises(BudgetError, match="plan"):
        curator.measure(["sex"], budget=losses["one-way"])


def test_without_a_plan_a_filter_stops_adaptive_questions_at_the_budget() -> None:
    curator = Curator(people(), BUDGET)
    draw = np.random.default_rng(3)
    asked = 0
    with contextlib.suppress(BudgetError):
        while True:  # each scale depends on the answer before it
            (answer,) = curator.measure(["sex"], budget=Gaussian(20.0 + abs(float(draw.normal())) * 5))
            curator.choose(PAIRS, uniform(curator.domain), Choice(0.02 + 1e-6 * abs(float(answer.values[0]))))
            asked += 1
    assert asked > 3
    assert curator.spent.zcdp_epsilon(1e-9) <= 1.0
    assert 0.8 < recompute(curator.certificate()) <= 1.0


def test_parts_of_a_budget_add_up_and_the_rest_can_be_planned() -> None:
    curator = Curator(people(), BUDGET)
    found = curator.discover("city", Budget(0.2, 1e-10))
    curator.measure(["sex"], budget=Budget(0.3, 4e-10))
    assert curator.left == Budget(0.5, 5e-10)
    with pytest.raises(BudgetError, match="more than is left"):
        curator.measure(["sex"], budget=Budget(0.51, 1e-10))
    with pytest.raises(BudgetError, match="more than is left"):
        curator.discover("city", Budget(0.1, 6e-10))
    losses = curator.commit([Group("all", "measure", Fraction(1))])
    curator.measure(["age"], budget=losses["all"])
    assert set(found) <= {"Ely", "Wells", "Truro"}
    certificate = curator.certificate()
    assert [part["epsilon"] for part in certificate["parts"]] == [0.2, 0.3, 0.5]
    assert 0.9 < recompute(certificate) <= 1.0


def test_scores_are_counted_once_for_all_rounds() -> None:
    engine = people()
    curator = Curator(engine, BUDGET)
    estimate = uniform(curator.domain)
    picks = [curator.choose(PAIRS, estimate, Choice(0.02)) for _ in range(20)]
    assert engine.reads == 1
    assert len(set(picks)) > 1
    curator.choose(PAIRS, uniform(curator.domain), Choice(0.02))
    assert engine.reads == 2


def test_scores_are_the_same_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    from understudy.privacy.curator import exact_counts, misfit, private_choice

    offered: list[list[int]] = []
    monkeypatch.setattr(private_choice, "choose", lambda scores, *_: offered.append(scores.tolist()) or 0)
    engine = people()
    Curator(engine, BUDGET).choose(PAIRS, uniform(engine.domain), Choice(0.02))
    monkeypatch.setattr(misfit, "_HELD", 20)  # most estimates are rounded twice
    monkeypatch.setattr(exact_counts, "AT_ONCE", 25)
    Curator(engine, BUDGET).choose(PAIRS, uniform(engine.domain), Choice(0.02))
    assert offered[0] == offered[1]
    assert engine.reads > 3


def test_a_choice_goes_to_the_worst_estimate() -> None:
    engine = people(20_000)
    curator = Curator(engine, Budget(8.0, 1e-6))
    exact = {clique: engine.count([clique])[0].counts for clique in PAIRS}
    wrong = PAIRS[2]

    def estimate(clique: Any) -> Any:
        return exact[clique] + (3000 if clique == wrong else 0)

    assert [curator.choose(PAIRS, estimate, Choice(0.1)) for _ in range(20)] == [2] * 20
    costs = [10**7 if clique == wrong else 0 for clique in PAIRS]
    assert 2 not in [curator.choose(PAIRS, estimate, Choice(0.05), costs=costs) for _ in range(20)]


def test_the_empty_clique_is_a_candidate_without_misfit() -> None:
    curator = Curator(people(), Budget(8.0, 1e-6))
    offered = [("sex", "age"), ()]
    assert curator.choose(offered, uniform(curator.domain), Choice(0.4), costs=[10**6, 0]) == 1


def test_a_recoded_curator_shares_budget_and_questions() -> None:
    curator = Curator(people(), BUDGET)
    losses = curator.commit(plan())
    curator.measure(["sex", "labforce", "school", "age"], budget=losses["one-way"])
    coarse = curator.recode({"age": np.arange(10) // 5})
    assert coarse.domain["age"] == 2
    assert curator.domain["age"] == 10
    (measured,) = coarse.measure([("sex", "age")], budget=losses["two-way"])
    assert measured.values.shape == (4,)
    assert coarse.charges == curator.charges
    assert len(curator.charges) == 2
    with pytest.raises(BudgetError):
        curator.measure([("sex", "age")], budget=losses["two-way"])


def test_a_batch_of_discoveries_pays_with_one_weight_a_column() -> None:
    domain = us.Domain({"sex": 2})
    texts = {"town": ["big"] * 3000 + [f"rare {i}" for i in range(500)], "dish": ["pie"] * 3500}
    curator = Curator(PlainEngine({"sex": [0, 1] * 1750}, domain, texts), BUDGET)
    half = Fraction(1, 2)
    losses = curator.commit(
        [Group("values", "measure", half, weights=(1, 1)), Group("rest", "measure", half)]
    )
    assert tuple(curator.discover("town", losses["values"])) == ("big",)
    assert tuple(curator.discover("dish", losses["values"])) == ("pie",)
    with pytest.raises(BudgetError, match="no longer"):
        curator.discover("town", losses["values"])
    curator.measure(["sex"], budget=losses["rest"])
    assert recompute(curator.certificate()) <= 1.0


def test_a_value_of_one_person_is_named_no_more_often_than_delta() -> None:
    # The threshold against the exact tail: P(k + noise >= threshold), for each value that could appear.
    from understudy.privacy.curator.discovery import gaussian_threshold, laplace_scale, laplace_threshold

    for epsilon, delta, neighbours in itertools.product(
        (0.01, 0.3, 1.0, 8.0),
        (1e-3, 1e-9, 1e-15),
        (Neighbours(), Neighbours("add-remove", 4), Neighbours("replace", 2)),
    ):
        scale = laplace_scale(epsilon, neighbours)
        m = laplace_threshold(scale, delta, neighbours) - neighbours.records
        q = np.exp(-1 / scale)
        assert neighbours.l1 * q**m / (1 + q) <= delta
        m = gaussian_threshold(scale, delta, neighbours) - neighbours.records
        steps = np.arange(m, m + 40 * scale + 50)
        weights = np.exp(-(steps**2) / (2 * scale**2)).sum()
        whole = 1 + 2 * np.exp(-(np.arange(1, 40 * scale + 50) ** 2) / (2 * scale**2)).sum()
        assert neighbours.l1 * weights / whole <= delta


# -- faults: each refused before anything is charged, counted or drawn ------------------------------------------

GOOD = Gaussian(20.0)
FAULTS: dict[str, tuple[type[Exception], Any]] = {
    "nothing to measure": (ParameterError, lambda c: c.measure([], budget=GOOD)),
    "a text for a list": (DomainError, lambda c: c.measure("sex", budget=GOOD)),
    "an unknown column": (DomainError, lambda c: c.measure([("sex", "wage")], budget=GOOD)),
    "a column twice": (DomainError, lambda c: c.measure([("sex", "sex")], budget=GOOD)),
    "a clique twice": (DomainError, lambda c: c.measure([("sex", "age"), ("age", "sex")], budget=GOOD)),
    "an empty clique": (DomainError, lambda c: c.measure([()], budget=GOOD)),
    "a clique of numbers": (DomainError, lambda c: c.measure([(1, 2)], budget=GOOD)),
    "a number for a clique": (DomainError, lambda c: c.measure([3], budget=GOOD)),
    "no budget": (BudgetError, lambda c: c.measure(["sex"])),
    "a number for a budget": (BudgetError, lambda c: c.measure(["sex"], budget=1.0)),
    "a choice for a measurement": (BudgetError, lambda c: c.measure(["sex"], budget=Choice(0.1))),
    "more than all": (BudgetError, lambda c: c.measure(["sex"], budget=Budget(1.1, 1e-9))),
    "a larger delta": (BudgetError, lambda c: c.measure(["sex"], budget=Budget(1.0, 1e-8))),
    "too little noise": (BudgetError, lambda c: c.measure(["sex"], budget=Gaussian(1.0))),
    "hardly any noise": (BudgetError, lambda c: c.measure(["sex"], budget=Gaussian(1e-200))),
    "hardly any pure noise": (ParameterError, lambda c: c.measure(["sex"], budget=Laplace(1e200))),
    "the best of all": (BudgetError, lambda c: c.choose(PAIRS, uniform(c.domain), Choice(1e200))),
    "too few weights": (BudgetError, lambda c: c.measure(["sex", "age"], [1.0], budget=GOOD)),
    "too many weights": (BudgetError, lambda c: c.measure(["sex"], [1.0, 1.0], budget=GOOD)),
    "a weight of zero": (BudgetError, lambda c: c.measure(["sex", "age"], [1.0, 0.0], budget=GOOD)),
    "a negative weight": (BudgetError, lambda c: c.measure(["sex", "age"], [1.0, -1.0], budget=GOOD)),
    "a weight of NaN": (BudgetError, lambda c: c.measure(["sex", "age"], [1.0, float("nan")], budget=GOOD)),
    "an infinite weight": (BudgetError, lambda c: c.measure(["sex", "age"], [1, float("inf")], budget=GOOD)),
    "a weight of text": (BudgetError, lambda c: c.measure(["sex", "age"], [1.0, "2"], budget=GOOD)),
    "a vanishing weight": (ParameterError, lambda c: c.measure(["sex", "age"], [1, 1e-90], budget=GOOD)),
    "too few queries": (ParameterError, lambda c: c.measure(["sex"], budget=GOOD, queries=[])),
    "a matrix query": (ParameterError, lambda c: c.measure(["sex"], budget=GOOD, queries=[np.eye(2)])),
    "bins of another shape": (
        ParameterError,
        lambda c: c.measure(["sex"], budget=GOOD, queries=[Binned((np.array([0, 1, 1]),))]),
    ),
    "a negative bin": (
        ParameterError,
        lambda c: c.measure(["sex"], budget=GOOD, queries=[Binned((np.array([0, -1]),))]),
    ),
    "no candidates": (ParameterError, lambda c: c.choose([], uniform(c.domain), Choice(0.1))),
    "a candidate twice": (
        DomainError,
        lambda c: c.choose([("sex", "age"), ("age", "sex")], uniform(c.domain), Choice(0.1)),
    ),
    "an unknown candidate": (DomainError, lambda c: c.choose([("wage",)], uniform(c.domain), Choice(0.1))),
    "a Gaussian for a choice": (BudgetError, lambda c: c.choose(PAIRS, uniform(c.domain), GOOD)),
    "too large a choice": (BudgetError, lambda c: c.choose(PAIRS, uniform(c.domain), Choice(5.0))),
    "an estimate of NaN": (
        ParameterError,
        lambda c: c.choose(PAIRS, lambda q: np.full(c.domain.shape(q), np.nan), Choice(0.1)),
    ),
    "an infinite estimate": (
        ParameterError,
        lambda c: c.choose(PAIRS, lambda q: np.full(c.domain.shape(q), np.inf), Choice(0.1)),
    ),
    "an estimate of another shape": (
        ParameterError,
        lambda c: c.choose(PAIRS, lambda q: np.zeros(3), Choice(0.1)),
    ),
    "too few costs": (ParameterError, lambda c: c.choose(PAIRS, uniform(c.domain), Choice(0.1), costs=[1])),
    "costs of floats": (
        ParameterError,
        lambda c: c.choose(PAIRS, uniform(c.domain), Choice(0.1), costs=[0.5] * len(PAIRS)),
    ),
    "a discovery without a budget": (BudgetError, lambda c: c.discover("city", None)),
    "a discovery of more than all": (BudgetError, lambda c: c.discover("city", Budget(2.0, 1e-10))),
    "a discovery at a choice": (BudgetError, lambda c: c.discover("city", Choice(0.1))),
    "a discovery of nothing": (DomainError, lambda c: c.discover("", Budget(0.1, 1e-10))),
    "a recoding of an unknown column": (DomainError, lambda c: c.recode({"wage": np.arange(3)})),
    "a recoding of another length": (ParameterError, lambda c: c.recode({"sex": np.arange(3)})),
    "a recoding of floats": (ParameterError, lambda c: c.recode({"sex": np.array([0.0, 1.0])})),
    "a negative code": (ParameterError, lambda c: c.recode({"sex": np.array([0, -1])})),
    "a plan of nothing": (BudgetError, lambda c: c.commit([])),
    "a plan of more than all": (BudgetError, lambda c: c.commit([Group("x", "measure", Fraction(1, 2))])),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_before_anything_is_charged(fault: str, tmp_path: Path) -> None:
    error, ask = FAULTS[fault]
    engine = people(50)
    ledger = Ledger(tmp_path / "ledger")
    curator = Curator(engine, BUDGET, ledger=ledger, job=Job("people", fault))
    before = (tmp_path / "ledger").read_bytes()
    with pytest.raises(error):
        ask(curator)
    assert (tmp_path / "ledger").read_bytes() == before
    assert curator.charges == ()
    assert engine.reads == 0
    assert curator.left == BUDGET


def test_a_batch_too_large_for_memory_is_refused_from_its_domain_alone() -> None:
    domain = us.Domain({f"c{i}": 1000 for i in range(30)})
    curator = Curator(PlainEngine({name: [0] for name in domain}, domain), BUDGET)
    with pytest.raises(SizeError, match="cells"):
        curator.measure([domain.names], budget=GOOD)
    with pytest.raises(SizeError, match="cells"):
        curator.choose([("c0", "c1", "c2")], uniform(domain), Choice(0.1))


@pytest.mark.parametrize("budget", [None, 1.0, (1.0, 1e-9)])
def test_a_curator_needs_a_budget(budget: Any) -> None:
    with pytest.raises(BudgetError):
        Curator(people(50), budget)


def test_a_ledger_without_a_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="come together"):
        Curator(people(50), BUDGET, ledger=Ledger(tmp_path / "ledger"))
    with pytest.raises(ParameterError, match="come together"):
        Curator(people(50), BUDGET, job=Job("people", "x"))


def test_an_engine_that_cannot_count_values_cannot_discover() -> None:
    class Closed:
        domain = us.Domain({"sex": 2})

    with pytest.raises(ParameterError, match="open columns"):
        Curator(Closed(), BUDGET).discover("city", Budget(0.1, 1e-10))  # type: ignore[arg-type]


def test_an_engine_that_counts_in_floats_is_not_believed() -> None:
    class Floats(PlainEngine):
        def count(self, cliques):  # type: ignore[no-untyped-def]
            return [Marginal(m.clique, m.counts * 1.0) for m in super().count(cliques)]

    engine = people(50)
    with pytest.raises(OperatorError, match="integers"):
        Curator(Floats(engine.columns, engine.domain), BUDGET).measure(["sex"], budget=GOOD)


def test_values_that_a_release_cannot_hold_are_passed_over_not_raised() -> None:
    odd = [None, 2.5, float("inf"), ("t",), b"x", "half of \ud83d", 10**5000, 2**63, -(2**63) - 1]
    texts = {"odd": odd * 900 + ["fine"] * 900 + [True] * 900 + [7] * 900}
    curator = Curator(PlainEngine({"sex": [0]}, us.Domain({"sex": 2}), texts), Budget(8.0, 1e-6))
    assert curator.discover("odd", Approximate(0.3, 1e-10)).values == (True, 7, "fine")


def test_constant_and_empty_tables_run_like_any_other() -> None:
    domain = us.Domain({"sex": 2, "one": 1})
    for rows in (0, 1, 30):
        curator = Curator(PlainEngine({"sex": [0] * rows, "one": [0] * rows}, domain, {"city": []}), BUDGET)
        assert [m.values.size for m in curator.measure(["sex", "one"], budget=Gaussian(30.0))] == [2, 1]
        assert curator.choose([("sex", "one")], uniform(domain), Choice(0.1)) == 0
        assert curator.discover("city", Approximate(0.1, 1e-11)).values == ()


# -- resuming and certificates -----------------------------------------------------------------------------------


def job(path: Path, *, stop: int = 99, engine: PlainEngine | None = None) -> list[Any]:
    curator = Curator(engine or people(), BUDGET, ledger=Ledger(path), job=Job("people", "the same job"))
    losses = curator.commit(plan())
    answers: list[Any] = []
    measured = curator.measure(["sex", "labforce", "school", "age"], budget=losses["one-way"])
    answers += [m.values.tolist() for m in measured]
    coarse = curator.recode({"age": (measured[3].values > 50).astype(np.int64)})
    estimate = uniform(coarse.domain)
    answers += [coarse.choose(PAIRS, estimate, losses["select"]) for _ in range(min(stop, 3))]
    if stop > 3:
        answers += [m.values.tolist() for m in coarse.measure(PAIRS[:3], budget=losses["two-way"])]
        answers.append(json.dumps(curator.certificate(), sort_keys=True))
    return answers


def test_an_interrupted_job_resumes_without_a_second_draw(tmp_path: Path) -> None:
    begun = job(tmp_path / "ledger", stop=2)
    whole = job(tmp_path / "ledger")
    assert whole[: len(begun)] == begun
    engine = people()
    assert job(tmp_path / "ledger", engine=engine) == whole
    assert engine.reads == 0, "a finished job read the records again"
    assert Ledger(tmp_path / "ledger").account("people").spent[0] == 1


def test_the_same_job_by_another_version_is_refused_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    first = Curator(people(), BUDGET, ledger=Ledger(path), job=Job("people", "x"))
    first.measure(["sex"], budget=GOOD)
    second = Curator(people(), BUDGET, ledger=Ledger(path), job=Job("people", "x"))
    with pytest.raises(LedgerError, match="not the one"):
        second.measure(["age"], budget=GOOD)
    third = Curator(people(), BUDGET, ledger=Ledger(path), job=Job("people", "x"))
    with pytest.raises(LedgerError, match="not the one"):
        third.recode({"sex": np.array([1, 0])}).measure(["sex"], budget=GOOD)


def test_seeded_noise_is_stamped_and_never_answers_a_private_job(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    curator = Curator(people(), BUDGET, ledger=Ledger(path), job=Job("people", "x"), source=Seeded(1))
    curator.measure(["sex"], budget=GOOD)
    certificate = curator.certificate()
    assert certificate["private"] is False
    assert certificate["statement"].startswith("NOT PRIVATE")
    with pytest.raises(LedgerError, match="source of noise"):
        Curator(people(), BUDGET, ledger=Ledger(path), job=Job("people", "x"))


def test_seeding_every_generator_does_not_repeat_private_noise() -> None:
    import random

    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        curator = Curator(people(), BUDGET)
        drawn.append(curator.measure([("age", "school")], budget=GOOD)[0].values.tolist())
    assert drawn[0] != drawn[1]


def certificate() -> dict[str, Any]:
    curator = Curator(people(), BUDGET, neighbours=Neighbours("replace", 2))
    losses = curator.commit(plan())
    curator.measure(["sex", "labforce", "school", "age"], budget=losses["one-way"])
    curator.choose(PAIRS, uniform(curator.domain), losses["select"])
    return json.loads(json.dumps(curator.certificate()))


def test_a_certificate_says_all_that_is_needed_to_recompute_it() -> None:
    told = certificate()
    for key in ("epsilon", "delta", "unit", "neighbours", "accountant", "version", "slack", "charges"):
        assert key in told
    assert told["unit"] == "a unit with at most 2 records"
    assert 0 < told["slack"] < 1e-40
    assert 0 < recompute(told) <= 1.0


@pytest.mark.parametrize(
    "forge",
    [
        lambda c: c.update(epsilon=0.5),
        lambda c: c["parts"][0].update(epsilon=0.01),
        lambda c: c["parts"][0].update(delta=1e-40),
        lambda c: c["parts"][0].update(delta=float("nan")),
        lambda c: c["charges"][0]["losses"][0].update(sigma=0.1),
        lambda c: c["charges"][0].update(scales=[1.0] * 4),
        lambda c: c["charges"][0].update(scales=[]),
        lambda c: c["charges"][0].update(part=7),
        lambda c: c["charges"][0].pop("losses"),
        lambda c: c["neighbours"].update(records=3),
        lambda c: c.pop("parts"),
        lambda c: c.update(charges=[1]),
        lambda c: c["charges"][1]["losses"][0].update(epsilon=-1),
        lambda c: c["charges"][1]["losses"][0].update(epsilon=9.0),
    ],
)
def test_a_forged_certificate_does_not_hold(forge: Any) -> None:
    told = certificate()
    forge(told)
    with pytest.raises(ReleaseError):
        recompute(told)


def test_a_large_epsilon_is_recorded_as_meant() -> None:
    curator = Curator(people(), Budget(50.0, 1e-9, allow_large_epsilon=True))
    curator.measure(["sex"], budget=curator.budget)
    assert curator.certificate()["allow_large_epsilon"] is True
    assert recompute(curator.certificate()) <= 50.0


def test_a_pure_loss_of_a_plan_measures_as_many_marginals_as_it_has_answers() -> None:
    curator = Curator(people(), BUDGET)
    half = Fraction(1, 2)
    losses = curator.commit([Group("pure", "laplace", half, count=2), Group("rest", "measure", half)])
    assert isinstance(losses["pure"], Laplace)
    first, second = curator.measure(["sex", "age"], budget=losses["pure"])
    assert first.stddev == second.stddev == pytest.approx(2**0.5 / losses["pure"].epsilon)
    assert recompute(curator.certificate()) <= BUDGET.epsilon
    with pytest.raises(BudgetError):
        curator.measure(["sex"], budget=losses["pure"])
