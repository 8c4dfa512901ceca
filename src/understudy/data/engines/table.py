"""The in-memory engine: coded columns, and their counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.data.counting.bytes_of_values import code_bytes
from understudy.data.counting.filled_cells import FilledCells
from understudy.data.counting.histogram import RESULT_BYTES, Histogram
from understudy.data.counting.recoding import recoded
from understudy.data.counting.units import bound as bound_records
from understudy.data.progress_bar import progress
from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes, check_codes
from understudy.errors import DomainError, ParameterError
from understudy.marginals import Marginal
from understudy.marginals.counter import Recoding
from understudy.processors import on_all_cores


class Table:
    """Coded records in memory: one array of codes a column, each the smallest unsigned type that fits.

    Parameters:
        domain: the columns and their sizes.
        columns: a column -> the code of each record, from 0 to below its size.
        rows: how many records there are; needed only where there is no column.
        limit: the most bytes that the results of one `count` may take.

    Raises:
        DomainError: a column is missing, unknown or of another length, or a code too large.
    """

    __slots__ = ("_columns", "_domain", "_limit", "_rows")

    def __init__(
        self,
        domain: Domain | Mapping[str, int],
        columns: Mapping[str, npt.ArrayLike],
        *,
        rows: int | None = None,
        limit: int = RESULT_BYTES,
    ) -> None:
        self._domain = domain if isinstance(domain, Domain) else Domain(domain)
        self._limit = limit
        for name in self._domain:
            if name not in columns:
                raise DomainError(f"column {name!r} of the domain has no codes.")
        for name in columns:
            if name not in self._domain:
                raise DomainError(f"column {name!r} has codes but is not in the domain.")
        checked: dict[str, Codes] = {}
        for name, size in self._domain.items():
            codes = check_codes(name, columns[name], size).view()
            codes.flags.writeable = False
            checked[name] = codes
        lengths = {name: len(codes) for name, codes in checked.items()}
        self._rows = next(iter(lengths.values()), rows or 0)
        for name, length in lengths.items():
            if length != self._rows or (rows is not None and length != rows):
                raise ParameterError(f"column {name!r} has another number of records than the rest.")
        self._columns = checked

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes."""
        return self._domain

    @property
    def columns(self) -> Mapping[str, Codes]:
        """The codes of every column, read-only."""
        return MappingProxyType(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"Table({len(self._domain)} columns)"  # the number of records is private

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64."""
        histogram = Histogram(self._domain, cliques, limit=self._limit)
        with progress("counting", total=self._rows) as advance:
            histogram.add(self._columns, self._rows, checked=True, advance=advance)
        return histogram.marginals()

    def count_cells(self, clique: Clique) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The cells of a clique that hold a record (as places in C order, rising), and their counts as int64.

        For cliques of more cells than could be counted one by one: the work grows with the records alone.
        """
        filled = FilledCells(self._domain, clique)
        filled.add(self._columns, self._rows)
        return filled.cells()

    def recode(self, maps: Mapping[str, Recoding]) -> Table:
        """The same records with code c of column k replaced by maps[k][c].

        The new size of a column is the largest new code plus one.
        """
        domain, recodings = recoded(self._domain, {}, maps)
        merged = on_all_cores(lambda name: recodings[name][self._columns[name]], recodings)
        columns = {**self._columns, **dict(zip(recodings, merged, strict=True))}
        return Table(domain, columns, rows=self._rows, limit=self._limit)

    def project(self, names: Iterable[str]) -> Table:
        """The same records with some of the columns, in the order given."""
        domain = self._domain.project(names)
        columns = {name: self._columns[name] for name in domain}
        return Table(domain, columns, rows=self._rows, limit=self._limit)

    def bound(self, units: Any, most: int) -> Table:
        """The table with at most `most` records of every unit, told by their codes (see `data.counting.units`)."""
        if len(units) != self._rows:
            raise ParameterError("units and records differ in number.", hint="give one unit a record.")
        keep = bound_records(units, code_bytes(self._domain, self._columns, self._rows), most)
        columns = {name: codes[keep] for name, codes in self._columns.items()}
        return Table(self._domain, columns, rows=int(np.count_nonzero(keep)), limit=self._limit)
