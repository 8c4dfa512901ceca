"""Pairs are measured where they tell more than chance and noise; else all goes to the columns."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain import Integer, Schema
from understudy.mechanisms.adaptive import doubt
from understudy.mechanisms.adaptive.decisions import FOUND_LITTLE, ONLY_COLUMNS
from understudy.model import estimate
from understudy.privacy import Budget, Curator, Gaussian, Group, Seeded, recompute

Codes = Mapping[str, npt.NDArray[np.int64]]
CODES, COLUMNS = 12, 8


def records(rows: int, *, dependent: bool) -> Codes:
    rng = np.random.default_rng(3)
    first = rng.integers(0, CODES, rows)
    moved = [
        np.where(rng.random(rows) < 0.8, first, rng.integers(0, CODES, rows)) for _ in range(COLUMNS - 1)
    ]
    alone = [rng.integers(0, CODES, rows) for _ in range(COLUMNS - 1)]
    return {f"c{place}": column for place, column in enumerate([first, *(moved if dependent else alone)])}


def engine(columns: Codes) -> us.Counter:
    schema = Schema(
        {name: Integer(0, CODES - 1, bins=CODES, missing=False, ordered=False) for name in columns}
    )
    return us.table(pa.table(dict(columns)), schema)


def found(rows: int, *, dependent: bool, hidden: float, sigma: float = 4.0) -> doubt.Doubt:
    table = engine(records(rows, dependent=dependent))
    curator = Curator(table, Budget(4.0, 1e-9), source=Seeded(7))
    groups = [Group("alone", "measure", Fraction(1, 2)), Group("pool", "measure", Fraction(1, 2))]
    losses = curator.commit(groups)
    alone = curator.measure(list(table.domain), budget=losses["alone"])
    field = estimate(table.domain, alone)
    pool = losses["pool"]
    assert isinstance(pool, Gaussian)
    return doubt.doubted(curator, field, alone, pool, hidden)


def test_dependence_is_found_and_its_absence_too() -> None:
    assert found(3000, dependent=True, hidden=0.8) == doubt.Doubt(True, doubt.SHARE)
    assert found(3000, dependent=False, hidden=0.8) == doubt.Doubt(False, doubt.SHARE)


def test_nothing_is_asked_where_little_is_hidden_or_the_answer_would_be_noise() -> None:
    nothing = Fraction(0)
    assert found(3000, dependent=False, hidden=0.4) == doubt.Doubt(True, nothing)
    assert found(8, dependent=True, hidden=0.9) == doubt.Doubt(False, nothing)
    assert found(8, dependent=True, hidden=0.6) == doubt.Doubt(True, nothing)


@pytest.mark.parametrize("rows", [60, 900])
def test_what_gives_up_on_pairs_spends_all_on_columns(rows: int) -> None:
    table = engine(records(rows, dependent=False))
    told = {}
    for mechanism in (us.Adaptive(), us.Independent()):
        curator = Curator(table, Budget(1.0, 1e-9), source=Seeded(5))
        fit = mechanism(curator, table.domain, curator.budget)
        assert {len(m.clique) for m in fit.measurements} == {1}
        told[mechanism.name] = sum(float(np.max(m.stddev)) ** -2 for m in fit.measurements)
        assert recompute(curator.certificate()) <= 1.0
        if mechanism.name == "adaptive":
            assert fit.decisions in ((FOUND_LITTLE,), (ONLY_COLUMNS,))
    # What is lost: the question, and what it costs that the noise of portions is not known beforehand.
    assert told["adaptive"] > 0.94 * told["independent"]
