"""The adaptive mechanism measures what is worth its noise, and spends no more than it was given."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

import understudy as us
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import BudgetError, DomainError, ParameterError
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.mechanisms.adaptive.measured_tables import MeasuredTables
from understudy.mechanisms.adaptive.one_way_share import one_way_share
from understudy.mechanisms.tables.noise_price import OF_CELL, noise_price
from understudy.pipeline.charged import check_charged
from understudy.privacy import Choice, Seeded, recompute


def chained(rows: int, columns: int = 6, seed: int = 0) -> Table:
    """Binary columns, each mostly the one before it: every pair depends, a chain explains it all."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 2, rows)]
    for _ in range(columns - 1):
        codes.append(np.where(rng.random(rows) < 0.85, codes[-1], 1 - codes[-1]))
    return Table(Domain(dict.fromkeys("abcdefgh"[:columns], 2)), dict(zip("abcdefgh", codes, strict=False)))


def fitted(table: Table, epsilon: float, mechanism: us.Adaptive | None = None) -> tuple[us.Curator, us.Fit]:
    curator = us.Curator(table, us.Budget(epsilon, 1e-9), source=Seeded(3))
    return curator, (mechanism or us.Adaptive())(curator, table.domain, curator.budget)


def test_pairs_that_depend_are_measured_where_records_are_many() -> None:
    table = chained(20_000)
    curator, fit = fitted(table, 1.0)
    assert {len(m.clique) for m in fit.measurements} >= {1, 2}
    for pair in ("ab", "af", "cd"):
        (real,) = table.count([tuple(pair)])
        made = fit.field.marginal(tuple(pair)).counts
        assert np.abs(made - real.counts).sum() / (2 * real.counts.sum()) < 0.02
    assert 0.8 < recompute(curator.certificate()) <= 1.0


def test_columns_get_everything_where_noise_hides_every_pair() -> None:
    curator, fit = fitted(chained(60), 0.05)
    assert {len(m.clique) for m in fit.measurements} == {1}
    assert not [charge for charge in curator.certificate()["charges"] if charge["question"] == "choose"]


@pytest.mark.parametrize("rows", [30, 60, 300, 3_000])
def test_every_measurement_was_paid_for(rows: int) -> None:
    """Those of columns alone too, whose two looks are averaged for the model but released as they were asked."""
    for epsilon in (0.05, 0.5, 5.0):
        curator, fit = fitted(chained(rows), epsilon)
        check_charged(curator.certificate(), fit.measurements, fit.field, fit.compression)


def test_all_that_was_set_aside_for_measuring_is_spent() -> None:
    for rows in (60, 300, 3_000, 30_000):
        curator, fit = fitted(chained(rows), 1.0)
        shares = {group.name: group.share for group in us.Adaptive().plan(curator.domain)}
        spent = [
            charge.losses[0].rho for charge in curator.charges if charge.question["question"] != "choose"
        ]
        chosen = [
            charge.losses[0].rho for charge in curator.charges if charge.question["question"] == "choose"
        ]
        planned = spent[0] / float(shares["look"])  # the rho of all
        assert sum(spent) >= planned * float(shares["look"] + shares["measure"]) * (1 - 1e-9)
        if not chosen:  # what choices were worth is measured
            assert sum(spent) == pytest.approx(planned, rel=1e-9)
        assert sum(spent) + sum(chosen) <= planned * (1 + 1e-9)
        assert rows > 60 or not chosen, fit.decisions


def test_choices_of_early_and_late_rounds_are_as_many_and_as_noisy_as_was_planned() -> None:
    """What one stage leaves unasked must not pay for more choices, or for surer ones, of another."""
    table = chained(20_000)
    curator = us.Curator(table, us.Budget(1.0, 1e-9), source=Seeded(3))
    recipe = us.Adaptive(cell_limit=60)  # too few for all pairs at once
    losses = curator.commit(recipe.plan(table.domain))
    recipe(curator, table.domain, losses)
    stages = {stage.name: losses[stage.name] for stage in recipe.stages(table.domain)}
    planned = {loss.epsilon: loss.count for loss in stages.values() if isinstance(loss, Choice)}
    assert len(planned) == len(stages) == 3
    asked = collections.Counter(c["epsilon"] for c in curator.certificate()["charges"] if "candidates" in c)
    assert asked.keys() <= planned.keys() and all(asked[epsilon] <= planned[epsilon] for epsilon in asked)
    offered, tree = [("a", "b"), ()], stages["tree"]
    for _ in range(planned[tree.epsilon] - asked[tree.epsilon]):
        curator.choose(offered, lambda clique: np.zeros(2 ** len(clique)), tree)
    with pytest.raises(BudgetError):
        curator.choose(offered, lambda clique: np.zeros(2 ** len(clique)), tree)


def test_all_pairs_of_few_codes_are_measured_at_once_where_noise_leaves_them() -> None:
    """Nothing is chosen first; each column of two codes is told by one pair, and left out of the others."""
    table = stars(20_000)
    curator, fit = fitted(table, 0.5, us.Adaptive(rounds=1))
    chosen = [m.clique for m in fit.measurements if len(m.clique) > 1]
    assert sorted({*chosen}) == sorted(itertools.combinations("abcdefgh", 2))
    assert len(chosen) == 2 * len({*chosen})  # once more for the choices that were not made
    assert not [charge for charge in curator.certificate()["charges"] if charge["question"] == "choose"]
    left_out = {
        m.clique: len(m.query.left_out) for m in fit.measurements if isinstance(m.query, Interactions)
    }
    assert left_out == {pair: 1 if pair in [*zip("aceg", "bdfh", strict=True)] else 3 for pair in chosen}
    check_charged(curator.certificate(), fit.measurements, fit.field, fit.compression)
    assert recompute(curator.certificate()) <= 0.5


def test_all_pairs_are_nearer_than_chosen_ones_where_every_pair_depends() -> None:
    table, pairs = stars(20_000), list(itertools.combinations("abcdefgh", 2))
    errors = {}
    for recipe in (us.Adaptive(), us.Adaptive(cell_limit=200)):
        found = [_fit_of(table, recipe, seed) for seed in range(6)]
        errors[recipe.cell_limit] = np.mean([misfit(table, fit, "".join(p)) for fit in found for p in pairs])
    assert errors[None] < 0.9 * errors[200]


def _fit_of(table: Table, recipe: us.Adaptive, seed: int, epsilon: float = 0.1) -> us.Fit:
    curator = us.Curator(table, us.Budget(epsilon, 1e-9), source=Seeded(seed))
    return recipe(curator, table.domain, curator.budget)


@pytest.mark.parametrize("rows", [60, 400])
def test_pairs_are_chosen_where_noise_would_hide_much_of_all_of_them(rows: int) -> None:
    _, fit = fitted(stars(rows), 0.5)
    assert len({m.clique for m in fit.measurements if len(m.clique) > 1}) < 28


def test_binary_columns_are_never_merged_into_one_code() -> None:
    for rows in (300, 3_000):
        _, fit = fitted(chained(rows), 0.5)
        assert all(codes.max() == 1 for codes in fit.compression.maps.values())


def test_one_column_is_measured_with_the_whole_budget() -> None:
    curator, fit = fitted(chained(500, columns=1), 1.0)
    assert [m.clique for m in fit.measurements] == [("a",)]
    assert recompute(curator.certificate()) > 0.95


def test_the_model_stays_within_its_cells() -> None:
    _, fit = fitted(chained(50_000, columns=8), 10.0, us.Adaptive(cell_limit=40))
    assert fit.field.tree.cells <= 40  # type: ignore[attr-defined]


def test_more_noise_costs_more_and_never_more_than_what_cells_hold() -> None:
    expected = np.array([0.0, 1.0, 10.0, 1000.0])
    prices = [noise_price(expected, scale) for scale in (0.1, 1.0, 10.0, 1e6)]
    assert prices == sorted(prices)
    assert prices[-1] == pytest.approx(OF_CELL * expected.sum())


def test_columns_of_many_codes_are_worth_a_larger_share_than_binary_ones() -> None:
    binary = {name: np.array([4e4, 6e4]) for name in "abcdef"}
    wide = {name: np.full(200, 500.0) for name in "abcdef"}
    assert one_way_share(binary, 1e5, 500.0, 50.0).share < one_way_share(wide, 1e5, 500.0, 50.0).share


@pytest.mark.parametrize("wrong", [{"rounds": -1}, {"rounds": True}, {"cell_limit": 0}, {"rounds": 1.5}])
def test_numbers_out_of_their_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        us.Adaptive(**wrong)  # type: ignore[arg-type]


def misfit(table: Table, fit: us.Fit, clique: str) -> float:
    (real,) = table.count([tuple(clique)])
    return float(
        np.abs(fit.field.marginal(tuple(clique)).counts - real.counts).sum() / (2 * real.counts.sum())
    )


def stars(rows: int = 4_000) -> Table:
    """Columns that all lean a little on each other, so that no tree holds every pair."""
    rng = np.random.default_rng(5)
    mood = rng.random(rows)
    codes = {name: (rng.random(rows) < 0.2 + 0.6 * mood).astype(np.int64) for name in "abcdefgh"}
    return Table(Domain(dict.fromkeys("abcdefgh", 2)), codes)


def test_budget_goes_where_the_workload_asks() -> None:
    table, asked = stars(), ["ac", "be", "dh"]
    errors = []
    for recipe in (us.Adaptive(workload=[tuple(pair) for pair in asked]), us.Adaptive()):
        found = [_fit_of(table, recipe, seed, 0.5) for seed in range(6)]
        errors.append(np.mean([misfit(table, fit, pair) for fit in found for pair in asked]))
        if recipe.workload is not None:
            measured = {frozenset(m.clique) for fit in found for m in fit.measurements if len(m.clique) > 1}
            assert measured <= {*map(frozenset, asked)}
    assert errors[0] < errors[1]


def test_what_holds_the_target_is_chosen_first() -> None:
    curator, fit = fitted(stars(20_000), 0.5, us.Adaptive(target="h", rounds=1))
    chosen = [m.clique for m in fit.measurements if len(m.clique) > 1]
    assert chosen and sum("h" in clique for clique in chosen) > len(chosen) / 2
    assert recompute(curator.certificate()) <= 0.5


def test_a_workload_of_pairs_measures_no_triples_and_one_of_columns_nothing_else() -> None:
    for workload, orders in (("2-way", {1, 2}), ("1-way", {1})):
        _, fit = fitted(chained(20_000), 3.0, us.Adaptive(workload=workload))
        assert {len(m.clique) for m in fit.measurements} == orders


def test_a_workload_of_columns_that_are_not_there_is_refused_before_anything_is_spent() -> None:
    curator = us.Curator(chained(10), us.Budget(1.0, 1e-9), source=Seeded(3))
    for mechanism in (us.Adaptive(target="height"), us.Adaptive(workload=[("a", "height")])):
        with pytest.raises(DomainError, match="height"):
            mechanism(curator, chained(10).domain, curator.budget)
    assert not curator.charges


def test_a_combination_that_noise_alone_fills_is_not_made() -> None:
    """Children have no income: noise of 50 in each of its twenty cells must not give one to a child in thirty."""
    real = np.zeros((12, 21))
    real[:2, 20], real[2:, :20] = 400, 30  # the last code says that none is stated
    given = []
    for seed in range(10):
        noise = np.random.default_rng(seed)
        alone = [
            Measurement((name,), real.sum(axis=1 - axis) + noise.normal(0, 30, real.shape[axis]), 30.0)
            for axis, name in enumerate(("age", "income"))
        ]
        sizes = {"age": 12, "income": 21}
        unstated = {"age": np.zeros(12, np.bool_), "income": np.arange(21) == 20}
        tables = MeasuredTables(Domain(sizes), alone, real.sum(), {"age": 12, "income": 20}, unstated)
        pair = ("age", "income")
        tables.add([Measurement(pair, real.ravel() + noise.normal(0, 50, real.size), 50.0)])
        children = np.asarray(tables.field.marginal(pair).counts)[:2]
        given.append(children[:, :20].sum() / children.sum())
    assert np.mean(given) < 0.005


def test_what_holds_the_target_is_measured_with_less_noise_than_what_does_not() -> None:
    _, fit = fitted(stars(20_000), 1.0, us.Adaptive(target="h", rounds=1))
    noise = {m.clique: float(m.stddev) for m in fit.measurements if len(m.clique) == 1}
    again = [m for m in fit.measurements if len(m.clique) == 1][8:]  # after the first look
    told = {m.clique[0]: float(m.stddev) for m in again} or {name: scale for (name,), scale in noise.items()}
    others = [scale for name, scale in told.items() if name != "h"]
    assert told["h"] < min(others)


def test_columns_that_no_set_of_a_workload_names_are_measured_all_the_same() -> None:
    _, fit = fitted(stars(), 0.5, us.Adaptive(workload=[("a", "b")]))
    assert {m.clique[0] for m in fit.measurements if len(m.clique) == 1} == set("abcdefgh")
