"""The contest's scores as one measure among others, so that baselines stand beside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays
from understudy.domain.arrow_values import plain
from understudy.errors import ParameterError
from understudy.evaluation.coding import Coding, whole_numbers
from understudy.evaluation.columns import Columns, read_columns
from understudy.evaluation.contest.conjunctions import conjunction_error, conjunction_shares, log_ratios
from understudy.evaluation.contest.contest_tests import FULL_SCORE, ContestTests, inside, require_tested
from understudy.evaluation.contest.income import City, Roles, cities, income_error
from understudy.evaluation.contest.triples import triple_errors

WAGES = "{}, as a number"  # the wage column's values, beside its codes


@dataclass(frozen=True, eq=False)
class ContestMeasure:
    """The contest's scores, of 1,000,000 each: two, and with the roles named all three and their mean."""

    tests: ContestTests
    roles: Roles | None
    shares: npt.NDArray[np.float64] = field(repr=False)
    cities: dict[int, City] = field(repr=False)
    better: ClassVar[str] = "higher"

    @classmethod
    def of(cls, real: Columns, tests: ContestTests, roles: Roles | None) -> ContestMeasure:
        """The measure against this real table; refuses one that the tests were not drawn from."""
        true = read_columns(real, "the real table", [*tests.columns, *(roles.columns if roles else ())])
        require_tested(true, tests)
        return cls(
            tests, roles, conjunction_shares(true, tests.conjunctions), cities(true, roles) if roles else {}
        )

    def values(self, real: Columns, candidate: Columns, randomness: np.random.Generator) -> dict[str, float]:
        """The scores of one table."""
        limited = {name: inside(candidate[name], top) for name, top in self.tests.largest.items()}
        distances = triple_errors(real, limited, self.tests.triples)
        ratios = log_ratios(self.shares, conjunction_shares(limited, self.tests.conjunctions))
        errors = {
            "3-way marginals": float(distances.mean()) if len(distances) else 0.0,
            "conjunctions": conjunction_error(ratios),
        }
        if self.roles:
            errors["income by city"] = income_error(self.cities, cities({**candidate, **limited}, self.roles))
            errors["overall"] = sum(errors.values()) / len(errors)
        return {f"contest score, {name}": FULL_SCORE * (1.0 - error) for name, error in errors.items()}


@dataclass(frozen=True, eq=False)
class ContestTables:
    """Both tables as the contest reads them, and what the codes of the roles' columns mean.

    A real table of whole numbers, with nothing said of what they mean, is in codes already: the contest's
    own files are. Any other is coded by its schema; of a wage the contest takes the value, not the code.
    """

    real: Columns
    synthetic: Columns
    largest: dict[str, int]
    roles: Roles | None

    @classmethod
    def of(
        cls,
        real: pa.Table,
        synthetic: pa.Table,
        coding: Coding,
        coded: Columns,
        names: Roles | None,
        *,
        undescribed: bool,
    ) -> ContestTables:
        """The tables, of which the synthetic one is `coded`; whole numbers that are `undescribed` are codes."""
        mine, theirs = coding.real, coded
        largest = {name: size - 1 for name, size in coding.schema.domain().items()}
        numbers = whole_numbers(real, list(mine)) if undescribed else {}
        if numbers and all(int(column.min()) >= 0 for column in numbers.values()):
            mine, theirs = numbers, whole_numbers(synthetic, list(mine))
            largest = {name: int(column.max()) for name, column in numbers.items()}
        if names is None:
            return cls(mine, theirs, largest, None)
        for name in names.columns:
            if name not in mine:
                raise ParameterError(
                    f"column {name!r} is not among those compared.", hint="correct its name."
                )
        male, female = _two_sexes(mine[names.sex])
        wage = WAGES.format(names.wage)
        roles = replace(names, wage=wage, male=male, female=female)
        missing = roles.wage_missing
        return cls(
            {**mine, wage: _wages(real, names.wage, missing)},
            {**theirs, wage: _wages(synthetic, names.wage, missing)},
            largest,
            roles,
        )

    def draw(self, seed: int) -> ContestTests:
        """Tests drawn from the real table."""
        tested = {name: self.real[name] for name in self.largest}
        return ContestTests.draw(tested, seed, largest=self.largest)


def _two_sexes(column: npt.NDArray[np.integer]) -> tuple[int, int]:
    """The two most frequent codes, in ascending order: which of them is male changes scores by ties alone."""
    codes, counts = np.unique(column, return_counts=True)
    chosen = np.sort(codes[np.argsort(-counts, kind="stable")[:2]]).astype(np.int64).tolist()
    return (chosen[0], chosen[1]) if len(chosen) == 2 else (chosen[0], chosen[0] + 1)


def _wages(table: pa.Table, name: str, missing: int) -> npt.NDArray[np.int64]:
    """The wage of each record in whole units; `missing` where the record has no wage or a negative one."""
    numbers = arrays.floats(plain(table[name]))
    with np.errstate(invalid="ignore"):
        good = np.isfinite(numbers) & (numbers >= 0)
    return np.where(good, np.minimum(numbers, missing), missing).astype(np.int64)
