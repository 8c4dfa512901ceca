"""The three metrics of the 2018 NIST contest, match 3, of tables of integer codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from understudy.evaluation.columns import Columns, read_columns
from understudy.evaluation.contest.conjunctions import conjunction_error, conjunction_shares, log_ratios
from understudy.evaluation.contest.contest_tests import (
    FULL_SCORE,
    NO_LIMIT,
    ContestTests,
    inside,
    require_tested,
)
from understudy.evaluation.contest.income import Roles, cities, income_error
from understudy.evaluation.contest.triples import triple_errors


@dataclass(frozen=True)
class ContestScores:
    """The three errors (0 is perfect, 1 is nothing right) and their mean; scores run to 1,000,000."""

    triples: float
    conjunctions: float
    income: float

    @property
    def overall(self) -> float:
        """The mean of the three errors."""
        return (self.triples + self.conjunctions + self.income) / 3

    @property
    def scores(self) -> dict[str, float]:
        """The same as the contest published it: 1,000,000 * (1 - error)."""
        errors = {**self._errors(), "overall": self.overall}
        return {name: FULL_SCORE * (1.0 - error) for name, error in errors.items()}

    def _errors(self) -> dict[str, float]:
        return {"triples": self.triples, "conjunctions": self.conjunctions, "income": self.income}

    def __str__(self) -> str:
        errors = {**self._errors(), "overall": self.overall}
        lines = [f"{'metric':14}{'error':>8}{'score':>12}"]
        lines += [f"{k:14}{error:8.4f}{self.scores[k]:12,.0f}" for k, error in errors.items()]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Scorer:
    """The true table, read once, against which any number of synthetic tables are scored."""

    true: Columns
    tests: ContestTests
    roles: Roles
    shares: Any = field(repr=False)
    cities: Any = field(repr=False)

    @classmethod
    def of(cls, true: Any, tests: ContestTests, roles: Roles | None = None) -> Scorer:
        """A scorer of this table; refuses one that the tests were not drawn from."""
        roles = roles or Roles()
        names = tuple(dict.fromkeys((*tests.columns, *roles.columns)))
        columns = read_columns(true, "the true table", names)
        require_tested(columns, tests)
        return cls(
            columns, tests, roles, conjunction_shares(columns, tests.conjunctions), cities(columns, roles)
        )

    def score(self, synthetic: Any) -> ContestScores:
        """The three errors of one synthetic table."""
        columns = read_columns(synthetic, "the synthetic table", list(self.true))
        # A value above the column's largest code matches nothing, not even an equal one.
        limits = self.tests.largest
        columns = {name: inside(column, limits.get(name, NO_LIMIT)) for name, column in columns.items()}
        distances = triple_errors(self.true, columns, self.tests.triples)
        ratios = log_ratios(self.shares, conjunction_shares(columns, self.tests.conjunctions))
        return ContestScores(
            float(distances.mean()) if len(distances) else 0.0,
            conjunction_error(ratios),
            income_error(self.cities, cities(columns, self.roles)),
        )


def score(true: Any, synthetic: Any, tests: ContestTests, roles: Roles | None = None) -> ContestScores:
    """The contest's three errors of `synthetic` against `true`, both tables of integer codes."""
    return Scorer.of(true, tests, roles).score(synthetic)
