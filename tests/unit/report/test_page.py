"""A report is one page that stands on its own, and says what each column's codes mean."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

import understudy as us
from understudy.domain import Boolean, Category, Date, Datetime, Integer, Number
from understudy.errors import ReleaseError
from understudy.pipeline.certificate import readable
from understudy.presets import town
from understudy.privacy import Seeded
from understudy.report.release_page import release_page
from understudy_contest import FieldGroups, PrivBayes, PrivSyn


@pytest.mark.parametrize(
    ("column", "first", "last"),
    [
        (Category(("a", "b")), "a", "(missing)"),
        (Boolean(missing=False), "false", "true"),
        (Integer(0, 9), "0", "(missing)"),
        (Integer(0, 99, bins=10, missing=False), "0 to 9", "90 to 99"),
        (Number(0, 1, bins=4, special=(0.0,), missing=False), "0 to 0.25", "0"),
        (Number(0, 1, bins=4, outside="other", missing=False), "0 to 0.25", "(other)"),
        (Date(date(2020, 1, 1), date(2020, 12, 31), every="quarter", missing=False), "2020 Q1", "2020 Q4"),
        (
            Date(date(2020, 1, 6), date(2020, 1, 13), every="week", missing=False),
            "week of 2020-01-06",
            "week of 2020-01-13",
        ),
        (Date(date(2020, 2, 28), date(2020, 3, 1), missing=False), "2020-02-28", "2020-03-01"),
        (Date(date(2019, 5, 1), date(2020, 3, 1), every="month", missing=False), "2019-05", "2020-03"),
        (
            Datetime(datetime(2020, 1, 1, 5, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC), missing=False),
            "2020-01-01 05:00",
            "2020-01-02 00:00",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_code_has_a_text_that_says_what_it_stands_for(column, first: str, last: str) -> None:
    texts = column.labels()
    assert (texts[0], texts[-1], len(texts)) == (first, last, column.size)


def test_a_page_needs_nothing_else_and_escapes_what_it_shows(tmp_path: Path) -> None:
    schema = us.Schema.from_toml(
        '[table]\nname = "<script>"\nrows = 100\n[columns."<b>x</b>"]\ntype = "category"\nvalues = ["<i>", "&"]\n'
        '[columns.y]\ntype = "boolean"\n'.replace("\\\n", "\n")
    )
    table = pa.table({"<b>x</b>": ["<i>", "&"] * 500, "y": [True, False] * 500})
    shown = release_page(
        us.fit(table, schema, epsilon=1.0, delta=0.1, ledger=tmp_path / "l.db", source=Seeded(1))
    )
    assert shown.count("<script>") == 1 and "<b>x</b>" not in shown and "<i>" not in shown
    assert "http:" not in shown and "https:" not in shown and "src=" not in shown and "style=" not in shown
    assert all(place in ("#", "d") for place in re.findall(r'href="(.)', shown))
    assert "NOT PRIVATE" in shown and "above 1 / about " in shown


@pytest.mark.parametrize(
    "mechanism",
    [us.MST(), us.Independent(), PrivSyn(), PrivBayes(), FieldGroups([("sex", "marital")])],
    ids=lambda mechanism: mechanism.name,
)
def test_the_town_has_a_page_under_every_mechanism(mechanism, tmp_path: Path) -> None:
    schema = us.Schema.from_toml(town.SCHEMA)
    release = us.fit(
        town.simulate(800, seed=1),
        schema,
        epsilon=1.0,
        delta=1e-9,
        mechanism=mechanism,
        ledger=tmp_path / "l.db",
    )
    shown = release_page(release)
    assert all(f"<h3>{name} <" in shown for name in schema.columns)
    assert ("not measured on its own" in shown) == (
        mechanism.name == "field-groups"
    )  # a histogram with a cut-off


def test_a_page_is_written_whatever_of_the_certificate_is_missing(tmp_path: Path) -> None:
    schema = us.Schema.from_toml('[columns.y]\ntype = "boolean"\n')
    table = pa.table({"y": [True, False] * 50})
    release = us.fit(table, schema, epsilon=1.0, delta=1e-9, ledger=tmp_path / "l.db")
    for part in release.certificate:
        less = {name: value for name, value in release.certificate.items() if name != part}
        replace(release, certificate=less).save(tmp_path / "x.release")
        try:
            shown = release_page(us.load(tmp_path / "x.release"))
        except ReleaseError:
            assert part in ("epsilon", "delta", "private", "charges")
        else:
            assert "<h3>y <" in shown
            assert ("Mechanism: not named" in shown) == (part == "mechanism")
            if part in ("parts", "neighbours"):
                assert "does not hold" in shown


def test_a_certificate_of_another_form_is_refused(tmp_path: Path) -> None:
    schema = us.Schema.from_toml('[columns.y]\ntype = "boolean"\n')
    release = us.fit(pa.table({"y": [True] * 9}), schema, epsilon=1.0, delta=1e-9, ledger=tmp_path / "l.db")
    readable(release.certificate)
    for records in (None, "x", "3", [3], 2.5, True):
        with pytest.raises(ReleaseError, match="certificate"):
            readable({**release.certificate, "neighbours": {"relation": "add-remove", "records": records}})
    for part in ("epsilon", "private", "mechanism", "warnings", "dropped", "charges", "statement"):
        for value in (None, 7, "x", [7], {"name": 3}, float("nan"), [{"losses": 3}]):
            changed = {**release.certificate, part: value}
            if (part, value) in (("epsilon", 7), ("statement", "x")):
                readable(changed)
                continue
            with pytest.raises(ReleaseError, match="certificate"):
                readable(changed)
