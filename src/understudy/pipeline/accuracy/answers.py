"""What a release answers about the real table, each time with an interval: errors, numbers, regressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from understudy.errors import ParameterError, ReleaseError
from understudy.pipeline.accuracy.interval import LEVEL, Estimate
from understudy.pipeline.accuracy.least_squares.regression import Regression, regress
from understudy.pipeline.accuracy.least_squares.regression_terms import On
from understudy.pipeline.accuracy.stated_errors import ExpectedErrors
from understudy.pipeline.accuracy.table_questions import Queried, QueryAnswers, query


class Answers:
    """The part of a release that is asked; what it is asked of is `Queried`."""

    @overload
    def expected_error(self: Queried, *, level: float = ...) -> ExpectedErrors: ...
    @overload
    def expected_error(self: Queried, one: str, other: str, /, *, level: float = ...) -> Estimate: ...
    def expected_error(self: Queried, *columns: str, level: float = LEVEL) -> Estimate | ExpectedErrors:
        """How far off the model is, as a share of the records, with an interval: by the run's own check. Free.

        The error of columns is what part of the records would have to be moved for the model's table of them to be
        the real one (total variation). The check is a noisy answer about the real records: the interval holds
        whatever was measured, and whatever the model is. Docs: docs/errors.md.

        Parameters:
            columns: two columns, for the error of that pair; none, for the mean errors over pairs and triples.
            level: the chance that an interval holds, between 0 and 1.

        Returns:
            An `Estimate` of the pair's error; without columns `ExpectedErrors`, with the means over `pairs` and over
            `triples`.

        Raises:
            ReleaseError: the release does not state its errors.
            ParameterError: that pair was not asked about, or there are not two columns.

        Example:
            >>> import understudy as us
            >>> release = us.load("people.release")
            >>> release.expected_error("sex", "age").high <= 1
            True
        """
        if self.errors is None:
            raise ReleaseError(
                "this release does not state its errors.",
                hint="fit a table of several columns with check=True.",
            )
        if not columns:
            return self.errors.means(self.field.total, level)
        asked = self.domain.clique(columns)
        if len(asked) != 2:
            raise ParameterError(
                f"{len(asked)} columns were given.", hint="give two columns, or none for the mean errors."
            )
        return self.errors.of_pair(asked, self.field.total, level)

    @overload
    def query(
        self: Queried,
        what: str = ...,
        column: str | None = ...,
        *,
        where: str | None = ...,
        by: None = ...,
        q: float = ...,
        level: float = ...,
    ) -> Estimate: ...
    @overload
    def query(
        self: Queried,
        what: str = ...,
        column: str | None = ...,
        *,
        where: str | None = ...,
        by: str | Sequence[str],
        q: float = ...,
        level: float = ...,
    ) -> QueryAnswers: ...
    def query(
        self: Queried,
        what: str = "count",
        column: str | None = None,
        *,
        where: str | None = None,
        by: str | Sequence[str] | None = None,
        q: float = 0.5,
        level: float = LEVEL,
    ) -> Estimate | QueryAnswers:
        """A count, share, mean or quantile of the real table, as the model has it, with an interval. Free.

        The interval is about the real records. It holds by the noise of what was measured of these columns, and by
        how far off the check says the model is on them; what it rests on is in its `covers`. Of columns that were
        neither measured nor checked nothing is known, and it says so. It is never too narrow, and often wide: any
        table as far from the model as the check allows is thought possible. Docs: docs/errors.md.

        Parameters:
            what: "count" or "share" of records, or "mean", "median" or "quantile" of a column.
            column: the column of numbers, for the last three.
            where: a condition in values, as for `sample`; all records by default.
            by: a column or several: an answer for each of their values; none by default.
            q: which quantile, between 0 and 1; the median by default.
            level: the chance that an interval holds, between 0 and 1.

        Returns:
            An `Estimate`; with `by`, `QueryAnswers`: an estimate for each combination of values that has any numbers.

        Raises:
            ParameterError: the question cannot be read, or is about too many columns at once.

        Example:
            >>> import understudy as us
            >>> release = us.load("people.release")
            >>> found = release.query("share", where="sex = 'F'")
            >>> found.low <= found.value <= found.high
            True
        """
        return query(self, what, column, where, by, q, level)

    def regress(self: Queried, column: str, on: Sequence[On] | str, *, level: float = LEVEL) -> Regression:
        """A linear regression by least squares of the real table, as the model has it, with intervals. Free.

        The intervals are about the coefficients that the real records have, and hold all at once. They follow from
        sums over pairs of columns alone, as closely as noisy counts tell them, or the check where a pair was not
        measured. Where that cannot rule out that some terms tell the same, they are infinite. They do not tell how
        coefficients vary from sample to sample of a larger population. Docs: docs/errors.md.

        Parameters:
            column: the column of numbers on the left.
            on: the columns on the right, one or several. Numbers count as they are, one in a bin as any of the bin;
                of other columns each value but the commonest has an indicator. A column and a value of it,
                ("sex", "F"), are the indicator of that value.
            level: the chance that all intervals hold, between 0 and 1.

        Returns:
            A `Regression`: an `Estimate` for each term, the intercept first.

        Raises:
            ParameterError: a column is not in the release, stands twice, or has records without a number.
            SizeError: there are more than 50 terms, or two columns have millions of cells together.

        Example:
            >>> import understudy as us
            >>> found = us.load("people.release").regress("age", on="sex")
            >>> [name for name, coefficient in found]
            ['(intercept)', 'sex = M']
        """
        return regress(self, column, on, level)
