"""Pairs that were asked only for what their columns do not say alone are drawn whole, with the noise they have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.pipeline.accuracy.direct_counts import DirectCounts
from understudy.report.code_groups import CodeGroup
from understudy.report.completed_pairs import completed_pair
from understudy.report.measured_codes import pair_table
from understudy.report.measured_pairs import MeasuredPair
from understudy.report.signal import signal_to_noise
from understudy.transforms.compress import Compression

DOMAIN = Domain({"a": 3, "b": 4, "c": 2})
TABLE = np.random.default_rng(0).integers(5, 200, DOMAIN.shape()).astype(float)
ALONE, OF_PAIR, OF_TRIPLE = 4.0, 9.0, 20.0
GROUPS = [CodeGroup("first", (0, 2), 2, 0), CodeGroup("second", (1,), 1, 0)]


def measured(draw: np.random.Generator, kept: tuple[int, ...] = ()) -> tuple[Measurement, ...]:
    """Every column alone, and interactions of a pair and of all three columns, some axes not left out of them."""
    found = []
    for axis, name in enumerate(DOMAIN):
        counts = TABLE.sum(axis=tuple(other for other in range(3) if other != axis))
        found.append(Measurement(name, counts + draw.normal(0, ALONE, counts.size), ALONE))
    for clique, table, noise in (
        (("b", "a"), TABLE.sum(axis=2).T, OF_PAIR),
        (("a", "b", "c"), TABLE, OF_TRIPLE),
    ):
        query = Interactions(table.shape, [(axis,) for axis in range(table.ndim) if axis not in kept])
        answers = query.apply(table) + draw.normal(0, noise * query.cells, query.cells)
        found.append(Measurement(clique, answers, noise * query.cells, query))
    return tuple(found)


def release(draw: np.random.Generator, kept: tuple[int, ...] = ()) -> Any:
    return SimpleNamespace(measurements=measured(draw, kept), field=SimpleNamespace(domain=DOMAIN))


@pytest.mark.parametrize("kept", [(), (0,)])
def test_values_are_right_in_the_mean_and_as_far_off_as_they_say(kept: tuple[int, ...]) -> None:
    draw, off = np.random.default_rng(1), []
    exact = TABLE.sum(axis=2)
    sums = np.stack([exact[[0, 2]].sum(axis=0), exact[1]])
    for _ in range(4_000):
        table = pair_table(release(draw, kept), ("a", "b"))
        assert table is not None
        grouped = table.grouped(0, GROUPS)
        off.append(
            np.concatenate(
                [((t.values - e) / t.stddev).ravel() for t, e in ((table, exact), (grouped, sums))]
            )
        )
    assert np.abs(np.mean(off, axis=0)).max() < 0.1
    assert np.abs(np.std(off, axis=0) - 1).max() < 0.06


@pytest.mark.parametrize("kept", [(), (0,), (1,), (0, 1)])
def test_a_count_by_interactions_and_columns_lies_within_its_interval_as_often_as_it_says(
    kept: tuple[int, ...],
) -> None:
    draw, held = np.random.default_rng(2), []
    cells = np.zeros((3, 4), bool)
    cells[0, 1:3], cells[2, 3] = True, True
    true = float(TABLE.sum(axis=2)[cells].sum())
    none = Compression.none(DOMAIN)
    for _ in range(2_000):
        counts = DirectCounts(measured(draw, kept)[:4], none)
        found = counts.count(("a", "b"), cells, cells, 0.9)
        assert found is not None
        held.append(found[0] <= true <= found[1])
    assert abs(np.mean(held) - 0.9) < 0.03


def test_a_column_is_told_by_a_pair_that_left_nothing_out_as_often_as_its_interval_says_and_better() -> None:
    draw, held, wide = np.random.default_rng(3), [], []
    cells = np.array([True, False, True])
    true = float(TABLE.sum(axis=(1, 2))[cells].sum())
    none = Compression.none(DOMAIN)
    for _ in range(2_000):
        alone = measured(draw)[:3]
        query = Interactions((3, 4), [])
        answers = query.apply(TABLE.sum(axis=2)) + draw.normal(0, OF_PAIR * query.cells / 8, query.cells)
        pair = Measurement(("a", "b"), answers, OF_PAIR * query.cells / 8, query)
        found = DirectCounts((*alone, pair), none).count(("a",), cells, cells, 0.9)
        plain = DirectCounts(alone, none).count(("a",), cells, cells, 0.9)
        assert found is not None and plain is not None
        held.append(found[0] <= true <= found[1])
        wide.append((found[1] - found[0]) / (plain[1] - plain[0]))
    assert abs(np.mean(held) - 0.9) < 0.03
    assert max(wide) < 0.9


def test_a_count_of_a_pair_takes_its_columns_from_pairs_that_tell_them_where_that_has_less_noise() -> None:
    draw, held, wide = np.random.default_rng(4), [], []
    cells = np.zeros((3, 4), bool)
    cells[0, 1:3], cells[2, 3] = True, True
    true = float(TABLE.sum(axis=2)[cells].sum())
    none, sums = Compression.none(DOMAIN), {("a", "c"): TABLE.sum(axis=1), ("b", "c"): TABLE.sum(axis=0)}
    for _ in range(2_000):
        first = measured(draw)[:4]
        telling = []
        for pair, table in sums.items():
            query = Interactions(table.shape, [])
            answers = query.apply(table) + draw.normal(0, OF_PAIR * query.cells / 20, query.cells)
            telling.append(Measurement(pair, answers, OF_PAIR * query.cells / 20, query))
        found = DirectCounts((*first, *telling), none).count(("a", "b"), cells, cells, 0.9)
        plain = DirectCounts(first, none).count(("a", "b"), cells, cells, 0.9)
        assert found is not None and plain is not None
        held.append(found[0] <= true <= found[1])
        wide.append((found[1] - found[0]) / (plain[1] - plain[0]))
    assert abs(np.mean(held) - 0.9) < 0.03
    assert max(wide) < 1.0


def test_columns_that_do_not_go_together_are_faint_however_noisy_each_is_alone() -> None:
    draw, ratios = np.random.default_rng(5), []
    apart = np.outer([500.0, 300.0, 200.0], [400.0, 100.0, 300.0, 200.0]) / 1000
    query = Interactions(apart.shape, [(0,), (1,)])
    for _ in range(200):
        answers = query.apply(apart) + draw.normal(0, query.cells, query.cells)
        pair = Measurement(("a", "b"), answers, float(query.cells), query)
        alone = [apart.sum(axis=1) + draw.normal(0, 100, 3), apart.sum(axis=0) + draw.normal(0, 100, 4)]
        found = completed_pair(
            SimpleNamespace(measurements=(pair,)), ("a", "b"), [(c, np.full(c.size, 1e4)) for c in alone]
        )
        assert found is not None
        ratios.append(found.signal_to_noise(apart).ratio)
    assert np.mean(np.array(ratios) > 0.5) < 0.25
    assert np.mean(ratios) < 0.4


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (5, 6)])
@pytest.mark.parametrize("beyond", [True, False])
def test_one_independent_pair_in_a_hundred_looks_clear(shape: tuple[int, int], beyond: bool) -> None:
    draw = np.random.default_rng(6)
    apart = np.outer(np.arange(1.0, shape[0] + 1), np.arange(2.0, shape[1] + 2)) * 100
    query, clear, runs = Interactions(shape, [(0,), (1,)]), 0, 3_000
    for _ in range(runs):
        if beyond:
            answers = query.apply(apart) + draw.normal(0, query.cells, query.cells)
            measured = (Measurement(("a", "b"), answers, float(query.cells), query),)
            alone = [(apart.sum(axis=1 - axis), np.ones(shape[axis])) for axis in (0, 1)]
            found = completed_pair(SimpleNamespace(measurements=measured), ("a", "b"), alone)
            assert found is not None
            signal = found.signal_to_noise(apart)
        else:
            signal = signal_to_noise(draw.normal(0, 1, shape), np.ones(shape))
        clear += MeasuredPair("a", "b", signal, 2).strength != "faint"
    assert clear / runs < 0.016


def test_a_pair_that_was_never_measured_has_no_table() -> None:
    assert pair_table(release(np.random.default_rng(0)), ("a", "d")) is None
