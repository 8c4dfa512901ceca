"""What an attacker sees of one run: the noisy log, and how much likelier one world makes it than the other.

The attacker knows both worlds, and so the exact counts of every cell in each; of the log he takes the cells in
which the worlds differ. The log of the likelihood ratio adds up over them: noise is independent from cell to cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.auditing.recording_ledger import Answered
from understudy.domain import Clique
from understudy.marginals import Counter
from understudy.marginals.interactions import Interactions
from understudy.pipeline import Release
from understudy.privacy import Budget, Curator, Gaussian, Laplace, Loss, loss_from_dict
from understudy.privacy.curator.noisy_marginals import reach
from understudy.privacy.curator.verification import charged_interactions
from understudy.privacy.ledger.stored_answers import unpack, unpack_text

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
# The variance of the square of noise that is measured in units of its standard deviation.
_SQUARES = {"gaussian": 2.0, "laplace": 5.0}
_FAR = 600.0  # standard deviations that noise exceeds with a chance below e^-800
_FINE = 2.0  # from this scale on, noise in whole numbers is as wide as noise in real ones
_SURE = 7.0  # standard deviations that a sum of many squares falls short of with next to no chance


@dataclass(frozen=True)
class TellingMarginal:
    """A noisy marginal: the law of its noise, and what the cells in which the worlds differ hold in each.

    A `threshold` above 0: cells whose noisy count is below it were left out.
    """

    law: str
    scale: float
    threshold: int
    without: tuple[int, ...]
    with_: tuple[int, ...]

    def ratio(self, noisy: Floats) -> Floats:
        """The log-likelihood ratio of these cells' noisy counts, along the last axis; NaN is a cell left out."""
        before, after = np.array(self.without, np.float64), np.array(self.with_, np.float64)
        if self.law == "gaussian":
            cells = (after - before) * (noisy - (before + after) / 2) / self.scale**2
        else:
            cells = (np.abs(noisy - before) - np.abs(noisy - after)) / self.scale
        if self.threshold:
            silent = [
                self._silence(a) - self._silence(b) for b, a in zip(self.without, self.with_, strict=True)
            ]
            cells = np.where(np.isnan(noisy), silent, cells)
        return np.asarray(cells.sum(axis=-1), np.float64)

    def _silence(self, count: int) -> float:
        """The log of the chance that a cell with this count is left out."""
        q, short = math.exp(-1 / self.scale), self.threshold - count
        lifted = q**short / (1 + q) if short > 0 else 1 - q ** (1 - short) / (1 + q)
        return math.log(max(1 - lifted, 1e-300))


@dataclass(frozen=True)
class Batch:
    """Marginals that were asked for together, and the loss they were charged at."""

    loss: Gaussian | Laplace
    marginals: tuple[TellingMarginal, ...]

    @classmethod
    def of_interactions(
        cls, loss: Gaussian, marginals: Sequence[TellingMarginal], queries: Sequence[Interactions | None]
    ) -> Batch:
        """A batch with interactions as one of cells that tell as much.

        All answers of an interaction move, and what they tell together is how far: what one cell tells that moves as
        far in its own noise. So a replay draws from the curator what marginals of these weights have; whether noise
        of interactions is as wide as declared is seen in runs of `fit` (`Noise`).
        """
        neighbours = loss.neighbours
        reaches = [reach(query, neighbours) for query in queries]
        weights = tuple(
            loss.sigma * far / marginal.scale for far, marginal in zip(reaches, marginals, strict=True)
        )
        known = Gaussian(loss.sigma, weights, neighbours)
        cells = []
        for marginal, query, far, scale in zip(marginals, queries, reaches, known.scales, strict=True):
            moved = np.array(marginal.with_, np.float64) - np.array(marginal.without, np.float64)
            whole = math.floor(neighbours.l2 * float(np.linalg.norm(moved)) / far + 1e-9)
            told = ((0,), (whole,)) if whole else ((), ())
            cells.append(marginal if query is None else TellingMarginal("gaussian", scale, 0, *told))
        return cls(known, tuple(cells))


@dataclass(frozen=True)
class Worlds:
    """The records of both worlds as engines, under one schema: exact counts, of tables that were made up."""

    without: Counter
    with_: Counter

    def moved(self) -> int:
        """The furthest that any marginal of one or two columns moves from world to world, in records."""
        names = self.without.domain.names
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        return max(
            int(np.abs(after - before).sum())
            for before, after in self.counts([*((name,) for name in names), *pairs])
        )

    def counts(self, cliques: Sequence[Clique]) -> list[tuple[Integers, Integers]]:
        """The flat counts of each marginal, in both worlds."""
        both = zip(self.without.count(cliques), self.with_.count(cliques), strict=True)
        return [
            (before.counts.reshape(-1).astype(np.int64), after.counts.reshape(-1).astype(np.int64))
            for before, after in both
        ]

    def recode(self, maps: Mapping[str, Any]) -> Worlds:
        """The records of both worlds, with codes merged."""
        return Worlds(self.without.recode(maps), self.with_.recode(maps))


@dataclass(frozen=True)
class Noise:
    """How wide noise was, cell by cell: sums of its squares in units of its declared variance."""

    cells: int = 0
    squares: float = 0.0
    variance: float = 0.0
    furthest: float = 0.0

    def __add__(self, other: Noise) -> Noise:
        return Noise(
            self.cells + other.cells,
            self.squares + other.squares,
            self.variance + other.variance,
            max(self.furthest, other.furthest),
        )

    @classmethod
    def of(cls, off: Floats, law: str, scale: float) -> Noise:
        """The noise that these differences from exact counts are."""
        units = off / (scale if law == "gaussian" else math.sqrt(2) * scale)
        return cls(
            units.size,
            float((units**2).sum()),
            units.size * _SQUARES[law],
            float(np.abs(units).max(initial=0)),
        )

    @property
    def fault(self) -> str:
        """What is wrong with the noise, in words; empty where nothing is wrong."""
        if not self.furthest <= _FAR:
            return "an answer of fit is not the table's count and noise of the declared scale"
        if self.cells and not self.squares - self.cells >= -_SURE * math.sqrt(self.variance):
            wide = math.sqrt(max(0.0, self.squares) / self.cells)
            return f"the noise of fit is {wide:.2f} times as wide as declared"
        return ""


@dataclass(frozen=True)
class View:
    """One run as the attacker sees it: what was asked, and the log-likelihood ratio of what was answered."""

    batches: tuple[Batch, ...]
    ratio: float
    noise: Noise

    @property
    def losses(self) -> list[Loss]:
        """The losses of all that is seen."""
        return [batch.loss for batch in self.batches]


def look(log: Sequence[Answered], worlds: Worlds, release: Release, *, present: bool) -> View:
    """What an attacker sees of a run on one of the two worlds; `present` says whether it is the one with the unit.

    Choices are not, nor what was asked to learn a schema: of those, the counts behind the answer are not known here.
    """
    merged = worlds.recode(release.compression.maps)
    probe = Curator(worlds.without, Budget(1.0, 0.5)).over(worlds.without)
    views = {probe.view: worlds, probe.recode(release.compression.maps).view: merged}
    batches, ratio, noise = [], 0.0, Noise()
    for asked in log:
        words = asked.question
        seen = views.get(words.get("view", ""))
        if seen is None or words["question"] not in ("measure", "histogram"):
            continue
        cliques = [tuple(clique) for clique in words["cliques"]]
        counts = _asked(words, seen.counts(cliques))
        sizes = [before.size for before, _ in counts]
        if any(
            bins and math.prod(bins) != size for bins, size in zip(words.get("bins", ()), sizes, strict=False)
        ):
            continue
        loss = loss_from_dict(words["losses"][0])
        assert isinstance(loss, Gaussian | Laplace)
        law = "gaussian" if isinstance(loss, Gaussian) else "laplace"
        found = []
        for (before, after), noisy, scale in zip(counts, _noisy(asked, sizes), words["scales"], strict=True):
            apart = np.flatnonzero(before != after)
            marginal = TellingMarginal(
                law,
                float(scale),
                int(words.get("threshold", 0)),
                tuple(before[apart].tolist()),
                tuple(after[apart].tolist()),
            )
            found.append(marginal)
            ratio += float(marginal.ratio(noisy[apart]))
            if not marginal.threshold and marginal.scale >= _FINE:
                noise += Noise.of(noisy - (after if present else before), law, marginal.scale)
        if isinstance(loss, Gaussian) and words.get("interactions"):
            batches.append(Batch.of_interactions(loss, found, charged_interactions(words)))
        else:
            batches.append(Batch(loss, tuple(found)))
    return View(tuple(batches), ratio, noise)


def _asked(
    words: Mapping[str, Any], counts: list[tuple[Integers, Integers]]
) -> list[tuple[Integers, Integers]]:
    """What was asked of the counts of both worlds: the counts, or what they say beyond some of their own sums."""
    queries = charged_interactions(words) if words.get("interactions") else [None] * len(counts)
    return [
        both if query is None else (query.apply(both[0]), query.apply(both[1]))
        for both, query in zip(counts, queries, strict=True)
    ]


def _noisy(asked: Answered, sizes: Sequence[int]) -> list[Floats]:
    """The noisy counts of each marginal, all its cells; NaN where a cell was left out."""
    if asked.question["question"] == "measure":
        return [values.astype(np.float64) for values in unpack(asked.answer, sizes)]
    places, counts = unpack_text(asked.answer)
    cells = np.full(sizes[0], np.nan)
    cells[np.array(places, np.int64)] = counts
    return [cells]
