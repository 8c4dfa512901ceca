"""All that is drawn from a release: samples in memory, in chunks, on workers; some records only, or completed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.data.forms.table_form import NO_FORM, TableForm
from understudy.domain import Schema
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.codec import Within
from understudy.errors import ParameterError, SizeError
from understudy.marginals import Measurement
from understudy.mechanisms import Generator
from understudy.pipeline.drawing.followed_pairs import follows
from understudy.pipeline.drawing.made_up import sample_place
from understudy.pipeline.drawing.partial_values import PartialValues
from understudy.pipeline.drawing.wanted_records import WantedRecords
from understudy.pipeline.generation import check_seed, checked_rows, records
from understudy.pipeline.sources.registry import sampler
from understudy.transforms.compress import Compression
from understudy.transforms.derive import TableTransform

CHUNK = 500_000  # rows that a streamed sample holds at once
CHUNK_VALUES = 25_000_000  # of a sample that is written as it is drawn: 200 megabytes
MOST_BYTES = 16 << 30  # of a sample in memory
NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed. For tests only."


def rows_at_once(columns: int) -> int:
    """How many rows of a table of so many columns are drawn at once, where they are written as they come."""
    return max(1, min(CHUNK, CHUNK_VALUES // max(1, columns)))


class NotPrivateWarning(UserWarning):
    """Records are drawn from a release whose noise came from a seed: it protects no one."""


@dataclass(frozen=True, eq=False)
class Samples:
    """What records are drawn from: the part of a release that makes them."""

    schema: Schema
    field: Generator
    compression: Compression
    measurements: tuple[Measurement, ...]
    certificate: Mapping[str, Any]
    transforms: tuple[TableTransform, ...] = ()
    kind: str = "arrow"
    form: TableForm = NO_FORM

    @property
    def rows(self) -> int:
        """How many records there are thought to be: the noisy total, as a whole number."""
        return max(0, round(self.field.total))

    @property
    def private(self) -> bool:
        """Whether the noise was drawn from the operating system; a release of a test says False."""
        return bool(self.certificate["private"])

    def sample(
        self,
        rows: int | None = None,
        *,
        seed: int | None = None,
        within: Within = "uniform",
        where: str | None = None,
        balance: str | None = None,
        given: Any = None,
    ) -> Any:
        """Synthetic records, in the kind of table given to `fit`. Free, as often as you like.

        Where they are not very many they follow the model in every pair of columns, more closely than draws do: twice
        as many are drawn, and those kept that do so best.

        Privacy: leave `rows` out, or give a number that is public. That of the private table is not: it tells of
        one record whether it is there.

        Parameters:
            rows: how many, from 0 to 10 billion; by default the noisy total (`release.rows`), with `where` or
                `balance` too, or as many as are given.
            seed: the same seed gives the same records; by default every call draws anew. It protects no one, and
                needs not: noise was drawn long before.
            within: where in its bin a number falls: "uniform", which looks like data, or "midpoint".
            where: only records that fulfil a condition in values: "sex = 'F' and age >= 65", with and, or, not, in,
                between, is missing (docs/tables.md); all by default.
            balance: a column whose values are to be equally frequent; as frequent as they are by default.
            given: partial records to complete: a table of any kind with some of the columns, whose empty cells are
                drawn as well. None by default.

        Returns:
            A pandas or Polars frame, an Arrow table, or a Spark DataFrame; of a release from a file, an Arrow table.

        Raises:
            ParameterError: `rows` is not such a number, or no record fulfils the condition.
            SizeError: so many records do not fit in memory; `sample_chunks` streams them.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").sample(3, seed=0).num_rows
            3
        """
        from understudy.data import like

        check_seed(seed)
        self.warn_not_private()
        only: WantedRecords | PartialValues | None
        if given is not None:
            only = self._given(given, rows, where, balance, seed)
            rows = only.rows
        else:
            only = self.wanted(where, balance)
        wanted = self.count(rows)
        drawn = sampler(self.kind)
        if drawn is not None and not isinstance(only, PartialValues):
            conditions = {} if only is None else {"only": only}
            return drawn(self, wanted, seed=seed, within=within, **conditions)
        width = 8 * max(1, len(self.schema.columns))
        if wanted * width > MOST_BYTES:
            raise SizeError(
                f"{wanted} rows would take about {wanted * width >> 30} GiB in memory.",
                hint="use sample_chunks, or `understudy sample`, which streams them to a file.",
            )
        rng = np.random.default_rng(seed)
        table = self._drawn(wanted, rng, within, only)
        return table if drawn is not None else like(table, self.kind, self.form)

    def sample_chunks(
        self,
        rows: int | None = None,
        *,
        seed: int | None = None,
        chunk: int = CHUNK,
        within: Within = "uniform",
        where: str | None = None,
        balance: str | None = None,
    ) -> Iterator[Any]:
        """The same as Arrow tables, made as they are asked for.

        Parameters:
            rows: how many in all, as for `sample`.
            seed: steers the sampling, as for `sample`.
            chunk: the most rows of one table; half a million by default, some hundred megabytes at most.
            within: where in its bin a number falls, as for `sample`.
            where: only records that fulfil a condition, as for `sample`.
            balance: a column whose values are to be equally frequent, as for `sample`.

        Returns:
            An iterator of Arrow tables.

        Raises:
            ParameterError: a parameter is out of its range, or no record can fulfil the condition.

        Example:
            >>> import understudy as us
            >>> [part.num_rows for part in us.load("people.release").sample_chunks(250, chunk=100)]
            [100, 100, 50]
        """
        check_seed(seed)
        self.warn_not_private()
        only = self.wanted(where, balance)
        wanted = self.count(rows)
        rng = np.random.default_rng(seed)
        if wanted <= chunk:
            yield self._drawn(wanted, rng, within, only)
            return
        place = sample_place(self.schema, rng)
        if only is not None:
            for first in range(0, wanted, chunk):
                part = min(chunk, wanted - first)
                yield self.draw(part, rng, within, place and place.after(first), only)
            return
        for drawn in self.field.sample_chunks(wanted, chunk, seed=int(rng.integers(2**63))):
            yield self._decode(drawn, rng, within, place, None)
            place = place and place.after(len(drawn))

    def sample_spark(
        self,
        spark: Any = None,
        rows: int | None = None,
        *,
        seed: int | None = None,
        partitions: int | None = None,
        within: Within = "uniform",
        where: str | None = None,
        balance: str | None = None,
    ) -> Any:
        """The same as a Spark DataFrame, drawn by the workers of a session.

        Parameters:
            spark: the session; the running one by default.
            rows: how many, as for `sample`.
            seed: steers the sampling, as for `sample`.
            partitions: how many parts are drawn at once, at least 1; by default as many as the rows need.
            within: where in its bin a number falls, as for `sample`.
            where: only records that fulfil a condition, as for `sample`.
            balance: a column whose values are to be equally frequent, as for `sample`.

        Returns:
            A Spark DataFrame.

        Raises:
            ParameterError: there is no session, or a number is out of its range.
        """
        self.warn_not_private()
        drawn, only = sampler("spark"), self.wanted(where, balance)
        assert drawn is not None
        wanted = self.count(rows)
        return drawn(self, wanted, spark=spark, seed=seed, partitions=partitions, within=within, only=only)

    def warn_not_private(self) -> None:
        """Say that what is drawn is of a test, where it is."""
        if not self.private:
            warnings.warn(NOT_PRIVATE, NotPrivateWarning, stacklevel=3)

    def count(self, rows: int | None) -> int:
        """How many records are to be drawn, once all of them can be: the noisy total where no number is given."""
        return checked_rows(self.schema, self.form, self.rows if rows is None else rows)

    def wanted(self, where: str | None, balance: str | None) -> WantedRecords | None:
        """Which records are wanted, once that has a meaning; None for all of them as they come."""
        return WantedRecords.of(self.schema, self.field, self.compression, where, balance)

    def _given(
        self, given: Any, rows: int | None, where: str | None, balance: str | None, seed: int | None
    ) -> PartialValues:
        if where is not None or balance is not None:
            raise ParameterError("given is for records that are known: where and balance choose others.")
        found = PartialValues(given, self.schema, self.field, self.compression, seed)
        if rows is not None and rows != found.rows:
            raise ParameterError(
                f"rows {rows!r}, but {found.rows} records are given.", hint="leave rows out."
            )
        return found

    def _drawn(
        self,
        rows: int,
        rng: np.random.Generator,
        within: Within,
        only: WantedRecords | PartialValues | None,
    ) -> Any:
        """A whole sample at once: its records follow the field in every pair of columns, where they are not many."""
        if only is not None or not follows(self.field, rows):
            return self.draw(rows, rng, within, only=only)
        codes, spare = (self.field.sample(rows, seed=int(rng.integers(2**63))) for _ in range(2))
        return self._decode(codes, rng, within, None, None, spare)

    def draw(
        self,
        rows: int,
        rng: np.random.Generator,
        within: Within = "uniform",
        place: Place | None = None,
        only: WantedRecords | PartialValues | None = None,
    ) -> Any:
        """So many synthetic records as an Arrow table, from this randomness and their place in the sample alone."""
        source = self.field if only is None else only
        return self._decode(source.sample(rows, seed=int(rng.integers(2**63))), rng, within, place, only)

    def _decode(
        self,
        codes: Any,
        rng: np.random.Generator,
        within: Within,
        place: Place | None,
        only: WantedRecords | PartialValues | None,
        spare: Any = None,
    ) -> Any:
        return records(
            codes,
            self.schema,
            self.compression,
            self.transforms,
            rng,
            within,
            self.form,
            self.field,
            place,
            only,
            spare,
        )
