"""The kernel, batch by batch: counts add, memory is bounded."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from understudy.data import Histogram
from understudy.data.counting import histogram as histogram_module
from understudy.data.counting import packing
from understudy.data.counting.packing import pack, plan
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError

SIZES = {"a": 3, "b": 70_000, "c": 5, "d": 2, "e": 300}
DOMAIN = Domain(SIZES)
CLIQUES = [*combinations("acde", 2), ("a", "b"), ("b", "d"), ("c", "a", "d"), ("e",), ()]


def count_batch(columns: dict, domain: Domain, cliques: list) -> list[np.ndarray]:
    histogram = Histogram(domain, cliques)
    histogram.add(columns)
    return histogram.counts()


def batch(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(0, size, rows, dtype=np.uint32) for name, size in SIZES.items()}


def test_counts_of_batches_add_up_to_the_counts_of_all() -> None:
    whole = batch(5000)
    parts = Histogram(DOMAIN, CLIQUES)
    for start, stop in [(0, 1), (1, 1), (1, 70), (70, 4000), (4000, 5000)]:
        parts.add({name: codes[start:stop] for name, codes in whole.items()})
    assert parts.rows == 5000
    for one, other in zip(parts.counts(), count_batch(whole, DOMAIN, CLIQUES), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_number_of_threads_and_size_of_block_counts_the_same(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(histogram_module, "SMALL_WORK", 0)
    monkeypatch.setattr(histogram_module, "WORKING_BYTES", 200_000)  # blocks of 1,024 records
    whole = batch(10_000)
    counted = Histogram(DOMAIN, CLIQUES, threads=threads)
    done: list[int] = []
    counted.add(whole, advance=done.append)
    assert sum(done) == 10_000
    assert len(done) > 5
    for clique, counts in zip(CLIQUES, counted.counts(), strict=True):
        assert counts.sum() == 10_000
        if clique:
            expected = np.zeros(DOMAIN.shape(clique), np.int64)
            np.add.at(expected, tuple(whole[name] for name in clique), 1)
            np.testing.assert_array_equal(counts, expected)


def test_bad_batches_are_refused_whole() -> None:
    histogram = Histogram(DOMAIN, [("a", "c")])
    with pytest.raises(DomainError, match="'c'"):
        histogram.add({"a": [1]})
    with pytest.raises(ParameterError, match="'a'"):
        histogram.add({"a": [3], "c": [0]})
    with pytest.raises(ParameterError, match="lengths"):
        histogram.add({"a": [1], "c": [0, 1]})
    assert histogram.rows == 0
    assert histogram.counts()[0].sum() == 0


def test_columns_that_no_clique_names_are_not_looked_at() -> None:
    (counts,) = count_batch({"a": [1, 2], "zzz": ["never", "read"]}, DOMAIN, [("a",)])
    assert counts.tolist() == [0, 1, 1]


def test_memory_beside_the_results_stays_within_the_stated_figure() -> None:
    domain = Domain({f"c{i}": 4 for i in range(300)})
    columns = {name: np.zeros(100_000, np.uint8) for name in domain}
    cliques = list(combinations(domain, 2))[::9]
    histogram = Histogram(domain, cliques)
    tracemalloc.start()
    histogram.add(columns, checked=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < histogram_module.WORKING_BYTES


def test_all_pairs_of_small_columns_take_far_fewer_passes_than_pairs() -> None:
    sizes = {f"c{i}": 4 for i in range(40)}
    passes = plan(list(combinations(sizes, 2)), sizes, 1_000_000)
    assert sorted(number for step in passes for number in step.cliques) == list(range(780))
    assert len(passes) < 780 / 8


@pytest.mark.parametrize("rows", [0, 1, 50, 20_000])
@pytest.mark.parametrize("orders", [(1,), (2,), (3,), (4,), (0, 1, 2, 3, 4)])
def test_packed_columns_are_counted_like_plain_ones(
    rows: int, orders: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "WORTH_PACKING", 0)
    monkeypatch.setattr(packing, "FOLD_START", 0)
    monkeypatch.setattr(packing, "FOLD_COST", 0.0)
    domain = Domain({"a": 3, "b": 1, "c": 5, "d": 2, "e": 300, "f": 4, "g": 2, "h": 70_000})
    rng = np.random.default_rng(rows)
    columns = {name: (rng.random(rows) ** 2 * size).astype(np.uint32) for name, size in domain.items()}
    cliques = [
        tuple(rng.permutation(clique).tolist())
        for order in orders
        for clique in combinations(domain, order)
        if domain.size(clique) < 10**6
    ]
    if rows == 20_000 and max(orders) > 1:
        assert any(not step.in_place for step in plan(cliques, domain, rows))
    for clique, counts in zip(cliques, count_batch(columns, domain, cliques), strict=True):
        expected = np.zeros(domain.shape(clique), np.int64)
        np.add.at(expected, tuple(columns[name] for name in clique), 1) if clique else expected.fill(rows)
        np.testing.assert_array_equal(counts, expected)


def test_a_few_scattered_cliques_are_not_packed() -> None:
    sizes = {f"c{i}": 4 for i in range(40)}
    passes = plan([("c0", "c1"), ("c7", "c9", "c30")], sizes, 100_000_000)
    assert all(step.in_place for step in passes)


def test_no_packed_unit_is_larger_than_its_cap() -> None:
    sizes = {"huge": 1000, "one": 1, **{f"c{i}": 2 + i for i in range(20)}}
    units = pack(list(sizes), sizes, 256)
    assert set(units) == set(sizes)
    assert units["huge"] == ("huge",)
    for unit in set(units.values()):
        assert len(unit) == 1 or np.prod([sizes[name] for name in unit]) <= 256


def test_records_whose_packed_codes_fit_are_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read off once a block, which for thousands of cliques takes longer than to fill them."""
    names = [f"c{number}" for number in range(64)]
    domain = Domain(dict.fromkeys(names, 2))
    histogram = Histogram(domain, combinations(names, 2), threads=1)
    monkeypatch.setattr(histogram_module, "WORKING_BYTES", 2_000_000)
    rows = 30_000  # at two bytes a column, alone and packed, 3,800 would fit
    assert histogram._block_rows(rows) == rows
    assert histogram._block_rows(1_000_000) < 4_000
    codes = {name: np.random.default_rng(0).integers(0, 2, rows) for name in names}
    histogram.add(codes)
    assert histogram._packed.nbytes <= 1_000_000
    for pair, counts in zip(histogram.cliques, histogram.counts(), strict=True):
        both = 2 * codes[pair[0]] + codes[pair[1]]
        assert np.array_equal(counts.reshape(-1), np.bincount(both, minlength=4))
