"""One cell of the tables: a system on a data set at one epsilon, once; kept on disk when played."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_OURS = {("src",), ("contest",), ("benchmarks",)}  # where code lies below it, and no environment does


@dataclass(frozen=True)
class Cell:
    """Which system met which records, at which epsilon, for the how many-eth time.

    `rows` is the size of a subsample, drawn by the run's number alone so that systems meet the same; 0 for all.
    """

    data: str
    epsilon: float
    system: str
    run: int
    rows: int = 0

    @property
    def seed(self) -> int:
        """A seed of its own for every cell, so that it can be played again to the last digit."""
        words = f"{self.data} {self.epsilon:g} {self.system} {self.run} {self.rows}"
        return int.from_bytes(blake2b(words.encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class Outcome:
    """What came of a cell.

    pairs, triples  mean total variation of sampled records; None where the system did not finish
    seconds         from coded records in memory to synthetic ones, by the clock; a peer's from file to file
    processor_s     the same in processor seconds
    megabytes       the most memory that the process held, what it read included
    load            the machine's load as the cell began, of all who use it
    limit_s         how long it was given
    version         of the system's package
    code            a word for the code that played it (see `Store`)
    failed          why there is no error; empty where there is one
    """

    pairs: float | None
    triples: float | None
    seconds: float
    processor_s: float
    megabytes: float
    load: float
    limit_s: float
    version: str
    code: str
    failed: str = ""


@dataclass(frozen=True)
class Store:
    """Cells in a folder, one JSON line each: an interrupted run goes on where it stopped.

    A cell names the code that played it, and `code/<word>.json` lists that code's files and what was in them: those
    that the process had loaded. When one of them has changed the cell is stale, and when others have it is not: what
    is tuned in one mechanism leaves the cells of the rest standing.
    """

    folder: Path
    kept: Path | None = None  # cells that travel with the repository: those of peers, which take hours

    def keep(self, systems: Collection[str]) -> None:
        """Write cells of these systems to the file that travels, each with the files that played it.

        Older ones are kept until they are played again.
        """
        assert self.kept is not None
        lines = [
            json.dumps({"cell": asdict(cell), "outcome": asdict(outcome), "files": self._files(outcome)})
            for cell, outcome in self.played(stale=True).items()
            if cell.system in systems
        ]
        self.kept.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome; the newest of a cell counts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "cells.jsonl"
        cut = path.is_file() and not path.read_bytes().endswith(b"\n")  # by an interruption
        with path.open("a", encoding="utf-8") as file:
            line = json.dumps({"cell": asdict(cell), "outcome": asdict(outcome)})
            file.write(("\n" if cut else "") + line + "\n")

    def put_code(self, files: dict[str, str]) -> str:
        """Keep a list of files with their digests; its word."""
        text = json.dumps(files, indent=0, sort_keys=True)
        word = blake2b(text.encode(), digest_size=4).hexdigest()
        path = self.folder / "code" / f"{word}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return word

    def played(self, *, stale: bool = False) -> dict[Cell, Outcome]:
        """Every cell that was played with the code as it is now; with `stale`, others where no run of theirs was."""
        old: dict[Cell, Outcome] = {}
        now: dict[Cell, Outcome] = {}
        for cell, outcome in self._lines():
            (now if self.is_current(outcome) else old)[cell] = outcome
        fresh = {replace(cell, run=0) for cell in now}
        return {**{c: o for c, o in old.items() if replace(c, run=0) not in fresh and stale}, **now}

    def is_current(self, outcome: Outcome) -> bool:
        """Whether every file that played it is as it was."""
        files = self._files(outcome)
        return bool(files) and all(digest_of(ROOT / name) == digest for name, digest in files.items())

    def _files(self, outcome: Outcome) -> dict[str, str]:
        return _listed(self.folder / "code" / f"{outcome.code}.json")

    def _lines(self) -> Iterable[tuple[Cell, Outcome]]:
        for path in (self.kept, self.folder / "cells.jsonl"):
            if path is None or not path.is_file():
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    said = json.loads(line)
                except json.JSONDecodeError:  # the line that an interruption cut short
                    continue
                if "files" in said:
                    self.put_code(said["files"])
                yield Cell(**said["cell"]), Outcome(**said["outcome"])


@cache
def _listed(listing: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(listing.read_text(encoding="utf-8")) if listing.is_file() else {}
    return found


@cache
def digest_of(path: Path) -> str:
    """A word for what a file holds; empty where there is none."""
    return blake2b(path.read_bytes(), digest_size=6).hexdigest() if path.is_file() else ""


def loaded_code() -> dict[str, str]:
    """The files of this repository that the process has loaded, with their digests."""
    found = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        path = Path(file).resolve() if file else ROOT
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[:1] in _OURS:
            found[path.relative_to(ROOT).as_posix()] = digest_of(path)
    return found


def all_code() -> dict[str, str]:
    """Every file of the package: what a process that had to be stopped may have loaded."""
    files = sorted((ROOT / "src").rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): digest_of(path) for path in files}
