"""The tests of the 2018 NIST contest, match 3: drawn from a true table, in a file that can be shared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data.files.atomic import whole_file
from understudy.domain import Clique
from understudy.errors import FileError, ParameterError
from understudy.evaluation.columns import Columns, read_columns, require_codes
from understudy.evaluation.contest.conjunctions import Conjunction, draw_conjunctions
from understudy.evaluation.contest.triples import draw_triples

TRIPLES = 100
CONJUNCTIONS = 300
FULL_SCORE = 1_000_000
FORMAT = "understudy contest tests"


@dataclass(frozen=True)
class ContestTests:
    """The drawn triples and conjunctions, and the largest code of each column they were drawn over.

    Conjunctions are grown around true records, so the file is as confidential as those records.
    """

    largest: Mapping[str, int]
    triples: tuple[Clique, ...]
    conjunctions: tuple[Conjunction, ...]
    seed: int | None = None

    @classmethod
    def draw(
        cls,
        table: Any,
        seed: int,
        *,
        triples: int = TRIPLES,
        conjunctions: int = CONJUNCTIONS,
        largest: Mapping[str, int] | None = None,
        never_last: bool = False,
    ) -> ContestTests:
        """Tests drawn from the true table by the contest's rules; the same seed gives the same tests.

        `largest` gives a column's largest code (a specification's `maxval`); where it is silent the
        table's domain tells, or else the data. `never_last` follows the official generator, which
        could never draw the last column into a triple.
        """
        if triples < 0 or conjunctions < 0:
            raise ParameterError(f"cannot draw {triples} triples and {conjunctions} conjunctions.")
        true = read_columns(table, "the true table")
        top = _largest(table, true, largest or {})
        require_codes(true, "the true table", top)
        randomness = np.random.default_rng(seed)
        return cls(
            top,
            tuple(draw_triples(list(true), triples, randomness, never_last=never_last)) if triples else (),
            tuple(draw_conjunctions(true, top, conjunctions, randomness)),
            seed,
        )

    def save(self, path: str | Path) -> None:
        """Write the tests as JSON."""
        content = {
            "format": FORMAT,
            "version": 1,
            "seed": self.seed,
            "largest": dict(self.largest),
            "triples": [list(triple) for triple in self.triples],
            "conjunctions": [{k: list(v) for k, v in c.items()} for c in self.conjunctions],
        }
        with whole_file(path, confidential=True) as file:  # drawn from a table that may be private
            file.write(json.dumps(content, separators=(",", ":")).encode())

    @classmethod
    def load(cls, path: str | Path) -> ContestTests:
        """The tests in a file that `save` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["format"] != FORMAT or content["version"] != 1:
                raise KeyError("format")
            tests = cls(
                {str(k): int(v) for k, v in content["largest"].items()},
                tuple(tuple(str(name) for name in triple) for triple in content["triples"]),
                tuple(
                    {str(k): tuple(sorted({int(code) for code in v})) for k, v in c.items()}
                    for c in content["conjunctions"]
                ),
                content.get("seed"),
            )
            tests._check()
        except OSError as problem:
            raise FileError(f"tests file {str(path)!r} cannot be read: {problem.strerror}.") from problem
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise FileError(
                f"tests file {str(path)!r} does not hold contest tests.",
                hint="write one with ContestTests.draw(table, seed).save(path).",
            ) from problem
        return tests

    def _check(self) -> None:
        for clique in (*self.triples, *(tuple(c) for c in self.conjunctions)):
            if any(name not in self.largest for name in clique):
                raise KeyError("a test names a column with no largest code")
        if any(len(set(triple)) != 3 for triple in self.triples):
            raise ValueError("a triple is three distinct columns")
        if any(not accepted for c in self.conjunctions for accepted in c.values()):
            raise ValueError("an accepted set is empty")

    @property
    def columns(self) -> Clique:
        """Every column that a test may look at, in the table's order."""
        return tuple(self.largest)


NO_LIMIT = (1 << 63) - 1


def require_tested(true: Columns, tests: ContestTests) -> None:
    """Refuse a true table whose codes are not those that the tests were drawn over."""
    require_codes(true, "the true table", {**dict.fromkeys(true, NO_LIMIT), **tests.largest})


def inside(column: Any, largest: int) -> Any:
    """The column, with -1 for codes above the largest: such a value matches nothing."""
    if int(column.max()) <= largest:
        return column
    return np.where(column > largest, -1, column.astype(np.int64))


def _largest(table: Any, true: Columns, given: Mapping[str, int]) -> dict[str, int]:
    sizes = getattr(table, "domain", None) or {}
    return {
        name: int(given[name])
        if name in given
        else int(sizes[name]) - 1
        if name in sizes
        else int(column.max())
        for name, column in true.items()
    }
