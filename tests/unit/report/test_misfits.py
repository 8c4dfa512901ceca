"""A column that most of its records do not fit is named, with the likely cause; an honest one is not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import understudy as us
from understudy.privacy import Seeded
from understudy.report.release_page import release_page

ROWS = 2_000
RNG = np.random.default_rng(5)
DAYS = RNG.integers(0, 900, ROWS)
AGES = RNG.integers(18, 90, ROWS)
ISO = [str(day) for day in np.datetime64("2020-01-01") + DAYS]


def told(
    tmp_path: Path,
    columns: dict[str, Iterable[Any]],
    schema: dict[str, us.Column] | None,
    *,
    mechanism: us.Mechanism | str = "independent",
    epsilon: float = 1.0,
) -> us.Release:
    """A release of a text file of these columns, once what it warns of in Python is what its certificate says."""
    path = tmp_path / "t.csv"
    pa.csv.write_csv(pa.table({name: pa.array(list(cells)) for name, cells in columns.items()}), path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", us.MisfitWarning)
        release = us.fit(
            path,
            None if schema is None else us.Schema(schema),
            epsilon=epsilon,
            delta=1e-9,
            mechanism=mechanism,
            ledger=tmp_path / "ledger",
            source=Seeded(1),
        )
    assert [str(one.message) for one in caught] == release.certificate["warnings"]
    assert all(one.filename == __file__ for one in caught)
    return release


@pytest.mark.parametrize("mechanism", ["independent", "mst", us.Fixed([("seen", "age")])])
def test_dates_in_another_form_are_named_with_the_way_out(
    tmp_path: Path, mechanism: us.Mechanism | str
) -> None:
    written = [f"{day[8:]}/{day[5:7]}/{day[:4]}" for day in ISO]
    columns: dict[str, us.Column] = {
        "seen": us.Date(
            min=np.datetime64("2020-01-01").item(), max=np.datetime64("2022-12-31").item(), every="month"
        ),
        "age": us.Integer(0, 99, bins=10),
    }
    release = told(tmp_path, {"seen": written, "age": AGES}, columns, mechanism=mechanism)
    (said,) = release.certificate["warnings"]
    assert said.startswith("column 'seen': ") and "count as missing" in said and '"%d/%m/%Y"' in said
    shown = release_page(release)
    assert '<a href="#column-1">seen</a>: ' in shown and "&#34;%d/%m/%Y&#34;" in shown


def test_numbers_with_signs_are_named_with_the_way_out(tmp_path: Path) -> None:
    release = told(tmp_path, {"cost": [f"${cents:,.2f}" for cents in AGES * 31.7]}, {"cost": us.Number()})
    (said,) = release.certificate["warnings"]
    assert said.startswith("column 'cost': ") and 'format = "$1,234.50"' in said


def test_a_promise_that_all_records_break_is_named_though_the_other_days_are_joined(tmp_path: Path) -> None:
    written = [f"{day[8:]}/{day[5:7]}/{day[:4]}" for day in ISO]
    first, last = np.datetime64("2010-01-01").item(), np.datetime64("2024-12-31").item()
    columns: dict[str, us.Column] = {
        "seen": us.Date(min=first, max=last, missing=False),
        "age": us.Integer(0, 99),
    }
    release = told(tmp_path, {"seen": written, "age": AGES}, columns, mechanism="mst")
    (said,) = release.certificate["warnings"]
    assert said.startswith("column 'seen': ") and "missing = false" in said and '"%d/%m/%Y"' in said


def test_a_list_in_another_case_is_named_with_or_without_slots(tmp_path: Path) -> None:
    cells = {"sex": RNG.choice(["F", "M"], ROWS).tolist()}
    for column, words in (
        (us.Category(("f", "m")), "count as missing"),
        (us.Category(("f", "m"), outside="other"), "count as other"),
        (us.Category(("f", "m"), missing=False), "its first value, which also stands for"),
    ):
        (said,) = told(tmp_path, cells, {"sex": column}).certificate["warnings"]
        assert said.startswith("column 'sex': ") and words in said and "another case" in said


def test_texts_too_rare_to_be_learned_are_named_without_a_schema(tmp_path: Path) -> None:
    cells = {"name": [f"person {i}" for i in range(ROWS)], "sex": RNG.choice(["F", "M"], ROWS).tolist()}
    (said,) = told(tmp_path, cells, None).certificate["warnings"]
    assert said.startswith("column 'name': ") and "free text" in said


@pytest.mark.parametrize(
    ("column", "bound"),
    [
        (us.Integer(0, 20), "max"),
        (us.Number(95.0, 200.0, bins=20), "min"),
        (us.Number(0.0, 1.0, bins=50), "max"),
    ],
)
def test_bounds_that_clip_most_records_are_named(tmp_path: Path, column: us.Column, bound: str) -> None:
    (said,) = told(tmp_path, {"age": AGES}, {"age": column}).certificate["warnings"]
    assert said.startswith("column 'age': ") and f"Check {bound}" in said


def test_learned_bounds_are_not_blamed_on_who_wrote_none(tmp_path: Path) -> None:
    within = {"seen": [f"2024-01-{1 + i % 28:02}" for i in range(ROWS)]}
    (said,) = told(tmp_path, within, {"seen": us.Date(every="month")}).certificate["warnings"]
    assert "Its bounds were learned" in said and "Check min" not in said


def test_bounds_so_wide_that_one_bin_holds_all_are_named(tmp_path: Path) -> None:
    (said,) = told(tmp_path, {"age": AGES}, {"age": us.Number(-1e6, 1e6, bins=99)}).certificate["warnings"]
    assert "in one of its 99 codes" in said


def test_cells_that_do_not_follow_their_format_are_named(tmp_path: Path) -> None:
    (said,) = told(tmp_path, {"seen": ISO}, {"seen": us.Date(format="%d.%m.%Y")}).certificate["warnings"]
    assert "another form than its format" in said


def test_honest_columns_are_not_named(tmp_path: Path) -> None:
    empty = RNG.random(ROWS)
    cells = {
        "fifth": [None if draw < 0.2 else "a" for draw in empty],  # nobody said that any were missing
        "rent": [None if draw < 0.8 else float(age) for draw, age in zip(empty, AGES, strict=True)],
        "children": np.where(empty < 0.97, 0, 3),
        "capped": np.where(empty < 0.4, 60, AGES % 60),
        "flag": np.where(empty < 0.9, "no", "yes"),
        "grade": np.where(empty < 0.97, 2, 1),
        "lasted": np.where(empty < 0.6, "00:20", "01:10"),  # a clock has nothing before midnight
        "seen": ISO,
    }
    columns: dict[str, us.Column] = {
        "fifth": us.Category(("a",)),
        "rent": us.Number(0.0, 100.0, bins=20, missing=True),
        "children": us.Integer(0, 12),
        "capped": us.Integer(0, 60),
        "flag": us.Category(("no", "yes"), missing=False),
        "grade": us.Integer(0, 2),
        "lasted": us.Time(format="%H:%M"),
        "seen": us.Date(),
    }
    for schema in (columns, None):
        assert not told(tmp_path, cells, schema, epsilon=4).certificate["warnings"]


def test_a_warning_taken_for_an_error_does_not_lose_what_was_paid_for(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = us.fit(
            {"a": ["x"] * 500},
            us.Schema({"a": us.Category(("y",))}),
            epsilon=1,
            delta=1e-9,
            mechanism="independent",
            ledger=tmp_path / "ledger",
        )
    assert len(release.certificate["warnings"]) == 1


def test_noise_alone_names_no_column(tmp_path: Path) -> None:
    cells = {name: AGES[:40].tolist() for name in "abcdef"}
    schema: dict[str, us.Column] = {name: us.Integer(0, 99) for name in "abcdef"}
    assert not told(tmp_path, cells, schema, mechanism="mst", epsilon=0.05).certificate["warnings"]
