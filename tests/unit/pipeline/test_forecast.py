"""A plan says, from the schema alone, how much noise, memory and advice to expect."""

from __future__ import annotations

import pytest

import understudy as us
from understudy.domain import Category, Integer, Number, Schema
from understudy.pipeline.forecast import forecast
from understudy.privacy import Budget, Neighbours
from understudy_contest import FieldGroups, PrivBayes, PrivSyn

BUDGET = Budget(1.0, 1e-9)


def table(columns: int, codes: int = 10) -> Schema:
    return Schema({f"c{i}": Category(tuple(range(codes))) for i in range(columns)}, name="table")


def test_the_noise_of_mst_over_98_columns_is_about_as_small_as_is_known_to_be_enough() -> None:
    thirds = us.MST(one_way=1, select=1, two_way=1)
    said = forecast(table(98), thirds, BUDGET, rows=661_000, check=False).to_dict()
    groups = {group["name"]: group for group in said["groups"]}
    for name, marginals in (("one-way", 98), ("two-way", 97)):
        assert groups[name]["sigma"] == pytest.approx(9.510, rel=1e-3)
        assert groups[name]["marginals"] == marginals
    assert groups["select"]["sigma"] is None and groups["select"]["marginals"] == 97


def test_replacing_a_person_costs_more_noise_than_adding_one() -> None:
    schema = table(5)
    sigmas = [
        forecast(schema, us.Independent(), BUDGET, neighbours=relation).marginals[0].scale
        for relation in (Neighbours(), Neighbours("replace"), Neighbours("add-remove", 3))
    ]
    assert sigmas[0] < sigmas[1] < sigmas[2]


def test_expected_error_falls_with_rows_and_needs_a_row_figure() -> None:
    few, many = (forecast(table(5), us.MST(), BUDGET, rows=rows) for rows in (10**4, 10**6))
    assert all(a.error > b.error for a, b in zip(few.marginals, many.marginals, strict=True))
    unknown = forecast(table(5), us.MST(), BUDGET)
    assert unknown.seconds is None and unknown.marginals[0].error is None


def test_every_measured_marginal_is_named_with_its_cells() -> None:
    found = forecast(table(4), us.Fixed([("c0", "c1")]), BUDGET, rows=1000).marginals
    assert [(m.clique, m.cells) for m in found] == [(("c0", "c1"), 121), (("c2",), 11), (("c3",), 11)]


def test_families_of_a_network_are_planned_as_large_as_the_noise_allows() -> None:
    schema = table(20)
    small, large = (forecast(schema, PrivBayes(), BUDGET, rows=rows) for rows in (10**4, 10**9))
    assert all(len(m.clique) == 1 for m in small.marginals)
    assert max(m.cells for m in large.marginals) == 11**3 and large.cells == 11 + 19 * 11**3
    assert small.scans.codes == large.scans.codes == 21 and not small.advice


def test_a_vast_histogram_is_planned_as_large_as_records_can_fill_it() -> None:
    schema = table(12)
    found = forecast(schema, FieldGroups([schema.columns]), BUDGET, rows=50_000)
    (group,) = found.marginals
    assert group.cells == 11**12 and found.cells == 50_000 and found.fits
    assert forecast(schema, FieldGroups([schema.columns]), BUDGET).fits


def test_the_pairs_of_privsyn_are_planned_one_by_one() -> None:
    found = forecast(table(5), PrivSyn(), BUDGET, rows=10**6)
    assert sum(len(m.clique) == 2 for m in found.marginals) == 10 and found.cells == 10 * 121 + 5 * 11


def test_codes_that_will_be_merged_do_not_count() -> None:
    schema = Schema({f"c{i}": Integer(0, 9999, bins=2000) for i in range(12)}, name="table")
    small, large = (forecast(schema, us.MST(), BUDGET, rows=rows) for rows in (10**4, 10**9))
    assert small.cells < 10**6 < large.cells and small.fits


def test_the_column_to_bin_is_named_when_the_largest_model_would_not_fit() -> None:
    sizes = {"wide": 9000, **{f"c{i}": 900 for i in range(20)}}
    schema = Schema({n: Integer(0, size - 1, bins=size) for n, size in sizes.items()}, name="table")
    found = forecast(schema, us.MST(), BUDGET)
    assert not found.fits and "'wide'" in found.advice[0]


def test_the_column_to_bin_is_named_when_it_can_be_paired_with_no_other() -> None:
    columns = {f"c{i}": Integer(0, 10**5, bins=10**4 * (i + 4)) for i in range(3)}
    found = forecast(Schema(columns, name="table"), us.MST(), BUDGET, rows=10**9)
    assert [line.split("'")[1] for line in found.advice] == ["c2", "c1", "c0"]
    assert not forecast(Schema(columns, name="table"), us.Independent(), BUDGET, rows=10**9).advice


def test_what_is_learned_privately_is_listed_and_paid_for() -> None:
    schema = Schema({"x": Number(), "city": Category(discover=True), "sex": Category(("M", "F"))}, name="t")
    said = forecast(schema, us.MST(), BUDGET, rows=1000).to_dict()
    assert said["learned_privately"] == {"x": ["min", "max", "bins"], "city": ["values"]}
    assert [group["name"] for group in said["groups"]][:3] == ["values", "bounds", "bins"]


def test_a_plan_of_a_single_column_has_nothing_to_choose() -> None:
    assert [group.name for group in forecast(table(1), us.MST(), BUDGET).groups] == ["one-way"]
