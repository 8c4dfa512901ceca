"""Misfits, odd types and odd texts: everything has a slot, nothing raises, types come back as promised."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Schema
from understudy.errors import DomainError, FileError, ParameterError, SchemaError
from understudy.transforms import Encoder, Split, missing_text, reading_types

AGE = Integer(0, 120)  # 121 values, then the missing slot


def codes(column: Column, values: Any, kind: pa.DataType | None = None) -> list[int]:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)
    return Encoder(Schema({"x": column})).forward(pa.table({"x": array}))["x"].tolist()


def decoded(column: Column, numbers: list[int], **options: Any) -> list[Any]:
    return Encoder(Schema({"x": column})).reverse({"x": np.array(numbers)}, **options)["x"].to_pylist()


def test_texts_that_are_not_numbers_by_the_grammar_are_missing() -> None:
    odd = ["0x10", "1_000", "", " ", "abc", "--1", "1e", "٣", "1,5", "nan", "NaN", None, "true", "1 2"]
    assert codes(AGE, odd, pa.string()) == [121] * len(odd)
    assert codes(Number(0, 120, bins=4), odd, pa.string()) == [4] * len(odd)


def test_texts_out_of_bounds_are_clipped_by_exact_comparison() -> None:
    high = ["121", "1e400", "inf", "Infinity", str(2**63), str(2**64), "9" * 400, "1e99", "+130"]
    assert codes(AGE, high) == [120] * len(high)
    assert codes(AGE, ["-" + text.lstrip("+") for text in high]) == [0] * len(high)
    assert codes(Number(0, 120, bins=4), high) == [3] * len(high)
    assert codes(AGE, ["7", " 7 ", "+7", "007", "7.0", "7.9", "0.7e1", "-0"]) == [7] * 7 + [0]


@pytest.mark.parametrize("rule", ["clip", "other", "missing"])
def test_values_outside_go_where_the_schema_says(rule: str) -> None:
    column = Integer(0, 9, outside=rule)
    slots = {"clip": (0, 9, 10), "other": (10, 10, 11), "missing": (10, 10, 10)}[rule]
    for values in ([-1, 10, None], ["-1", "1e400", None], [-0.5, float("inf"), float("nan")]):
        assert codes(column, values) == list(slots)
    low, high, null = slots
    assert codes(Number(0, 10, bins=10, outside=rule), [-1, 11, None]) == [low, high, null]
    moments = [date(1999, 12, 31), date(2000, 1, 11), None]
    assert codes(Date(date(2000, 1, 1), date(2000, 1, 10), outside=rule), moments) == [low, high, null]


def test_an_unlisted_category_and_an_undeclared_null_go_to_a_slot() -> None:
    assert codes(Category(("a", "b")), ["a", "b", "c", None, ""]) == [0, 1, 2, 2, 2]
    assert codes(Category(("a", "b"), outside="other"), ["a", "c", None, ""]) == [0, 2, 3, 3]
    assert codes(Category(("b", "a"), missing=False), ["a", "c", None, ""]) == [1, 0, 0, 0]
    assert codes(Category(("a", "b"), missing=False, outside="other"), ["a", "c", None]) == [0, 2, 2]
    assert codes(Category(("a", ""), missing=("N",)), ["", "N", None]) == [1, 2, 2]
    assert codes(Category((1, 2)), ["1", "01", "1.0", "3", "x", " 2"]) == [0, 0, 0, 2, 2, 1]
    assert codes(Category((0.5, 1.0)), [0.5, 1.0, 2.0, None, float("nan")]) == [0, 1, 2, 2, 2]
    assert codes(Category((True, False)), ["yes", "0", "x", True and "t"]) == [0, 1, 2, 0]


def test_a_broken_promise_that_nothing_is_missing_does_not_raise() -> None:
    assert codes(Integer(3, 9, missing=False), [3, None, 9]) == [0, 0, 6]
    assert codes(Boolean(missing=False), [True, None, False]) == [1, 0, 0]
    assert codes(Integer(3, 9, missing=False, outside="other"), [None, 99]) == [7, 7]


def test_texts_that_mean_missing_do_so_in_every_type_of_column() -> None:
    assert codes(Integer(0, 9, missing=("N", "9")), ["N", "9", " 9", "9.0", "8"]) == [10, 10, 10, 10, 8]
    assert codes(Integer(0, 9, missing=("N", "9")), [9, 8]) == [10, 8]
    assert codes(Number(0, 10, bins=2, missing=("-1",)), [-1.0, 1.0]) == [2, 0]
    assert codes(Category((1, 2), missing=("9",)), [9, 1, 3]) == [2, 0, 2]
    assert codes(Boolean(missing=("N",)), ["N", "n", "Y"]) == [2, 0, 1]
    unknown = Date(date(2000, 1, 1), date(2000, 1, 5), missing=("1900-01-01",))
    assert codes(unknown, ["1900-01-01", "1899-01-01"]) == [5, 0]
    assert codes(unknown, [date(1900, 1, 1)]) == [5]


AGES = [0, 7, None, 120]
WANTED = [0, 7, 121, 120]


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
        pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 2), pa.decimal256(40, 2),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "column", [AGE, Category(tuple(range(121))), Number(0, 121, bins=121)], ids=["i", "c", "n"]
)
def test_every_arrow_type_of_number_means_the_same(kind: pa.DataType, column: Column) -> None:
    values = [v if v is None or not pa.types.is_decimal(kind) else Decimal(v) for v in AGES]
    if kind == pa.float16():
        values = [None if v is None else np.float16(v) for v in AGES]
    array = pa.array(values, kind)
    assert codes(column, array) == WANTED
    assert codes(column, array.slice(1)) == WANTED[1:]
    assert codes(column, pa.chunked_array([array, array.slice(2)])) == WANTED + WANTED[2:]
    assert codes(column, pa.chunked_array([], kind)) == []
    if not pa.types.is_float16(kind):
        assert codes(column, array.dictionary_encode()) == WANTED


def test_every_arrow_type_of_text_means_the_same() -> None:
    column = Category(("a", "b"))
    plain = pa.array(["a", None, "b", "z"])
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        assert codes(column, plain.cast(kind)) == [0, 2, 1, 2]
    assert codes(column, plain.dictionary_encode()) == [0, 2, 1, 2]
    assert codes(column, pa.chunked_array([plain.dictionary_encode(), pa.array(["b"]).dictionary_encode()])) == [
        0, 2, 1, 2, 1,
    ]  # fmt: skip
    assert codes(column, pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", "b"]))) == [0, 0, 1]
    assert codes(column, pa.nulls(2)) == [2, 2]
    assert codes(column, pa.chunked_array([plain, plain])) == [0, 2, 1, 2] * 2
    assert codes(column, pa.array([b"a", b"\xff"])) == [0, 2]


def test_numbers_past_the_end_of_int64_are_clipped_exactly() -> None:
    top = Integer(2**63 - 5, 2**63 - 1)
    assert codes(top, pa.array([2**63 - 1, 2**63, 2**64 - 1], pa.uint64())) == [4, 4, 4]
    assert codes(top, [float(2**63), 1e300, -1e300]) == [4, 4, 0]
    assert codes(Integer(0, 9, outside="other"), pa.array([2**64 - 1, 9], pa.uint64())) == [10, 9]
    big = pa.array([Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(5)], pa.decimal128(38, 0))
    assert codes(Integer(0, 9), big) == [9, 0, 5]
    everything = Integer(-(2**63), 2**63 - 1, bins=4)
    assert codes(everything, [-(2**63), -1, 0, 2**63 - 1]) == [0, 1, 2, 3]
    assert all(-(2**63) <= v < 2**63 for v in decoded(everything, [0, 1, 2, 3] * 50))
    precise = Integer(2**53, 2**53 + 9)
    assert codes(precise, [str(2**53 + 1), str(2**53 + 2)]) == [1, 2]
    assert codes(precise, [2**53 + 1]) == [1]
    assert codes(Category((2**60, 2**60 + 1)), [2**60 + 1, 2**60 + 2]) == [1, 2]
    assert codes(Category((2**60, 2**60 + 1)), [str(2**60 + 1)]) == [1]


def test_moments_of_every_unit_and_zone_fall_in_their_period() -> None:
    hours = Datetime(datetime(2020, 1, 1), datetime(2020, 1, 1, 23, 59, 59))
    noon = datetime(2020, 1, 1, 12, 30)
    for unit in ("s", "ms", "us", "ns"):
        assert codes(hours, [noon, None], pa.timestamp(unit)) == [12, 24]
        assert codes(hours, pa.array([noon], pa.timestamp(unit, "Europe/Paris"))) == [12]  # in UTC
    assert codes(hours, pa.array([2**62, -(2**62)], pa.timestamp("s"))) == [23, 0]
    assert codes(hours, [date(2020, 1, 1)], pa.date64()) == [0]
    spelled = [
        "2020-01-01",
        "2020-01-01T05",
        "2020-01-01 05:06",
        "2020-01-01T05:06:07.123456789",
        "2020-01-01T07:00:00+02:00",
    ]
    assert (
        codes(hours, [*spelled, "2020-13-01", "2020-02-30", "yesterday", "20200101"])
        == [0, 5, 5, 5, 5] + [24] * 4
    )
    days = Date(date(2020, 2, 28), date(2020, 3, 1))
    assert codes(days, [noon.replace(month=2, day=29)], pa.timestamp("ns")) == [1]
    assert codes(days, [date(2020, 2, 28), date(2020, 3, 1), date(1, 1, 1), date(9999, 12, 31)]) == [
        0,
        2,
        0,
        2,
    ]
    assert codes(days, pa.array([2**31 - 1, -(2**31)], pa.int32()).view(pa.date32())) == [2, 0]


@pytest.mark.parametrize(
    ("every", "wanted"),
    [
        ("year", [0, 0, 1]),
        ("quarter", [0, 0, 1]),
        ("month", [0, 1, 3]),
        ("week", [0, 4, 9]),
        ("day", [0, 30, 62]),
    ],
)
def test_periods_are_those_of_the_calendar(every: str, wanted: list[int]) -> None:
    column = Date(date(2019, 11, 4), date(2021, 1, 1), every)  # a Monday
    quarters = [date(2019, 11, 4), date(2019, 12, 4), date(2020, 1, 5)]
    if every == "month":
        quarters[2] = date(2020, 2, 5)
    if every == "week":
        quarters[2] = date(2020, 1, 6)
    assert codes(column, quarters) == wanted


def test_a_value_of_another_kind_is_read_by_its_text() -> None:
    assert codes(Category(("1", "2")), [1, 2, 3]) == [0, 1, 2]
    assert codes(Category(("1", "2")), [1.0, 2.0, float("nan")]) == [0, 1, 2]
    assert codes(Category(("true", "false")), [False, True]) == [1, 0]
    assert codes(Category(("2020-01-01",)), [date(2020, 1, 1)]) == [0]
    assert codes(Category(("a",)), pa.array([1577836800123456789], pa.timestamp("ns"))) == [1]
    assert codes(AGE, [True, False]) == [1, 0]
    assert codes(AGE, [date(2020, 1, 1)]) == [121]
    assert codes(Boolean(), [1, 0, 2, None]) == [1, 0, 2, 2]
    assert codes(Boolean(), [1.0, 0.0, 0.5]) == [1, 0, 2]
    assert codes(Boolean(), ["TRUE", "no", "T", "1", "maybe"]) == [1, 0, 1, 1, 2]


def test_types_come_back_as_promised() -> None:
    schema = Schema(
        {
            "text": Category(("a", "b"), outside="other"),
            "ints": Category((5, 6)),
            "floats": Category((0.5, 1.0)),
            "bools": Category((True, False)),
            "whole": Integer(0, 10**6, bins=10, special=(7,)),
            "number": Number(0, 1, bins=2, precision=0.01),
            "day": Date(date(2000, 1, 1), date(2000, 1, 2)),
            "moment": Datetime(datetime(2000, 1, 1), datetime(2000, 1, 2)),
            "instant": Datetime(datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 2, tzinfo=UTC)),
            "truth": Boolean(),
        }
    )
    encoder = Encoder(schema)
    kinds = [
        pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.int64(), pa.float64(), pa.date32(),
        pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.bool_(),
    ]  # fmt: skip
    for rows in (0, 5):
        table = encoder.reverse({name: np.zeros(rows, np.uint8) for name in schema.columns})
        assert table.schema.types == kinds
        assert table.num_rows == rows
    last = {name: np.array([column.size - 1]) for name, column in schema.columns.items()}
    assert set(encoder.reverse(last).to_pylist()[0].values()) == {None}
    assert decoded(schema.columns["text"], [2]) == ["other"]
    assert decoded(schema.columns["whole"], [10]) == [7]


def test_a_decoded_number_is_never_mistaken_for_a_special_one() -> None:
    column = Number(-1, 2, bins=1, special=(0, 1), precision=1)
    assert set(decoded(column, [0] * 200)) == {-1.0, 2.0}
    assert decoded(Number(-1, 1, bins=1, special=(0,)), [0], within="midpoint") != [0.0]
    assert set(decoded(Integer(0, 3, bins=1, special=(1,)), [0] * 200)) == {0, 2, 3}


def test_the_middle_is_taken_when_asked_for() -> None:
    assert decoded(Integer(0, 99, bins=10), [0, 9], within="midpoint") == [4, 94]
    assert decoded(Number(0, 10, bins=2), [0, 1], within="midpoint") == pytest.approx([2.5, 7.5])
    with pytest.raises(ParameterError, match="within 'mean'"):
        decoded(AGE, [0], within="mean")


def test_what_cannot_be_coded_is_refused_by_name() -> None:
    encoder = Encoder(Schema({"x": AGE}))
    with pytest.raises(SchemaError, match="'x' is not in the table"):
        encoder.forward(pa.table({"y": [1]}))
    with pytest.raises(SchemaError, match="stands 2 times"):
        encoder.forward(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]))
    with pytest.raises(FileError, match="nested type"):
        encoder.forward(pa.table({"x": [[1]]}))
    with pytest.raises(SchemaError, match="not known yet"):
        Encoder(Schema({"x": Integer()}))
    with pytest.raises(DomainError, match="'x': codes reach from 0 to 122"):
        encoder.reverse({"x": np.array([0, 122])})
    with pytest.raises(DomainError, match="'x' is not among"):
        encoder.reverse({})


def test_the_reader_is_told_only_types_whose_parser_agrees_with_the_grammar() -> None:
    schema = Schema(
        {
            "age": AGE,
            "marked": Integer(0, 9, missing=("N",)),
            "nines": Integer(0, 9, missing=("99",)),
            "huge": Integer(0, 2**60, bins=4),
            "codes": Category((1, 2)),
            "text": Category(("1", "2")),
            "open": Category(discover=True),
            "vet": Boolean(),
            "born": Date(date(2000, 1, 1), date(2001, 1, 1)),
        }
    )
    kinds = {name: str(kind) for name, kind in reading_types(schema).items()}
    assert kinds == {
        "age": "double", "marked": "string", "nines": "double", "huge": "string", "codes": "double",
        "text": "string", "open": "string", "vet": "string", "born": "date32[day]",
    }  # fmt: skip
    assert missing_text(schema)["marked"] == "N"
    assert missing_text(schema)["age"] == ""


def test_a_split_and_coded_table_comes_back_as_it_was() -> None:
    split = Split("pay", ("pay_a", "pay_b"))
    schema = split.describe(Schema({"sex": Category(("M", "F")), "pay": Integer(0, 10**7)}))
    assert list(schema.columns) == ["sex", "pay_a", "pay_b"]
    encoder = Encoder(schema)
    table = pa.table({"sex": ["M", "F", "M"], "pay": [4900, None, 9999998]})
    coded = encoder.forward(split.forward(table))
    assert [coded[name].tolist() for name in schema.columns] == [[0, 1, 0], [49, 52, 51], [0, 8, 6]]
    assert split.reverse(encoder.reverse(coded)).equals(table)
