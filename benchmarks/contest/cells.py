"""One cell of the big table: a system on a held-out table at one epsilon, once; kept on disk when finished."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from benchmarks.contest.arenas import Arena
from benchmarks.contest.systems import fitted

import understudy
from understudy.domain import Clique
from understudy.pipeline.release import Release

CODE = Path(__file__).resolve().parent
PACKAGE = Path(understudy.__file__).resolve().parent


def code_digest() -> str:
    """A word for the code that cells are played with: a cell of other code is not taken for one of this."""
    seen = blake2b(digest_size=4)
    played = [CODE / f"{name}.py" for name in ("arenas", "cells", "submitted", "systems")]
    for path in [*played, *sorted(PACKAGE.rglob("*.py"))]:
        seen.update(path.read_bytes())
    return seen.hexdigest()


@dataclass(frozen=True)
class Cell:
    """Which system met which records, at which epsilon, for the how many-eth time."""

    arena: str
    table: str
    system: str
    epsilon: float
    run: int

    @property
    def file(self) -> str:
        """The name under which the outcome is kept."""
        words = f"{self.arena} {self.table} {self.system} {self.epsilon:g} {self.run}"
        return words.replace(" ", "_") + ".json"

    @property
    def seed(self) -> int:
        """A seed of its own for every cell, so that the whole run can be repeated to the last digit."""
        return int.from_bytes(blake2b(self.file.encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class Outcome:
    """The three errors, how long it took to fit, to sample and to score, and which cliques were measured."""

    triples: float
    conjunctions: float
    income: float
    fit_s: float
    sample_s: float
    score_s: float
    cliques: tuple[Clique, ...]

    @property
    def errors(self) -> tuple[float, float, float, float]:
        """The three errors and their mean."""
        three = (self.triples, self.conjunctions, self.income)
        return (*three, sum(three) / 3)


@dataclass(frozen=True)
class Store:
    """Outcomes in a folder, one file a cell: an interrupted run goes on where it stopped."""

    folder: Path

    def get(self, cell: Cell) -> Outcome | None:
        """The outcome of a finished cell."""
        path = self.folder / cell.file
        if not path.is_file():
            return None
        said = json.loads(path.read_text(encoding="utf-8"))
        said["cliques"] = tuple(tuple(clique) for clique in said["cliques"])
        return Outcome(**said)

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / (cell.file + ".part")
        part.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        os.replace(part, self.folder / cell.file)

    def of(self, cells: Iterable[Cell]) -> dict[Cell, Outcome]:
        """The outcomes of those cells that are finished."""
        found = {cell: self.get(cell) for cell in cells}
        return {cell: outcome for cell, outcome in found.items() if outcome is not None}


def play(arena: Arena, cell: Cell) -> Outcome:
    """The outcome of one cell: fit, sample as many records as there seem to be, score."""
    scorer = arena.scorer(cell.table)
    arena.coded(cell.table)  # read before the clock starts
    begun = time.perf_counter()
    fit = fitted(arena, cell.system, cell.table, cell.epsilon, cell.seed)
    done = time.perf_counter()
    schema = arena.schema_of(cell.table)
    release = Release(
        schema, fit.field, fit.compression, fit.measurements, {"private": False}, arena.transforms
    )
    synthetic = release.sample(seed=cell.seed)
    sampled = time.perf_counter()
    errors = scorer.score(synthetic)
    scored = time.perf_counter()
    del synthetic, release
    gc.collect()
    return Outcome(
        errors.triples,
        errors.conjunctions,
        errors.income,
        done - begun,
        sampled - done,
        scored - sampled,
        tuple(dict.fromkeys(m.clique for m in fit.measurements)),
    )
