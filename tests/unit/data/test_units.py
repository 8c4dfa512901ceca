"""What one person contributes is bounded, whatever the others do."""

from collections import Counter
from typing import Any

import defined_order
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Table, bound, count_values
from understudy.data.counting import unit_order
from understudy.data.counting.bytes_of_values import value_bytes
from understudy.data.counting.kept_records import KeptRecords
from understudy.errors import ParameterError


def kept(units: Any, contents: Any, most: int) -> list[bool]:
    return bound(units, value_bytes(contents), most).tolist()


def test_of_every_unit_so_many_records_are_kept() -> None:
    units = pa.chunked_array([["a", "b", "a"], ["a", "b", "c"]])
    for most, of_units in ((1, [1, 1, 1]), (2, [2, 2, 1]), (3, [3, 2, 1])):
        keep = kept(units, pa.array(range(6)), most)
        owners = units.filter(pa.array(keep)).to_pylist()
        assert [owners.count(unit) for unit in "abc"] == of_units


def test_records_without_a_unit_are_dropped() -> None:
    for units in ([None, "a", None], [None, 1, None], ["", "a", ""]):
        assert kept(pa.array(units), [1, 2, 3], 5) == [False, True, False]
    assert kept(np.array([np.nan, 1.0, np.nan]), [1, 2, 3], 5) == [False, True, False]
    assert kept(pa.array([1.0, float("nan")]), [1, 2], 5) == [True, False]
    assert kept(pa.nulls(3), [1, 2, 3], 5) == [False] * 3
    assert kept(pd.Series(["a", None, "b"], dtype="category"), [1, 1, 1], 1) == [True, False, True]


def test_no_records_are_no_records() -> None:
    assert kept(pa.array([], pa.string()), pa.array([], pa.string()), 3) == []


@pytest.mark.parametrize("most", [0, -1, 1.5, True, None, "2"])
def test_an_impossible_bound_is_refused(most: object) -> None:
    with pytest.raises(ParameterError, match="max_records_per_unit"):
        bound([1, 2], value_bytes([1, 2]), most)  # type: ignore[arg-type]


TABLES = st.lists(
    st.tuples(st.none() | st.sampled_from(["", "a", "b", "some longer unit"]), st.binary(max_size=10)),
    max_size=60,
)
FEW_CONTENTS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from([b"x", b"y", b"yy", b""])), max_size=80
)
MOST = st.sampled_from([1, 2, 5, 30, 10**7])


def of(table: list[tuple[str | None, bytes]], most: int) -> Counter[tuple[bytes, bytes]]:
    """What `bound` keeps of a table, as how often each content of each unit counts."""
    keep = bound(pa.array([u for u, _ in table], pa.string()), value_bytes([c for _, c in table]), most)
    return Counter((str(u).encode(), c) for (u, c), kept in zip(table, keep, strict=True) if kept)


def by_definition(table: list[tuple[str | None, bytes]], most: int) -> Counter[tuple[bytes, bytes]]:
    return defined_order.kept([(None if u is None else u.encode(), c) for u, c in table], most)


@given(table=TABLES | FEW_CONTENTS, most=MOST)
def test_the_records_kept_are_those_of_the_definition(
    table: list[tuple[str | None, bytes]], most: int
) -> None:
    assert of(table, most) == by_definition(table, most)


@given(table=TABLES | FEW_CONTENTS, most=MOST, data=st.data())
def test_one_unit_and_the_order_never_change_which_records_of_others_are_kept(
    table: list[tuple[str | None, bytes]], most: int, data: st.DataObject
) -> None:
    kept = of(table, most)
    assert of(data.draw(st.permutations(table)), most) == kept
    for unit in {unit for unit, _ in table if unit}:
        assert sum(times for (owner, _), times in kept.items() if owner == unit.encode()) <= most
        without = of([record for record in table if record[0] != unit], most)
        assert without == Counter({pair: n for pair, n in kept.items() if pair[0] != unit.encode()})


@pytest.mark.parametrize("rows", [20, 200])
@pytest.mark.parametrize("most", [1, 7, 50])
def test_contents_that_share_a_hash_are_told_apart_by_their_bytes(
    rows: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a hash that is the same for all: the order is the bytes', and each content's records are numbered."""
    monkeypatch.setattr(unit_order, "hash_bytes", lambda offsets, data: np.zeros(len(offsets) - 1, np.uint64))
    monkeypatch.setattr(defined_order, "hashed", lambda data: 0)
    rng = np.random.default_rng(rows)
    table: Any = [("ab"[i], bytes([j])) for i, j in zip(*rng.integers(0, [[2], [9]], (2, rows)), strict=True)]
    wanted = by_definition(table, most)
    assert of(table, most) == of(table[::-1], most) == wanted
    store = KeptRecords(most, 1 << 24)
    for unit, content in table:
        store.add(pa.array([unit]), value_bytes([content]))
    found = Counter(c for some in store.contents() for c in some.to_pylist())
    assert found == sum((Counter({c: n}) for (_, c), n in wanted.items()), Counter())


def test_the_records_kept_are_like_the_rest() -> None:
    """A unit that has one value nine times in ten has it so often among those kept, whatever the codes are."""
    units = np.repeat(np.arange(3000), 10)
    values = np.tile([1] + [0] * 9, 3000)
    for rare in (0, 2):  # less and greater than the common one
        codes = np.where(values, rare, 1)
        table = Table({"x": 3}, {"x": codes}).bound(units, 1)
        share = np.mean(table.columns["x"] == rare)
        assert abs(share - 0.1) < 5 * np.sqrt(0.09 / 3000)


def test_a_table_is_bounded_by_its_units() -> None:
    table = Table({"x": 3}, {"x": [0, 1, 2, 2]}).bound(["a", "a", "b", None], 1)
    assert sorted(table.columns["x"].tolist())[-1] == 2 and len(table) == 2
    with pytest.raises(ParameterError, match="one unit a record"):
        table.bound(["a"], 1)


def test_values_of_an_open_category_are_counted_without_missing_ones() -> None:
    assert count_values(pa.chunked_array([["x", None], ["y", "x", ""]])) == {"x": 2, "y": 1, "": 1}
    assert count_values(pa.array([1, 1, None])) == {1: 2}
    assert count_values(pa.array([1.5, 2.0, float("nan")])) == {"1.5": 1, "2": 1}
    assert count_values(pa.array(["x", "x"]).dictionary_encode()) == {"x": 2}
    assert count_values(pa.nulls(4)) == {}
    assert count_values(pa.array([], pa.string())) == {}
    assert count_values(pa.array([True, False, True])) == {True: 2, False: 1}
