"""The tables that systems are measured on: integer codes and a public domain, the same for every system."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.csv
import pyarrow.parquet

Codes = Mapping[str, npt.NDArray[Any]]

# NIST's first reduced feature set of the excerpts, by which races are compared; ages as it suggests: 0-10, 11-20, ...
DEMOGRAPHICS = ("AGEP", "RAC1P", "MSP", "SEX", "HOUSING_TYPE", "OWN_RENT", "DVET", "DEYE")
SURVEYS = ("national2019", "ma2019")
LATER = "temporal-match2 after year 0"  # years 1 to 6, of which year 0 is a public table


@dataclass(frozen=True, eq=False)
class DataSet:
    """Coded records: `sizes` says how many codes each column has, and is public; `columns` are the records."""

    name: str
    sizes: Mapping[str, int]
    columns: Codes

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(next(iter(self.columns.values())))

    def drawn(self, rows: int, seed: int) -> DataSet:
        """So many of the records, drawn without replacement; all of them where there are no more."""
        if rows >= self.rows:
            return self
        chosen = np.random.default_rng(seed).choice(self.rows, rows, replace=False)
        return DataSet(self.name, self.sizes, {n: column[chosen] for n, column in self.columns.items()})


Reader = Callable[[str, Path], DataSet]


def shared() -> Path:
    """The folder of data sets: named by UNDERSTUDY_SHARED, or `shared` beside the checkout."""
    named = os.environ.get("UNDERSTUDY_SHARED")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared"


def available() -> list[str]:
    """The names of the data sets that are there, in the order of the page."""
    return [name for name in _SETS if is_there(name)]


def is_there(name: str) -> bool:
    """Whether a data set of that name can be read."""
    return _place(name)[0].exists()


def read_set(name: str) -> DataSet:
    """The data set of that name: one of those above, or <name>.csv with <name>-domain.json in data/<name>."""
    path, reader = _place(name)
    return reader(name, path)


def _place(name: str) -> tuple[Path, Reader]:
    path, reader = (_SETS | _PARTS).get(name, (f"data/{name}", _coded))
    return shared() / path, reader


def year_zero() -> DataSet:
    """The records of `LATER`'s table that came before: what anyone may see of it."""
    return _years(_coded("temporal-match2", shared() / "data/temporal-match2"), LATER, later=False)


def _later(name: str, folder: Path) -> DataSet:
    return _years(_coded("temporal-match2", folder), name, later=True)


def _years(records: DataSet, name: str, *, later: bool) -> DataSet:
    """The records of year 0, or all others, without the column that says so."""
    taken = (records.columns["YEAR"] > 0) == later
    sizes = {column: size for column, size in records.sizes.items() if column != "YEAR"}
    return DataSet(name, sizes, {column: records.columns[column][taken] for column in sizes})


def _coded(name: str, folder: Path) -> DataSet:
    sizes = json.loads((folder / f"{name}-domain.json").read_text(encoding="utf-8"))
    table = pyarrow.csv.read_csv(folder / f"{name}.csv")
    return DataSet(name, sizes, {column: table[column].to_numpy() for column in sizes})


def _parquet(name: str, folder: Path) -> DataSet:
    sizes = json.loads((folder / "domain.json").read_text(encoding="utf-8"))
    table = pyarrow.parquet.read_table(folder / f"{name}.parquet", columns=list(sizes))
    return DataSet(name, sizes, {column: table[column].to_numpy() for column in sizes})


def _survey(name: str, file: Path) -> DataSet:
    """A survey of values, coded as `understudy evaluate` codes it: single ages, other numbers in 64 bins."""
    import understudy as us
    from understudy.evaluation.coding import completed
    from understudy.pipeline.sources.registry import first_records
    from understudy.transforms.encode import Encoder, reading_types

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draft = us.draft_schema(file)
        table = first_records(file, 10**6, types=reading_types(draft))
        encoder = Encoder(completed(draft, table))
        codes = encoder.forward(table.select(list(encoder.domain)))
    sizes = dict(encoder.domain.items())
    if name != "national2019":
        return DataSet(name, sizes, codes)
    ages = np.maximum(codes["AGEP"].astype(np.int64) - 1, 0) // 10
    columns = {n: codes[n] for n in DEMOGRAPHICS} | {"AGEP": ages}
    return DataSet(
        name, {n: sizes[n] for n in DEMOGRAPHICS} | {"AGEP": (sizes["AGEP"] - 2) // 10 + 1}, columns
    )


_SETS: dict[str, tuple[str, Reader]] = {
    **{
        name: (f"data/{name}", _coded)
        for name in ("adult", "nltcs", "titanic", "salary", "temporal-match2", "stroke")
    },
    **{name: (f"data/acs2019/{name}.csv", _survey) for name in SURVEYS},
    "wide98": ("bench/wide98", _parquet),
}
_PARTS: dict[str, tuple[str, Reader]] = {LATER: ("data/temporal-match2", _later)}  # of no table on the page
