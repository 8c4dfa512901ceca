"""Two worlds that differ in one unit, run side by side with the same answers.

The promise of a curator is that each question's exact counts move by at most the declared L1 *given all answers
before it*. So the second world is not given noise of its own: every question is counted in both worlds, and the
first world's answer is handed out in both. Whatever then differs (a question, its words, a stage, a type, an error,
a byte of the release) was decided by the one unit's records and by nothing that was paid for. No allowance has to be
made for what is learned: bounds, bins and values are learned from the same answers, so they must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import understudy as us
from understudy.data.forms.table_form import NO_FORM
from understudy.domain import Clique, Domain, Schema
from understudy.mechanisms.mechanism import Allotment, Fit, allot
from understudy.model import estimate
from understudy.pipeline.accuracy import error_check
from understudy.privacy import Budget, Curator, Group, Ledger, Neighbours, Seeded, calibrate
from understudy.privacy.accounting import spending
from understudy.privacy.curator import discovery, thresholded_histogram
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.transforms.compress import Compression
from understudy.transforms.derive import TableTransform

Counts = Mapping[Any, int] | npt.NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """How a person asks for a release: what the schema says, what is transformed, whose records are protected."""

    schema: Schema | None
    transforms: tuple[TableTransform, ...] = ()
    unit: str | None = None
    most: int | Literal["learn"] = 1
    check: bool = (
        True  # whether a last question tells the release's errors; it takes time where codes are many
    )

    @property
    def sensitivity(self) -> int:
        """The declared L1: the records that one unit may add to a marginal. So few units as here are bounded by 1."""
        return self.most if self.unit and self.most != "learn" else 1


@dataclass(frozen=True)
class EveryPair:
    """A mechanism that asks for every column and every pair of columns, whatever was answered."""

    name: str = "every pair"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        half = Fraction(1, 2)
        pairs = len(domain) * (len(domain) - 1) // 2
        return (
            Group("one-way", "measure", half, weights=(1.0,) * len(domain)),
            Group("pairs", "measure", half, weights=(1.0,) * pairs),
        )

    def cliques(self, domain: Domain) -> list[Clique]:
        return list(combinations(domain, 2))

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget)
        log = curator.measure([(name,) for name in domain], budget=losses["one-way"])
        pairs = curator.measure(self.cliques(domain), budget=losses["pairs"])
        return Fit((*log, *pairs), estimate(domain, log), Compression.none(domain))


@dataclass
class World:
    """Everything that happened in one run: what the curator saw, and what anybody else could."""

    seen: list[tuple[str, Counts]] = field(default_factory=list)  # exact counts, and what they are of
    told: list[Any] = field(default_factory=list)  # words of questions, stages, what the release says, errors
    answers: list[bytes] = field(default_factory=list)

    @property
    def error(self) -> str | None:
        """The error that ended the run, if one did."""
        return next((said[1] for said in self.told if said[0] == "error"), None)


class _Page:
    """Keeps a world's questions, and hands out the first world's answers."""

    def __init__(self, world: World, given: Sequence[bytes]) -> None:
        self._world, self._given = world, given

    def charge(self, number: int, question: Mapping[str, Any]) -> bytes | None:
        self._world.told.append(("question", number, repr(dict(question))))
        return None

    def stored(self, number: int) -> bool:
        return False

    def store(self, number: int, answer: bytes) -> bytes:
        self._world.answers.append(answer)
        return self._given[number] if number < len(self._given) else answer

    def finish(self, result: bytes = b"") -> bytes:
        return result


class _Book(Ledger):
    def __init__(self, page: _Page) -> None:
        self._page = page

    def finished(self, job: Any) -> bool:
        return False

    def open(self, *job: Any, **how: Any) -> Any:
        return self._page


@cache
def _calibrated(budget: Budget, groups: tuple[Group, ...], neighbours: Neighbours) -> Any:
    """The same plan has the same noise in every world: what it costs to find takes longer than a run."""
    return calibrate(budget, groups, neighbours)


@contextmanager
def _watched(world: World) -> Iterator[None]:
    """Every exact count that a curator sees is noted in the world."""
    sized = ExactCounts.unit_sizes
    counted, countable, past = ExactCounts.tables, discovery.countable, thresholded_histogram.past_threshold

    def count(self: ExactCounts, batch: Sequence[Clique]) -> Any:
        found = counted(self, batch)
        for clique, counts in zip(batch, found, strict=True):
            world.seen.append((f"{clique} of {self.domain.shape(clique)}", counts.copy()))
        return found

    def unit_sizes(self: ExactCounts, starts: Sequence[int]) -> Any:
        found = sized(self, starts)
        world.seen.append(("unit sizes", found.copy()))
        return found

    def values(counts: Mapping[Any, int]) -> Any:
        found = countable(counts)
        world.seen.append(("values", {(type(value).__name__, value): count for value, count in found}))
        return found

    def cells(places: Any, counts: Any, *rest: Any) -> Any:
        world.seen.append(("cells", dict(zip(places.tolist(), counts.tolist(), strict=True))))
        return past(places, counts, *rest)

    with (
        patch.object(ExactCounts, "tables", count),
        patch.object(ExactCounts, "unit_sizes", unit_sizes),
        patch.object(discovery, "countable", values),
        patch.object(thresholded_histogram, "past_threshold", cells),
        patch.object(
            spending, "calibrate", lambda budget, groups, who: _calibrated(budget, tuple(groups), who)
        ),
        # The last question is asked, about a few pairs and triples: all of them took longer than the rest of a run.
        patch.object(error_check, "MOST", {2: 5, 3: 2}),
    ):
        yield


def run(data: Any, setting: Setting, given: Sequence[bytes] = (), mechanism: Any = None) -> World:
    """One run through the public door."""
    world = World()
    with _watched(world):
        try:
            release = us.fit(
                data,
                setting.schema,
                epsilon=4.0,
                delta=1e-5,
                mechanism=mechanism or EveryPair(),
                ledger=_Book(_Page(world, given)),
                name="people",
                job="one",
                unit=setting.unit,
                max_records_per_unit=setting.most if setting.unit else None,
                transforms=setting.transforms,
                check=setting.check,
                source=Seeded(7),
                stage=lambda words: world.told.append(("stage", words)),
            )
        except BaseException as error:  # Polars panics with one that is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            world.told.append(("error", f"{type(error).__name__}: {error}"))
            return world
    world.told.append(("schema", release.schema.to_toml()))
    world.told.append(("certificate", repr(release.certificate)))
    world.told.append(("kind", release.kind))
    world.told.append(("transforms", repr(release.transforms)))
    world.told.append(("form", release.form.to_dict()))
    world.told.append(("records", _drawn(replace(release, form=NO_FORM))))
    return world


def _drawn(release: us.Release) -> pa.Table:
    return release.with_kind("arrow").sample(5, seed=1)


def differences(one: World, other: World, most: int) -> list[str]:
    """What tells the worlds apart though the answers are the same; `most` is what a count may move by."""
    found = []
    for before, after in zip(one.told, other.told, strict=False):
        if before != after:
            found.append(f"told {_short(before)} became {_short(after)}")
            break
    if not found and len(one.told) != len(other.told):
        found.append(f"told {len(one.told)} things, then {len(other.told)}")
    if len(one.seen) != len(other.seen):
        found.append(f"counted {len(one.seen)} times, then {len(other.seen)}")
    for (what, before), (what_now, after) in zip(one.seen, other.seen, strict=False):
        if what != what_now:
            found.append(f"{what} became {what_now}")
            break
        down, up = moved(before, after)
        if down or up > most:
            found.append(f"{what}: {down} records went, {up} came, of {most} at most")
            break  # the first of many: pairs move with their columns
    return found


def moved(before: Counts, after: Counts) -> tuple[int, int]:
    """By how many records the cells that fell have fallen, and those that grew have grown."""
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        if before.shape != after.shape:
            return int(before.sum()), int(after.sum())
        change = after - before
    else:
        assert isinstance(before, Mapping) and isinstance(after, Mapping)
        change = np.array(
            [after.get(value, 0) - before.get(value, 0) for value in {**before, **after}], np.int64
        )
    return int(-change[change < 0].sum()), int(change[change > 0].sum())


def _short(said: Any) -> str:
    text = repr(said)
    return text if len(text) < 300 else text[:300] + "..."
