"""The streamed engine: how often it reads, what it keeps on disk, and what it does when the disk is full."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from understudy.data import Streamed, Table
from understudy.data.engines.code_cache import CodeCache
from understudy.data.read_ahead import read_ahead
from understudy.domain import Domain
from understudy.errors import OperatorError, ParameterError

DOMAIN = Domain({"a": 3, "b": 300, "c": 70_000})
ROWS = 5000
PAIRS = list(combinations(DOMAIN, 2))


class Source:
    """Records in batches that counts how often it was read."""

    def __init__(self, rows: int = ROWS) -> None:
        rng = np.random.default_rng(1)
        self.codes = {name: rng.integers(0, size, rows) for name, size in DOMAIN.items()}
        self.units = rng.integers(0, rows // 3 + 1, rows)
        self.table, self.read = pa.table({**self.codes, "unit": self.units}), 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        self.read += 1
        yield from self.table.to_batches(max_chunksize=333)

    def engine(self, **settings: object) -> Streamed:
        return Streamed(DOMAIN, self.batches, self.coded, **settings)  # type: ignore[arg-type]

    @staticmethod
    def coded(batch: pa.RecordBatch) -> dict[str, np.ndarray]:
        return {name: batch.column(name).to_numpy() for name in DOMAIN}


def same(engine: Streamed, source: Source, cliques: list[tuple[str, ...]]) -> None:
    for found, wanted in zip(engine.count(cliques), Table(DOMAIN, source.codes).count(cliques), strict=True):
        np.testing.assert_array_equal(found.counts, wanted.counts)


def test_the_source_is_read_once_however_often_it_is_counted() -> None:
    source = Source()
    engine = source.engine().prepare()
    same(engine, source, PAIRS)
    same(engine, source, [("a",), ("b", "a")])
    engine.recode({"b": np.arange(300) // 3}).count(PAIRS)
    assert source.read == 1


def test_columns_alone_and_tables_just_counted_need_no_scan() -> None:
    engine = Source().engine().prepare()
    assert engine.scans([("a",), ("b",)]) == 0
    assert engine.scans([("a", "b")]) == 1
    engine.count([("a", "b")])
    assert engine.scans([("a", "b"), ("b", "a")]) == 0
    assert engine.recode({"a": np.array([0, 0, 1])}).scans([("a",), ("a", "b")]) == 1


def test_the_filled_cells_of_a_clique_are_those_of_the_table_in_memory() -> None:
    source = Source()
    maps = {"c": np.arange(70_000) // 7}
    for clique in [("a", "b", "c"), ("c", "a"), ("b",)]:
        found = source.engine().recode(maps).count_cells(clique)
        wanted = Table(DOMAIN, source.codes).recode(maps).count_cells(clique)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_little_memory_means_more_scans_and_the_same_counts() -> None:
    source = Source()
    engine = source.engine(memory=1 << 24)
    cliques = [("b", "a"), ("a", "c"), ("b", "c"), ("c", "a")]
    assert engine.scans(cliques) == 3
    same(engine, source, cliques)
    with pytest.raises(ParameterError, match="memory 5"):
        source.engine(memory=5)


def test_without_a_cache_every_scan_reads_the_source() -> None:
    source = Source()
    engine = source.engine(cache=False)
    same(engine, source, [("a", "b")])
    same(engine, source, [("a", "c")])
    assert source.read == 3  # the first one codes, finds faults and counts columns alone


def test_the_cache_has_no_name_and_goes_with_its_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    engine = Source().engine().prepare()
    handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    assert list(tmp_path.iterdir()) == []
    del engine
    if handles is not None:
        assert len(os.listdir("/proc/self/fd")) == handles - 1


def full_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let so many writes pass and refuse the rest."""
    real, left = os.pwrite, [after]

    def pwrite(*given: object) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "pwrite", pwrite)


def test_a_full_disk_costs_time_and_not_a_single_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.data.engines.code_recording.MOST_BLOCK", 1000)
    full_disk(monkeypatch, after=5)
    source = Source()
    engine = source.engine().prepare()
    same(engine, source, PAIRS)
    assert source.read == 2


def test_a_full_disk_with_a_unit_column_is_told_before_anything_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full_disk(monkeypatch, after=0)
    with pytest.raises(OperatorError, match="no room"):
        Source().engine(unit="unit").prepare()


def test_of_every_unit_the_same_records_are_counted_as_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.data.engines.code_recording.MOST_BLOCK", 999)
    source = Source()
    table = Table(DOMAIN, source.codes).bound(source.units, 2)
    engine = source.engine(unit="unit", most=2)
    for found, wanted in zip(
        engine.count([*PAIRS, ("b",), ()]), table.count([*PAIRS, ("b",), ()]), strict=True
    ):
        np.testing.assert_array_equal(found.counts, wanted.counts)
    assert source.read == 1


def test_a_source_that_gives_its_records_in_another_order_each_time_counts_the_same() -> None:
    found = []
    for seed in range(3):
        source = Source()
        order = pa.array(np.random.default_rng(seed).permutation(ROWS))
        source.table = source.table.take(order)
        found.append(source.engine(unit="unit", most=1).count(PAIRS))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one.counts, two.counts)


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_bound_that_is_none_is_refused(most: int) -> None:
    with pytest.raises(ParameterError, match="max_records_per_unit"):
        Source().engine(unit="unit", most=most).prepare()


def test_codes_outside_their_domain_are_refused_in_the_first_scan() -> None:
    engine = Streamed(
        Domain({"a": 2}), lambda: iter([pa.record_batch({"a": [0, 5]})]), lambda b: {"a": np.array(b["a"])}
    )
    with pytest.raises(ParameterError, match="'a'"):
        engine.prepare()


def test_an_error_of_the_source_is_raised_and_nothing_is_half_counted() -> None:
    calls = []

    def broken() -> Iterator[pa.RecordBatch]:
        calls.append(1)
        yield pa.record_batch({"a": [0, 1]})
        raise OperatorError("the line went dead.")

    engine = Streamed(Domain({"a": 2}), broken, lambda b: {"a": np.array(b["a"])})
    for _ in range(2):
        with pytest.raises(OperatorError, match="line went dead"):
            engine.count([("a",)])
    assert len(calls) == 2


def test_reading_ahead_stops_when_nobody_wants_more() -> None:
    ended = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            ended.append(True)

    stream = read_ahead(numbers())
    assert [next(stream), next(stream)] == [0, 1]
    stream.close()  # type: ignore[attr-defined]
    assert ended


def test_a_cache_gives_back_what_it_was_given() -> None:
    cache = CodeCache(DOMAIN)
    blocks = [{name: np.arange(n) % size for name, size in DOMAIN.items()} for n in (0, 1, 1000)]
    for block in blocks:
        cache.append(block, len(block["a"]))
    for (rows, found), block in zip(cache.blocks(["c", "a"]), blocks, strict=True):
        assert rows == len(block["a"])
        for name in ("a", "c"):
            np.testing.assert_array_equal(found[name], block[name])
    assert cache.bytes == 1001 * (1 + 2 + 4)
