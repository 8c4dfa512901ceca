"""Neighbouring tables replayed with frozen noise: the same questions, shapes and names, counts no further apart
than declared. What a curator releases is exact counts plus noise, so with equal noise the difference of two
releases is the difference of the counts, whatever the code between them does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from plain_engine import PlainEngine

from nightly import many
from understudy.domain import Domain
from understudy.marginals.query import Binned
from understudy.privacy import Approximate, Budget, Choice, Curator, Gaussian, Neighbours, Seeded
from understudy.privacy.curator import discovery, private_choice

DOMAIN = Domain({"a": 2, "b": 3, "c": 4})
PAIRS = list(itertools.combinations(DOMAIN.names, 2))
BUDGET = Budget(8.0, 1e-3)
LOSS = Gaussian(8.0)
MERGE = np.array([0, 1, 1, 0])
BINS = Binned((np.array([0, 1]), np.array([0, 1, 1])))
NEIGHBOURS_EACH = 5
TOWNS = ("Ely", "Wells", "Truro", "Ripon")


@dataclass
class Transcript:
    """All that an outsider sees, and the exact inputs of each draw."""

    words: list[str] = field(default_factory=list)
    released: list[np.ndarray] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)
    values: list[dict[Any, int]] = field(default_factory=list)


def replay(
    records: np.ndarray, neighbours: Neighbours, seed: int, monkeypatch: pytest.MonkeyPatch
) -> Transcript:
    seen = Transcript()
    columns = {name: records[:, i] for i, name in enumerate(DOMAIN)}
    engine = PlainEngine(columns, DOMAIN, {"town": [TOWNS[k] for k in records[:, 3]]})
    real_choose, real_countable = private_choice.choose, discovery.countable

    def choose(scores: Any, epsilon: float, sensitivity: int, source: Any) -> int:
        seen.scores.append(np.array(scores))
        assert sensitivity == neighbours.l1
        real_choose(scores, epsilon, sensitivity, source)
        return 1  # the same path for both: what differs must be in the scores

    def countable(counts: Any) -> Any:
        seen.values.append(dict(counts))
        return real_countable(counts)

    monkeypatch.setattr(private_choice, "choose", choose)
    monkeypatch.setattr(discovery, "countable", countable)
    curator = Curator(engine, BUDGET, neighbours=neighbours, source=Seeded(seed))

    def measure(who: Curator, *args: Any, **kwargs: Any) -> None:
        for m in who.measure(*args, budget=LOSS, **kwargs):
            seen.released.append(m.values)
            seen.scales.append(float(m.stddev))

    measure(curator, [("a",), ("b",), ("c",)], [1.0, 2.0, 3.0])
    coarse = curator.recode({"c": MERGE})

    def estimate(clique: Any) -> Any:
        return np.arange(coarse.domain.size(clique)) * 0.7

    for _ in range(2):
        coarse.choose(PAIRS, estimate, Choice(0.3))
    measure(coarse, [("a", "b"), ("b", "c")], queries=[BINS, None])
    curator.discover("town", Approximate(0.2, 1e-5))
    monkeypatch.undo()
    seen.words = [repr((charge.question, charge.losses, charge.part)) for charge in curator.charges]
    return seen


def tables(count: int, neighbours: Neighbours, draw: np.random.Generator) -> Iterator[tuple[Any, list[Any]]]:
    """Random tables, each with some neighbours: a unit of up to k records more, fewer, or changed."""
    top = np.array([*DOMAIN.values(), len(TOWNS)])

    def unit() -> Any:
        records = draw.integers(0, top, (int(draw.integers(1, neighbours.records + 1)), 4))
        if draw.random() < 0.5:
            records[:] = records[0]  # the worst case: all of a unit's records in one cell
        return records

    for _ in range(count):
        rest, own = draw.integers(0, top, (int(draw.integers(0, 12)), 4)), unit()
        table = np.vstack([rest, own])
        if neighbours.relation == "add-remove":
            yield table, [rest, *(np.vstack([table, unit()]) for _ in range(NEIGHBOURS_EACH - 1))]
        else:
            yield table, [np.vstack([rest, unit()]) for _ in range(NEIGHBOURS_EACH)]


def furthest(one: Transcript, two: Transcript, neighbours: Neighbours) -> float:
    """How far the two are apart, in units of what was declared, once nothing else differs."""
    assert one.words == two.words
    assert [r.shape for r in one.released] == [r.shape for r in two.released]
    apart = [a - b for a, b in zip(one.released, two.released, strict=True)]
    assert all((d == np.rint(d)).all() and np.abs(d).sum() <= neighbours.l1 for d in apart)
    for a, b in zip(one.scores, two.scores, strict=True):
        assert a.dtype == np.int64
        assert np.abs(a - b).max() <= neighbours.l1
    for left, right in zip(one.values, two.values, strict=True):
        assert sum(abs(left.get(v, 0) - right.get(v, 0)) for v in {*left, *right}) <= neighbours.l1
        assert all(left.get(v, right.get(v, 0)) <= neighbours.records for v in set(left) ^ set(right))
    moved = [float((d**2).sum()) / s**2 for d, s in zip(apart, one.scales, strict=True)]
    return LOSS.sigma * math.sqrt(max(sum(moved[:3]), sum(moved[3:])))


@pytest.mark.parametrize(
    "neighbours",
    [Neighbours(), Neighbours("add-remove", 3), Neighbours("replace"), Neighbours("replace", 2)],
    ids=str,
)
def test_neighbours_are_never_further_apart_than_declared(
    neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    distances, count = [], many(2_500)
    draw = np.random.default_rng(neighbours.l1)
    for seed, (table, others) in enumerate(tables(count // NEIGHBOURS_EACH, neighbours, draw)):
        one = replay(table, neighbours, seed, monkeypatch)
        for other in others:
            distances.append(furthest(one, replay(other, neighbours, seed, monkeypatch), neighbours))
    assert len(distances) == count
    assert max(distances) <= 1 + 1e-12
    assert max(distances) > 0.99, "the worst case was never met, so this shows little"


def test_a_unit_with_more_records_than_declared_is_bounded_by_the_engine() -> None:
    from understudy.data import Table

    units = np.array(["x"] * 50 + ["y"] * 2)
    table = Table(Domain({"a": 2}), {"a": np.array([0] * 50 + [1] * 2)}).bound(units, 4)
    (with_x,) = table.count([("a",)])
    assert with_x.counts.tolist() == [4, 2]
    curator = Curator(table, BUDGET, neighbours=Neighbours("add-remove", 4))
    (measured,) = curator.measure([("a",)], budget=LOSS)
    assert float(measured.stddev) == pytest.approx(4 * LOSS.sigma)
