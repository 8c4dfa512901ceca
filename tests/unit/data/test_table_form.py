"""The form of a table: what it keeps, how it is written, and what is refused in its place."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

import understudy as us
from understudy.data.forms.table_form import NO_FORM, ColumnForm, TableForm
from understudy.data.forms.type_text import kept_type, type_of_text, type_text
from understudy.domain.dialect import Dialect
from understudy.errors import ReleaseError
from understudy.pipeline import release_file

UNITS = ("s", "ms", "us", "ns")
TYPES = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.string()),
    *(pa.large_string(), pa.string_view(), pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("ns")),
    *(pa.timestamp(unit) for unit in UNITS),
    *(pa.timestamp(unit, "Europe/Paris") for unit in UNITS),
    *(pa.timestamp("us", "+01:00"), pa.duration("us"), pa.decimal32(5, 2), pa.decimal64(18, 0)),
    *(pa.decimal128(38, 10), pa.decimal128(5, -2), pa.decimal256(76, 3)),
    *(pa.dictionary(pa.int32(), pa.string(), True), pa.dictionary(pa.int64(), pa.timestamp("s", "UTC"))),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_read_back_from_its_text(kind: pa.DataType) -> None:
    assert kept_type(kind) == kind == type_of_text(type_text(kind))


def test_widths_that_may_tell_how_many_values_there_are_are_not_kept() -> None:
    """pandas takes 8 bits for up to 127 categories and 16 for 128: the 128th may be one person's."""
    few, many = (kept_type(pa.dictionary(index, pa.string())) for index in (pa.int8(), pa.int16()))
    assert few == many == pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize("kind", [pa.month_day_nano_interval(), pa.list_(pa.int8()), pa.binary()], ids=str)
def test_types_in_which_no_value_can_be_given_back_are_none(kind: pa.DataType) -> None:
    assert kept_type(kind) is None


def test_a_form_is_read_back_from_json() -> None:
    columns = {"a": ColumnForm(pa.int8(), "nullable"), "é": ColumnForm(None, "category")}
    form = TableForm("pandas", columns | {"p": ColumnForm(None, "period of M")}, Dialect(";"))
    assert TableForm.from_dict(json.loads(json.dumps(form.to_dict()))) == form
    numbered = TableForm("pandas", {"7": ColumnForm(pa.int8(), "numpy")}, numbered=True)
    assert TableForm.from_dict(json.loads(json.dumps(numbered.to_dict()))) == numbered
    assert form.only(["é", "a", "gone"]).columns == columns


HOSTILE: list[Any] = [
    None, 1, "x", [], {}, {"kind": 1, "columns": [], "dialect": {}}, {"kind": "a", "columns": [], "dialect": []},
    *({"kind": "arrow", "columns": [column], "dialect": {}} for column in [
        None, "abc", [], ["a", "int8"], [1, "int8", ""], ["a", 5, ""], ["a", "int8", 7], ["a", "int8", "os.system"],
        ["a", "no type", ""], ["a", "timestamp[us, tz=../../etc/passwd\n]", ""], ["a", "decimal128(99, 0)", ""],
        ["a", "decimal128(0, 0)", ""], ["a", "dictionary<values=" * 40, ""], ["a", "x" * 10_000, ""],
        ["a", "dictionary<values=dictionary<values=string, indices=int8, ordered=0>, indices=int8, ordered=0>", ""],
        ["a", "dictionary<values=string, indices=int128, ordered=0>", ""], ["a", None, "period of " + "M" * 999],
        ["a", "dictionary<values=string, indices=string, ordered=0>", ""], ["a", None, "period of __import__"],
    ]),
    {"kind": "arrow", "columns": [["a", "int8", ""], ["a", "int8", ""]], "dialect": {}},
]  # fmt: skip


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> release_file.Content:
    """What a release file holds."""
    folder, schema = tmp_path_factory.mktemp("made"), us.Schema({"a": us.Integer(min=0, max=3)})
    settings: Any = {"mechanism": "independent", "ledger": folder / "ledger"}
    us.fit({"a": [1, 2]}, schema, epsilon=1, delta=1e-6, **settings).save(folder / "t.release")
    return release_file.read(folder / "t.release")


@pytest.mark.parametrize("said", HOSTILE, ids=lambda said: str(said)[:60])
def test_what_is_no_form_is_refused_when_a_release_is_opened(
    tmp_path: Any, content: release_file.Content, said: Any
) -> None:
    sections = {**content.sections, "form": said}
    release_file.write(tmp_path / "t.release", release_file.Content(sections, content.arrays))
    with pytest.raises(ReleaseError):
        us.load(tmp_path / "t.release")


@pytest.mark.parametrize(
    "notes", [b"", b"{", b"[]", b'{"columns": 3}', b'{"columns": [{"name": 1}]}', b"[" * 9999]
)
def test_notes_that_are_none_are_passed_over(notes: bytes) -> None:
    types = pa.schema([("a", pa.int8())], metadata={b"pandas": notes})
    assert TableForm.of_types(types).columns == {"a": ColumnForm(pa.int8())}


def test_a_release_without_a_form_opens() -> None:
    assert NO_FORM.columns == {} and NO_FORM.kind == "arrow"


def test_a_zone_that_is_not_known_here_is_taken_for_utc() -> None:
    assert type_of_text("timestamp[us, tz=Nowhere/Else]") == pa.timestamp("us", "UTC")
