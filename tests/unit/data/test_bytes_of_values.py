"""The bytes that units and values are told apart by."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from understudy.data.counting.bytes_of_values import code_bytes, codes_of_bytes, unit_bytes, value_bytes
from understudy.domain import Domain


@pytest.mark.parametrize(
    "same",
    [
        pa.array([12], pa.int8()),
        pa.array([12], pa.uint64()),
        pa.array([12.0]),
        pa.array([12.0], pa.float32()),
        pa.array([np.float16(12)], pa.float16()),
        pa.array([Decimal("12.00")], pa.decimal128(9, 2)),
        pa.array(["12"]),
        pa.array(["12"], pa.large_string()),
        pa.array(["12"], pa.string_view()),
        pa.array([b"12"]),
        pa.array(["12"]).dictionary_encode(),
        pa.array([12]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array(["12"])),
        pa.chunked_array([pa.array([12])]),
    ],
    ids=lambda array: str(array.type),
)
def test_a_unit_is_the_same_whatever_type_it_came_in(same: Any) -> None:
    assert unit_bytes(same).to_pylist() == [b"12"]


@pytest.mark.parametrize(
    ("array", "apart"),
    [
        (pa.array(["a", "A", " a", "a ", "á", "012", "12", "12.0"]), 8),
        (pa.array([0.0, -0.0, 0.5, 1e300, -1e300, 5e-324, float("inf"), float("-inf"), 2.0**63, 2.0**53]), 9),
        (pa.array([10.0, 100.0, 1e18, 1e19, 1e20]), 5),
        (pa.array([Decimal("100"), Decimal("10"), Decimal("0.10"), Decimal("0.01")], pa.decimal128(9, 2)), 4),
        (pa.array([-(2**63), 2**63 - 1, 2**53, 2**53 + 1]), 4),
        (pa.array([-(2**63) + 1, 2**63 - 1, 0, 1], pa.int64()).view(pa.timestamp("ns")), 4),
        (pa.array([-(2**63) + 1, 2**63 - 1, 0, 1], pa.int64()).view(pa.timestamp("s", "UTC")), 4),
        (pa.array([-(2**31), 2**31 - 1, 0, 1], pa.int32()).view(pa.date32()), 4),
        (pa.array([-(2**63) + 1, 2**63 - 1, 0, 86_400_000], pa.int64()).view(pa.date64()), 4),
        (pa.array([1, 10, 100, 1_000_000], pa.int64()).view(pa.duration("us")), 4),
        (pa.array([0, 1, 10, 1_000_000], pa.int64()).view(pa.time64("us")), 4),
        (pa.array([b"\xff", b"\xfe", b"a\x00", b"a"]), 4),
        (pa.array([True, False]), 2),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else None,
)
def test_different_values_have_different_bytes_however_odd_they_are(array: Any, apart: int) -> None:
    found = value_bytes(array).to_pylist()
    assert None not in found and len(set(found)) == apart


def test_bytes_that_are_no_text_are_bytes_and_no_error() -> None:
    bad = pa.array([b"\xff\xfe", b"ok"]).view(pa.string())
    assert unit_bytes(bad).to_pylist() == [b"\xff\xfe", b"ok"]


def test_what_is_missing_is_missing_in_every_type() -> None:
    assert unit_bytes(pa.array([None, "", "x"])).to_pylist() == [None, None, b"x"]
    assert value_bytes(pa.array([None, "", "x"])).to_pylist() == [None, b"", b"x"]
    assert unit_bytes(pa.array([None, float("nan"), 1.5])).to_pylist() == [None, None, b"1.5"]
    assert unit_bytes(pa.array(["", None, "x"]).dictionary_encode()).to_pylist() == [None, None, b"x"]
    assert unit_bytes(pa.nulls(2)).to_pylist() == [None, None]
    assert unit_bytes(pa.chunked_array([], pa.string())).to_pylist() == []


def test_a_moment_is_the_same_whatever_its_type_counts_in() -> None:
    moment = datetime(2020, 1, 1, 10, tzinfo=UTC)
    kinds = [pa.timestamp(unit, "UTC") for unit in ("s", "ms", "us", "ns")]
    assert {value_bytes(pa.array([moment], kind))[0].as_py() for kind in kinds} == {b"2020-01-01 10:00:00"}
    assert value_bytes(pa.array([date(2020, 1, 1)])).to_pylist() == [b"2020-01-01"]


def test_codes_are_packed_and_unpacked() -> None:
    domain = Domain({"a": 2, "b": 300, "c": 70_000, "d": 256})
    rng = np.random.default_rng(0)
    codes: Any = {name: rng.integers(0, size, 50).astype(np.uint32) for name, size in domain.items()}
    contents = code_bytes(domain, codes, 50)
    assert len(set(contents.to_pylist())) == len(
        set(zip(*(codes[name].tolist() for name in domain), strict=True))
    )
    for rows in (
        contents,
        pa.chunked_array([contents.slice(0, 7), contents.slice(7)]),
        contents.cast(pa.binary()),
    ):
        for name, found in codes_of_bytes(domain, rows).items():
            np.testing.assert_array_equal(found, codes[name])
    assert codes_of_bytes(domain, contents.slice(3, 4))["c"].tolist() == codes["c"][3:7].tolist()
    assert (
        code_bytes(Domain({}), {}, 3).to_pylist() == [b""] * 3
        and codes_of_bytes(Domain({}), code_bytes(Domain({}), {}, 3)) == {}
    )
