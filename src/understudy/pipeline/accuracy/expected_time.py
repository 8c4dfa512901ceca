"""How long a run will take, roughly: on two cores of a laptop with nothing else to do.

What takes long is to fit a model anew in each round, and to tell all candidates of the next what it expects of them.
How large that model will be when rounds are done is not known; it grows with what noise lets them measure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.domain import Domain
from understudy.mechanisms.adaptive.choice_stages import WIDE

START = 1.5  # seconds: importing, loading kernels, calibrating
A_QUESTION = 0.008  # seconds to write down a question and its answer, for good
INCREMENTS_PER_SECOND = 2e9  # of counting pairs
VALUES_PER_SECOND = 2.5e7  # read, coded, generated, decoded and written
CELLS_PER_SECOND = 3e7  # of a marginal, from noise to the end of the fit and of the shrinkage
REFITTED_PER_SECOND = 7e5  # cells of a model that is fitted anew in each round
TOLD_PER_SECOND = 9e8  # cells of a model times candidates, as each round tells every candidate
HELD_PER_SECOND = 1e7  # cells of a model times marginals that are measured at once, in each round
# Cells of a model as rounds leave it, seen on nine sets: by columns, and by how many cells noise allows.
GROWN, BY_COLUMNS, BY_CELLS = 0.03, 2.3, 1.5


@dataclass(frozen=True)
class Refits:
    """How often a mechanism refits what it grows, the noise of a pair's cells, and how many are measured at once."""

    number: int
    scale: float | None
    at_once: int = 0


def expected_seconds(domain: Domain, cells: int, rows: int, questions: int, rounds: Refits) -> float:
    """The seconds of a run, of a model of at most so many cells."""
    columns = len(domain)
    pairs = math.comb(columns, 2)
    grown = min(float(cells), _grown(columns, rows, rounds.scale))
    candidates = pairs + (math.comb(columns, 3) if columns < WIDE else 0)
    return (
        START
        + A_QUESTION * questions
        + rows * (pairs + columns) / INCREMENTS_PER_SECOND
        + rows * columns / VALUES_PER_SECOND
        + (grown if rounds.number else cells) / CELLS_PER_SECOND
        + rounds.number
        * grown
        * (1 / REFITTED_PER_SECOND + candidates / TOLD_PER_SECOND + rounds.at_once / HELD_PER_SECOND)
    )


def _grown(columns: int, rows: int, scale: float | None) -> float:
    """The cells of a model as rounds leave it, where nothing bounds it."""
    if not scale:
        return math.inf
    return GROWN * math.pow(columns, BY_COLUMNS) * math.pow(1 + rows / scale, BY_CELLS)
