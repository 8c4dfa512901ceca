"""A report draws what was measured, at the resolution at which it was measured, with the noise that it has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import understudy as us
from understudy.marginals import Measurement
from understudy.pipeline.release import Release
from understudy.report.code_groups import grouped, in_groups
from understudy.report.column_cards import BARS, WIDTH, column_cards
from understudy.report.measured_codes import code_groups, noisy_table
from understudy.report.measured_pairs import measured_pairs, pair_maps
from understudy.report.release_words import promise, trust
from understudy.report.signal import signal_to_noise

RNG = np.random.default_rng(7)
ROWS = 4_000


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Ages that thin out towards the end, towns of which most are rare, and two columns that go together."""
    sex = RNG.choice(["F", "M"], ROWS)
    table = {
        "age": np.minimum(RNG.exponential(18, ROWS), 99).astype(int),
        "town": np.where(
            RNG.random(ROWS) < 0.99, RNG.choice(["a", "b"], ROWS), RNG.integers(0, 400, ROWS).astype(str)
        ),
        "sex": sex,
        "job": np.where(sex == "F", "x", "y"),
    }
    columns: dict[str, us.Column] = {
        "age": us.Integer(0, 99),
        "town": us.Category(("a", "b", *map(str, range(400)))),
        "sex": us.Category(("F", "M")),
        "job": us.Category(("x", "y")),
    }
    folder: Path = tmp_path_factory.mktemp("measured")
    return us.fit(
        table, us.Schema(columns), epsilon=2.0, delta=1e-9, mechanism="mst", ledger=folder / "ledger"
    )


@pytest.mark.parametrize("most", [3, 8, 24, 500])
def test_groups_of_codes_have_every_value_once(release: Release, most: int) -> None:
    for name in release.domain:
        groups = code_groups(release, name, most)
        codes = [code for group in groups for code in group.codes]
        assert len(groups) <= most and sorted(codes) == list(range(release.field.domain[name]))
        assert sum(group.values for group in groups) == release.compression.behind(name).sum()


def test_neighbours_share_a_bar_and_slots_stand_alone() -> None:
    column, counts = us.Integer(0, 100), np.arange(1.0, 103.0)
    groups = grouped(column, {code: [code] for code in range(102)}, counts, BARS)
    assert len(groups) <= BARS and in_groups(groups, counts).sum() == counts.sum()
    assert (groups[0].text, groups[-1].text, groups[-1].codes) == ("0 to 4", "(missing)", (101,))


def test_of_values_without_order_the_most_frequent_have_bars() -> None:
    column, counts = us.Category(tuple(map(str, range(99)))), np.arange(100.0)
    *kept, rest = grouped(column, {code: [code] for code in range(100)}, counts, BARS)
    assert [group.codes for group in kept] == [(code,) for code in range(77, 100)]
    assert rest.text == "77 other values" and in_groups([rest], counts).tolist() == [sum(range(77))]


def test_values_that_were_measured_as_one_are_one_hatched_bar(release: Release) -> None:
    card = column_cards(release, {})[1]
    merged = [row for row in card.rows if row[0].endswith("rare values")]
    assert len(merged) == 1 and card.merged > 300 and len(card.rows) < 10
    assert card.picture.count("f-hatch") == 1 and "measured as 1 number" in " ".join(card.notes)


def test_whiskers_are_of_the_measurement(release: Release) -> None:
    (measured,) = [m for m in release.measurements if m.clique == ("sex",)]
    card = column_cards(replace(release, measurements=(measured,)), {})[2]
    width = WIDTH * float(np.broadcast_to(measured.stddev, measured.values.shape)[0])
    assert card.rows[0][3:] == (f"{measured.values[0]:,.0f}", f"±{width:,.0f}")
    assert len(column_cards(release, {})[0].rows) <= BARS


def test_measurements_of_one_table_are_weighed_by_how_exact_they_are(release: Release) -> None:
    size = release.field.domain["sex"]
    twice = [
        Measurement(("sex",), np.full(size, value), stddev) for value, stddev in ((10.0, 1.0), (20.0, 2.0))
    ]
    found = noisy_table(replace(release, measurements=tuple(twice)), ("sex",))
    assert (
        found is not None and found.values == pytest.approx(12.0) and found.stddev == pytest.approx(0.8**0.5)
    )


def test_a_set_of_columns_tells_of_each_of_its_pairs(release: Release) -> None:
    domain = release.field.domain
    shape = tuple(domain[name] for name in ("sex", "job", "age"))
    values = np.arange(float(np.prod(shape)))
    some = replace(release, measurements=(Measurement(("sex", "job", "age"), values, 3.0),))
    found = noisy_table(some, ("job", "sex"))
    assert found is not None and found.values == pytest.approx(values.reshape(shape).sum(axis=2).T)
    assert found.stddev == pytest.approx(3.0 * shape[2] ** 0.5)
    assert noisy_table(some, ("town",)) is None


def test_signal_is_what_noise_does_not_explain() -> None:
    noise = np.full(10_000, 5.0)
    drawn = RNG.normal(0.0, 5.0, 10_000)
    assert signal_to_noise(drawn, noise**2).ratio < 0.35
    assert signal_to_noise(drawn + 50.0, noise**2).ratio == pytest.approx(10.0, rel=0.05)


def test_the_pair_that_goes_together_is_the_strongest(release: Release) -> None:
    pairs = measured_pairs(release)
    assert {pairs[0].first, pairs[0].second} == {"sex", "job"} and pairs[0].word == "strong"
    (first, *_) = pair_maps(release, pairs)
    assert "cells are more than noise" in first.note and 'role="img"' in first.picture


def test_the_promise_is_whole_and_says_what_it_does_not_cover(release: Release) -> None:
    said = promise(release)
    assert said.holds and said.suspicion == "88%" and said.factor == "7.39"
    for words in (
        "epsilon 2 and delta 1e-09",
        "one in a billion",
        "every single record",
        "does not cover",
        "88%",
    ):
        assert words in said.text
    listed = trust(release, measured_pairs(release), ["town"])
    assert any("town" in line for line in listed.bad) and any(" pair" in line for line in listed.good)
