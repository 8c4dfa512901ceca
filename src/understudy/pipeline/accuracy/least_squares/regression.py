"""Least squares from a release: a column of numbers on others, by sums over pairs of columns.

Coefficients follow from how many records there are, and from sums of each term and of products of two: all over pairs
of columns. Each sum lies in an interval, by noisy counts or by the check; all hold at once, and so do those of the
coefficients, which follow from them by arithmetic alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from understudy.display import html_table
from understudy.domain import Clique
from understudy.errors import ParameterError, SizeError
from understudy.pipeline.accuracy.interval import Estimate, quantile
from understudy.pipeline.accuracy.known_of_table import KnownOfTable
from understudy.pipeline.accuracy.least_squares.perturbed_solution import solution_bounds
from understudy.pipeline.accuracy.least_squares.regression_terms import On, Term, TermsOfColumns
from understudy.pipeline.accuracy.table_questions import MOST_CELLS, Queried
from understudy.pipeline.accuracy.worst_case import Floats

INTERCEPT = "(intercept)"
MOST_FAILS = 0.25  # of one interval, where a low level would allow it more: it must still be one
UNTOLD = "nothing: what is known of these columns is too little to rule out that some tell the same"
Moment = tuple[float, float, float]  # what the model expects, and between what the real one lies


@dataclass(frozen=True)
class Regression:
    """The coefficients of a linear regression by least squares, each an estimate; all intervals hold at once.

    Attributes:
        column: the column on the left.
        terms: the name of each term, the intercept first, and its coefficient.
        against: of each column that has an indicator for every value but one, that value: coefficients are how much
            more than its records have.
        covers: in words what the intervals rest on, and of which records they speak.
    """

    column: str
    terms: tuple[tuple[str, Estimate], ...]
    against: Mapping[str, str]
    covers: str

    def __iter__(self) -> Iterator[tuple[str, Estimate]]:
        return iter(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __getitem__(self, name: str) -> Estimate:
        """The coefficient of a term, by its name."""
        for term, found in self.terms:
            if term == name:
                return found
        raise ParameterError(
            f"{name!r} is no term of this regression.",
            hint=f"one of {', '.join(term for term, _ in self.terms[:20])}.",
        )

    def __str__(self) -> str:
        lines = [f"{name}: {e.value:,.6g} ({e.low:,.6g} to {e.high:,.6g})" for name, e in self.terms]
        return "\n".join([f"{self.column}, by least squares", *lines, *self._notes])

    def _repr_html_(self) -> str:
        """The coefficients, for a notebook."""
        rows = [[name, f"{e.value:,.6g}", f"{e.low:,.6g}", f"{e.high:,.6g}"] for name, e in self.terms]
        title = f"{self.column}, by least squares"
        return html_table(title, ["term", "coefficient", "low", "high"], rows, self._notes)

    @property
    def _notes(self) -> list[str]:
        level = self.terms[0][1].level
        notes = [f"{name}: against {value}" for name, value in self.against.items()]
        return [*notes, f"The {level:.0%} intervals hold all at once. They cover {self.covers}"]

    def to_dict(self) -> dict[str, Any]:
        """The regression as plain JSON values; an end of an interval that nothing is known of is None."""
        return {
            "column": self.column,
            "against": dict(self.against),
            "covers": self.covers,
            "terms": [{"term": name, **_finite(found.to_dict())} for name, found in self.terms],
        }


def regress(release: Queried, column: str, on: Sequence[On] | str, level: float) -> Regression:
    """The regression of a column on others; see `Release.regress`."""
    quantile(level)
    named = TermsOfColumns(
        release.schema,
        release.domain,
        release.compression,
        lambda name: np.asarray(release.marginal(name).counts, np.float64),
    )
    left = named.number(column)
    terms, against = named.of((on,) if isinstance(on, str) else tuple(on))
    if column in {term.column for term in terms}:
        raise ParameterError(f"column {column!r} stands on both sides.", hint="leave it out of `on`.")
    return _Sums(release, left, tuple(terms), float(level)).regression(against)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums that a regression needs of a release."""

    release: Queried
    left: Term
    right: tuple[Term, ...]
    level: float

    def regression(self, against: Mapping[str, str]) -> Regression:
        terms, last = [self._one, *self.right], len(self.right) + 1
        sums = np.zeros((3, last, last + 1))
        for i, j in combinations(range(last + 1), 2):
            sums[:, i, j] = self._sum(terms[i], self.left if j == last else terms[j])
        for i in range(last):
            sums[:, i, i] = self._sum(terms[i], terms[i])
        matrices = np.triu(sums[:, :, :last]) + np.swapaxes(np.triu(sums[:, :, :last], 1), 1, 2)
        rights = sums[:, :, last]
        if not np.isfinite(sums[0]).all():
            raise ParameterError(f"sums with {self.left.name!r} are not finite.", hint="give its bounds.")
        guess = np.linalg.lstsq(matrices[0], rights[0], rcond=1e-12)[0]
        wanted, offset = self._unscaled
        low, high = solution_bounds((matrices[1], matrices[2]), (rights[1], rights[2]), guess, wanted)
        values, known = wanted @ guess + offset, bool(np.isfinite(low).all())
        covers = f"{self._rests_on if known else UNTOLD}; {self._population}"
        names = [INTERCEPT, *(term.name for term in self.right)]
        found = tuple(
            (name, Estimate(min(max(value, least), most), least, most, self.level, covers))
            for name, value, least, most in zip(
                names, values.tolist(), (low + offset).tolist(), (high + offset).tolist(), strict=True
            )
        )
        return Regression(self.left.name, found, against, covers)

    @cached_property
    def _one(self) -> Term:
        """The term of the intercept: 1 for each record, by the codes of the column on the left."""
        ones = np.where(self.left.held, 1.0, np.nan)
        return Term(INTERCEPT, self.left.column, ones, ones)

    @property
    def _unscaled(self) -> tuple[Floats, Floats]:
        """Coefficients as people want them, of those of shifted and scaled numbers: weights, and a rest."""
        scale = self.left.scale / np.array([1.0, *(term.scale for term in self.right)])
        wanted, offset = np.diag(scale), np.zeros(len(scale))
        wanted[0, 1:] = -scale[1:] * [term.centre for term in self.right]
        offset[0] = self.left.centre
        return wanted, offset

    # --- sums ----------------------------------------------------------------------------------------------------

    def _sum(self, one: Term, other: Term) -> Moment:
        """The sum of two terms' product, over the records that have a value in every column."""
        clique = self._clique(one, other)
        table, ends = self._table(clique), self._products(clique, one, other)
        if not ends[0].any() and not ends[1].any():  # indicators of two values of a column
            return 0.0, 0.0, 0.0
        low, high = self._known[clique].sum(ends, table, 1 - self._fails)
        # Of the records that these columns have, others may lack a value: too few to be seen, and not to be counted.
        lacking = self._known[clique].hidden([name for name in self._columns if name not in clique])
        if lacking:
            low -= lacking * max(0.0, float(ends[1].max()))
            high -= lacking * min(0.0, float(ends[0].min()))
        return float((table * (ends[0] + ends[1])).sum()) / 2, low, high

    def _products(self, clique: Clique, one: Term, other: Term) -> tuple[Floats, Floats]:
        """The least and the greatest product in each cell; 0 where a code stands for no value."""
        if one is self._one:
            corners = [other.low, other.high]
        elif one.column == other.column:
            corners = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
            if one is other:  # a number times itself
                corners = [one.low**2, one.high**2]
                corners += [np.where((one.low < 0) & (one.high > 0), 0.0, corners[0])]
        else:
            first, second = sorted((one, other), key=lambda term: clique.index(term.column))
            corners = [np.outer(a, b) for a in (first.low, first.high) for b in (second.low, second.high)]
        every = np.nan_to_num(np.array(corners))
        return every.min(axis=0), every.max(axis=0)

    def _clique(self, one: Term, other: Term) -> Clique:
        """The columns of two terms; the intercept has none of its own, if the other has."""
        if one is self._one:
            one = other
        return tuple(name for name in self.release.domain if name in (one.column, other.column))

    @cached_property
    def _columns(self) -> Clique:
        used = {self.left.column, *(term.column for term in self.right)}
        return tuple(name for name in self.release.domain if name in used)

    def _table(self, clique: Clique) -> Floats:
        if clique not in self._tables:
            cells = math.prod(self.release.domain[name] for name in clique)
            if cells > MOST_CELLS:
                raise SizeError(
                    f"columns {', '.join(clique)} have {cells:,} cells together, more than {MOST_CELLS:,}.",
                    hint="leave one out, or fit with coarser bins.",
                )
            self._tables[clique] = np.asarray(self.release.marginal(clique).counts, np.float64)
        return self._tables[clique]

    @cached_property
    def _tables(self) -> dict[Clique, Floats]:
        return {}

    # --- what is known of them -----------------------------------------------------------------------------------

    @cached_property
    def _known(self) -> dict[Clique, KnownOfTable]:
        return {clique: KnownOfTable(self.release, clique) for clique in self._sums_over}

    @cached_property
    def _sums_over(self) -> dict[Clique, int]:
        """The columns that there are sums over, and how many sums there might have been: also by other choices.

        Which value is left out, and what is a number's zero, is chosen by what the model says, which has the noise of
        the measurements in it: so the intervals must hold for whatever might have been chosen.
        """
        groups = {(term.column, term.choices, term.choices == 1 and term.name): term for term in self.right}
        chosen = [self._one, *groups.values(), self.left]
        counts: dict[Clique, int] = {}
        for one, other in [*combinations(chosen, 2), *((term, term) for term in chosen[:-1])]:
            clique = self._clique(one, other)
            choices = one.choices * (1 if one is other else other.choices)
            counts[clique] = counts.get(clique, 0) + choices
        return counts

    @cached_property
    def _fails(self) -> float:
        """The chance that each interval may fail with: shared by all, those that rest on one check counted once."""
        checked = {clique: self._known[clique].checked_pair for clique in self._sums_over}
        noisy = sum(count for clique, count in self._sums_over.items() if checked[clique] is None)
        events = noisy + len({pair for pair in checked.values() if pair is not None})
        return min((1 - self.level) / events, MOST_FAILS)

    @property
    def _rests_on(self) -> str:
        checked = [known.checked_pair is not None for known in self._known.values()]
        ways = ["noisy counts"] * (not all(checked)) + ["the check of pairs"] * any(checked)
        return f"noise, and what the model leaves out: by {' and '.join(ways)}"

    @property
    def _population(self) -> str:
        return f"of the records that have a value in each of {', '.join(self._columns)}, as they are"


def _finite(said: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(found, float) and not math.isfinite(found) else found
        for name, found in said.items()
    }
