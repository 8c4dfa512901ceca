"""A cell is coded the same whether Arrow parsed its column or, for another cell's sake, it was read as text.

Otherwise one record could change the codes of others, and more than one count of a marginal by more than one.
"""

from __future__ import annotations

import io
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import csv

from nightly import many
from understudy.data import read
from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Schema
from understudy.domain.dialect import Dialect
from understudy.transforms import Encoder, reading_types

COLUMNS: dict[str, Column] = {
    "whole": Integer(-50, 50, outside="other", special=(99,)),
    "stepped": Integer(0, 10**6, step=7, bins=31, missing=("-1",)),
    "large": Integer(0, 2**62, bins=9),
    "number": Number(-1, 1, bins=7, outside="other", special=(5,)),
    "marked": Number(0, 1, bins=2, missing=("N", "-9")),
    "codes": Category((1, 2, 30), outside="other"),
    "fractions": Category((0.5, 2.0), missing=("9",), outside="other"),
    "truths": Category((True, False), outside="other"),
    "texts": Category(("1", "2020-01-01", " 1"), outside="other"),
    "truth": Boolean(outside="other"),
    "day": Date(date(1999, 1, 1), date(2021, 1, 1), outside="other"),
    "moment": Datetime(datetime(1999, 1, 1), datetime(2021, 1, 1), "day", outside="other"),
    "instant": Datetime(
        datetime(1999, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC), "day", outside="other"
    ),
}
SCHEMA = Schema(COLUMNS)
ENCODER = Encoder(SCHEMA)
TYPES = reading_types(SCHEMA)


def quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def code(name: str, cell: str, kind: pa.DataType) -> int | None:
    """The code of a cell that is read as `kind`; None where Arrow cannot."""
    content = io.BytesIO(f"x,{name}\n1,{quoted(cell)}\n".encode())
    options = csv.ConvertOptions(column_types={name: kind}, null_values=[""], strings_can_be_null=True)
    try:
        table = csv.read_csv(content, convert_options=options)
    except pa.ArrowInvalid:
        return None
    return int(ENCODER.codecs[name].encode(table[name].combine_chunks())[0])


ODD = [
    "0x10", "0X1F", "1_0", "+5", " 7 ", "\t7", "007", "7.", ".5", "5e-1", "1e400", "-1e400", "inf", "-Infinity",
    "nan", "-nan", "NaN(1)", "", " ", "-0", "-0.0", "99", "99.0", "9223372036854775807", "9223372036854775808",
    "true", "TRUE", "1", "0", "N", "2020-01-01", " 2020-01-01", "0000-01-01", "2020-02-30", "2020-01-01T05",
    "2020-01-01 05:06:07.123456", "2020-01-01 23:59:59Z", "2020-01-01T23:00:00-05:00", "20200101",
    "1.0000000000000001", "1,5", "1_000", "١٢", "５", "\u00a05", "infinity", "nan()", "5.", "1e", "e5", "1" * 400,
    "1e-400", "1e1000000000000", "--5", "- 5", "1'000", "½", "∞", "NULL", "NA", "T", "yes", "5\n", "\n5", "5\x0c",
    'a"b',
    "2020-01-01 00:00:00+0530", "2020-01-01 00:00:00 +05:30", "2020-01-01 05", "2020-01-01 0506", "2020-1-1",
    "2020-01-01T05:06:07.", "2020-01-01T05:06:07.1234567890", "2020-01-01T05:06:07,5", "2020-01-01 24:00:00",
    "2020-01-01 23:59:60", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "+2020-01-01", "2020/01/01",
    "2020-001", "2020-01-01 ", "2019-02-29", "2000-02-29", "1582-10-10", "2020-13-01", "２０２０-01-01", "12:00",
    "2020-01-01t00:00:00", "2020-01-01 00:00:00z",
]  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_an_odd_cell_has_one_code_however_it_is_read(name: str) -> None:
    for cell in ODD:
        parsed = code(name, cell, TYPES[name])
        assert parsed in (None, code(name, cell, pa.string())), cell


cells = st.one_of(
    st.from_regex(r"[+-]?[0-9]{0,4}\.?[0-9]{0,4}(e[+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(
        r"(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9](:[0-6][0-9]){0,2}(\.[0-9]{1,7})?Z?)?",
        fullmatch=True,
    ),
    st.text("0123456789.-+exinfa T:", max_size=8),
)


@given(st.sampled_from(sorted(COLUMNS)), cells)
@example("whole", "12.999999999999999999")
@example("whole", "-1e-20")
@settings(max_examples=many(1250))
def test_any_cell_has_one_code_however_it_is_read(name: str, cell: str) -> None:
    parsed = code(name, cell, TYPES[name])
    assert parsed in (None, code(name, cell, pa.string()))


def codes(*records: dict[str, str]) -> list[tuple[int, ...]]:
    """The codes of each record of a CSV file that is read by the schema."""
    lines = [",".join(COLUMNS), *(",".join(quoted(record[name]) for name in COLUMNS) for record in records)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "records.csv")
        path.write_bytes("\n".join([*lines, ""]).encode())
        coded = ENCODER.forward(read(path, types=TYPES, dialect=Dialect(",")))
    return list(zip(*(coded[name].tolist() for name in COLUMNS), strict=True))


def test_an_odd_cell_has_one_code_alone_in_its_file_and_beside_all_others() -> None:
    everywhere = [dict.fromkeys(COLUMNS, cell) for cell in ODD]
    together = codes(*everywhere)
    assert together == [codes(record)[0] for record in everywhere]


@given(st.sampled_from(sorted(COLUMNS)), cells, st.one_of(cells, st.sampled_from(ODD)))
@settings(max_examples=many(100))
def test_a_record_has_the_same_codes_whatever_stands_beside_it_in_the_file(
    name: str, cell: str, other: str
) -> None:
    record = dict.fromkeys(COLUMNS, cell)
    alone = codes(record)[0]
    assert codes(record, record | {name: other})[0] == alone  # one column falls back to text
    assert codes(dict.fromkeys(COLUMNS, other), record)[1] == alone  # all of them do
