"""Columns that are made up: keys of a form, no two alike, and plausible texts."""

from __future__ import annotations

import re
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import Category, Fake, Id, Schema
from understudy.domain.columns.made.fake import KINDS
from understudy.domain.columns.made.key_pattern import KeyPattern, shuffle
from understudy.domain.columns.made.looks import shape
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.sight import Sight
from understudy.domain.columns.registry import drafted
from understudy.errors import OperatorError, SchemaError

PATTERNS = [
    r"PT-\d{6}", r"^[A-Z]{2}\d{4}$", r"[0-9a-f]{40}", r"user\d{8}@example\.org", r"\w{12}", r"[A-Ca\-é]\d{4}\$\[x\]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_key_matches_its_pattern_and_none_comes_twice(pattern: str) -> None:
    column = Id(pattern=pattern)
    parts = [column.generated(500, Place(7, first)).to_pylist() for first in (0, 500, 1_000)]
    keys = [key for part in parts for key in part]
    assert all(re.fullmatch(pattern, key) for key in keys)
    assert len({*keys}) == len(keys) == 1_500
    assert column.generated(1_500, Place(7)).to_pylist()[:500] == parts[0]
    assert column.generated(500, Place(8)).to_pylist() != parts[0]


@given(st.integers(1, 3_000), st.integers(0, 2**63 - 1))
def test_a_shuffle_leaves_no_number_out(size: int, seed: int) -> None:
    found = shuffle(np.arange(size, dtype=np.uint64), size, seed)
    assert sorted(found.tolist()) == list(range(size))


def test_a_pattern_is_used_up_to_its_last_key() -> None:
    column = Id(pattern=r"\d{3}")
    assert sorted(column.generated(1_000, Place(3)).to_pylist()) == [f"{n:03d}" for n in range(1_000)]


def test_numbers_go_on_from_their_start_and_uuids_are_of_version_four() -> None:
    assert Id(start=100).generated(3, Place(1, 5)).to_pylist() == [105, 106, 107]
    keys = Id(kind="uuid").generated(2_000, Place(1)).to_pylist()
    form = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(form, key) for key in keys) and len({*keys}) == 2_000


REFUSED = {
    r"\d{2}": "has 100 keys; at least 1000",
    "a+": "'\\+', which is not known",
    "(ab|cd)": "which is not known",
    ".{9}": "which is not known",
    r"\d{3,5}": "has a count",
    r"\d{0}": "has a count",
    "[^a]{9}": "has a class",
    "[a-": "has a class",
    "[z-a]{9}": "has a range",
    r"\n{9}": "which is not known",
    "[]": "empty class",
    "\\": "which is not known",
    "x" * 201: "more than 200 characters",
    "": "has 1 keys",
}


@pytest.mark.parametrize(("pattern", "why"), REFUSED.items())
def test_a_pattern_that_is_not_understood_or_small_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        Id(pattern=pattern)


def test_fields_that_mean_nothing_are_refused() -> None:
    for wrong in (
        {"missing": True}, {"outside": "other"}, {"ordered": False}, {"kind": "name"}, {"start": 2**63},
        {"start": 5, "kind": "uuid"}, {"pattern": r"\d{6}", "kind": "uuid"}, {"pattern": r"\d{6}", "start": 2},
    ):  # fmt: skip
        with pytest.raises(SchemaError):
            Id(**wrong)
    with pytest.raises(SchemaError, match="left out"):
        Fake()
    with pytest.raises(SchemaError, match="is not known"):
        Fake("shoe size")
    with pytest.raises(SchemaError, match="locale 'xx_XX'"):
        Fake("name", "xx_XX").ready()


def test_more_records_than_keys_are_refused_with_the_schema() -> None:
    columns = {"key": Id(pattern=r"\d{4}"), "sex": Category(("F", "M"))}
    Schema(columns, rows=10_000)
    with pytest.raises(SchemaError, match="10001 records, but its pattern has 10000 keys"):
        Schema(columns, rows=10_001)


@pytest.mark.parametrize("kind", KINDS)
def test_fakes_are_texts_of_one_line_and_the_same_for_a_seed(kind: str) -> None:
    made = Fake(kind).generated(20, Place(1))
    assert made.type == pa.string() and made.null_count == 0
    assert all(text and "\n" not in text for text in made.to_pylist())
    assert made.equals(Fake(kind).generated(20, Place(1))) and not made.equals(
        Fake(kind).generated(20, Place(1, 20))
    )


def test_many_fakes_repeat_rather_than_take_minutes() -> None:
    made = Fake("city").generated(30_000, Place(1))
    assert len(made) == 30_000 and len(made.unique()) <= 10_000


def test_fakes_without_their_library_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    schema = Schema.from_toml('[columns.who]\ntype = "fake"\nkind = "name"\n')
    with pytest.raises(OperatorError, match=r'pip install "understudy\[fake\]"'):
        schema.made["who"].ready()


def sight(name: str, texts: list[str]) -> Sight:
    return Sight.of(name, pa.chunked_array([pa.array(texts)]))


N = range(200)
LOOKS = {
    "whole numbers from one on": ("row", [str(n + 1) for n in N], Id()),
    "long numbers": ("account", [str(3_000_000 + 17 * n) for n in N], Id(start=1_000_000)),
    "zeros first": ("case_id", [f"{n:05d}" for n in N], Id(pattern=r"\d{5}")),
    "uuids": ("key", [f"{n:08X}-0000-4000-8000-000000000000" for n in N], Id(kind="uuid")),
    "one form": ("chart", [f"PT-{n:04d}/{'AB'[n % 2]}" for n in N], Id(pattern=r"PT-\d{4}/[A-Z]")),
    "people with several records": ("patient_id", [f"P{n % 90:03d}" for n in N], Id(pattern=r"P\d{3}")),
    "telephones": ("Phone", [f"{2_015_550_100 + 7 * n}" for n in N], Id(pattern=r"[1-9]\d{9}")),
    "e-mail": ("contact", [f"a{n}@b.example" for n in N], Fake("email")),
    "names": (
        "PatientName",
        [f"{['Ann', 'Bo', 'Cy'][n % 3]} {chr(65 + n % 26)}{n}" for n in N],
        Fake("name"),
    ),
    "addresses": ("home_address", [f"{n} Main Street" for n in N], Fake("address")),
    "sentences": ("remark", [f"the {n}th time it was seen to be out of order" for n in N], Fake("text")),
}


@pytest.mark.parametrize(("name", "texts", "made"), LOOKS.values(), ids=LOOKS)
def test_a_draft_proposes_what_is_better_made_up_and_says_why(
    name: str, texts: list[str], made: Id | Fake
) -> None:
    found = drafted(sight(name, texts))
    assert {**found.fields(), "comment": ""} == {**made.fields(), "comment": ""}
    assert "made up" in found.comment


MEANT = {
    "amounts": ("income", [str(1_003 + 97 * n) for n in N]),
    "dollars": ("paid", [f"${n % 9 + 1},{n:03d}.50" for n in N]),
    "decimals": ("weight", [f"{50 + n / 8:.3f}" for n in N]),
    "days": ("born", [f"{n % 28 + 1:02d}/{n % 12 + 1:02d}/{1900 + n % 100}" for n in N]),
    "named months": ("seen", [f"{n % 28 + 1:02d}-Feb-{1800 + n}" for n in N]),
    "moments": ("at", [f"2021-02-03 {n // 60:02d}:{n % 60:02d}" for n in N]),
    "seconds since 1970": ("created", [str(1_600_000_000 + 977 * n) for n in N]),
    "years": ("year", [str(1_800 + n) for n in N]),
    "zip codes": ("zip", [f"{501 + 31 * n:05d}" for n in N]),
    "few names": ("name", ["Ann", "Bo"] * 100),
    "cities": ("city", [f"Town {chr(65 + n % 26)}{chr(65 + n // 26)}" for n in N]),
}


def test_a_drafted_pattern_has_keys_to_spare() -> None:
    keys = drafted(sight("staff", [f"EMP{n:03d}" for n in range(900)]))
    assert isinstance(keys, Id) and keys.pattern == r"EMP\d{4}"
    shared = drafted(sight("Unit ID", [f"{'ETB'[n % 3]}{n % 50:02d}" for n in range(6_000)]))
    assert isinstance(shared, Category) and shared.comment.startswith("The name says identifier")


@pytest.mark.parametrize(("name", "texts"), MEANT.values(), ids=MEANT)
def test_a_draft_leaves_what_has_a_meaning_to_be_learned(name: str, texts: list[str]) -> None:
    assert drafted(sight(name, texts)).modelled


@given(st.integers(1, 10**6), st.integers(0, 99))
def test_a_shape_is_a_pattern_of_every_text(start: int, step: int) -> None:
    texts = [f"{chr(65 + n % 5)}.{(start + n * step) % 10**6:06d}-({n % 7})" for n in range(30)]
    found = shape(texts)
    assert found is not None and KeyPattern.read(found).size >= 10**6
    assert all(re.fullmatch(found, text) for text in texts)
