"""Which records of a stream count: those that count in memory, in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from understudy.data import bound, count_values
from understudy.data.counting.bytes_of_values import value_bytes, values_of_bytes
from understudy.data.counting.kept_records import KeptRecords
from understudy.data.counting.open_values import nameable


def streamed(units: Any, values: Any, most: int, batch: int = 37) -> Counter[bytes]:
    store = KeptRecords(most, 1 << 24)
    for start in range(0, len(units), batch):
        store.add(units.slice(start, batch), value_bytes(values.slice(start, batch)))
    return Counter(content for some in store.contents() for content in some.to_pylist())


def in_memory(units: Any, values: Any, most: int) -> Counter[bytes]:
    contents = value_bytes(values)
    return Counter(contents.filter(pa.array(bound(units, contents, most))).to_pylist())


@pytest.mark.parametrize(
    "units",
    [
        pa.array(["a", "b", None, "a", "é", "a", ""]),
        pa.array([1.5, float("nan"), 1.5, None, -0.5, 1.5, 1e300, -1e300, float("inf"), 0.0, -0.0]),
        pa.array([None, None]),
        pa.array(["x", "y", "x", "x"]).dictionary_encode(),
        pa.array([2**62, -1, 2**62, 2**62], pa.int64()),
        pa.array([2**64 - 1, 0], pa.uint64()),
        pa.array([], pa.string()),
    ],
)
@pytest.mark.parametrize("most", [1, 2])
def test_units_of_any_type_are_bounded_as_in_memory(units: pa.Array, most: int) -> None:
    values = pa.array(range(len(units)))
    assert streamed(units, values, most, batch=2) == in_memory(units, values, most)


@pytest.mark.parametrize("most", [1, 3, 2_000_000])
def test_units_are_bounded_a_share_and_a_few_contents_at_a_time(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(
        "understudy.data.counting.kept_records.BYTES_A_RECORD", 1 << 20
    )  # as if memory held 128 records
    monkeypatch.setattr("understudy.data.counting.kept_records.HELD", 50)
    monkeypatch.setattr("understudy.data.counting.kept_records.FETCHED", 20)
    rng = np.random.default_rng(2)
    units = pa.array(np.where(rng.random(1000) < 0.4, 7, rng.integers(0, 60, 1000)))  # one has ever so many
    values = pa.array(rng.integers(0, 300, 1000))
    assert streamed(units, values, most) == in_memory(units, values, most)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.int32(), pa.float64(), pa.date32(), pa.uint64(), pa.bool_()]
)
def test_values_come_back_with_their_type(kind: pa.DataType) -> None:
    rng = np.random.default_rng(1)
    numbers = pa.array([None if i == 0 else i % 5 for i in rng.integers(0, 40, 500)])
    values = numbers.cast(pa.int32()).cast(kind)
    units = pa.array(rng.integers(0, 30, 500))
    named = nameable(values)
    found = streamed(units, named, 2)
    wanted = count_values(named.filter(pa.array(bound(units, value_bytes(named), 2))))
    contents = pa.array(found.elements(), pa.large_binary())
    assert count_values(values_of_bytes(contents, named.type)) == wanted
    assert sum(wanted.values()) == 60  # a record without a value takes nobody's place


def test_bytes_that_are_no_text_are_marked_and_other_texts_stay() -> None:
    found = values_of_bytes(pa.array([b"a", b"\xff", "é".encode()]), pa.large_string())
    assert found.to_pylist() == ["a", "\ufffd", "é"]
