"""The ways in: how an audit hands its tables to `fit`, as files and frames of every kind."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from understudy.auditing.neighbouring_tables import Cells
from understudy.errors import ParameterError

Rows = Sequence[Cells]
_PARTS = 2  # files of a folder


@dataclass(frozen=True)
class Way:
    """`give` makes of columns, rows and a new folder what `fit` takes; `typed`: a column holds one type of value."""

    give: Callable[[Sequence[str], Rows, Path], Any]
    typed: bool


def way_of(name: str) -> Way:
    """The way of that name."""
    if name not in WAYS:
        raise ParameterError(f"way {name!r} is not known.", hint=f"choose one of {', '.join(WAYS)}.")
    return WAYS[name]


def _csv(columns: Sequence[str], rows: Rows, folder: Path, name: str = "audit.csv") -> Path:
    path = folder / name
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([_text(cell) for cell in row] for row in rows)
    return path


def _text(cell: Any) -> Any:
    return str(cell).lower() if isinstance(cell, bool) else cell


def _streamed(columns: Sequence[str], rows: Rows, folder: Path) -> str:
    return f"csv:{_csv(columns, rows, folder)}"


def _folder(columns: Sequence[str], rows: Rows, folder: Path) -> str:
    size = -(-len(rows) // _PARTS)
    for part in range(_PARTS):
        _csv(columns, rows[part * size : (part + 1) * size], folder, f"audit-{part}.csv")
    return f"{folder}/*.csv"


def _arrow(columns: Sequence[str], rows: Rows, folder: Path) -> Any:
    import pyarrow as pa

    return pa.table(dict(zip(columns, _across(rows), strict=True)))


def _parquet(columns: Sequence[str], rows: Rows, folder: Path) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(columns, rows, folder), folder / "audit.parquet")
    return folder / "audit.parquet"


def _duckdb(columns: Sequence[str], rows: Rows, folder: Path) -> str:
    import duckdb

    with duckdb.connect(str(folder / "audit.db")) as database:
        table = _arrow(columns, rows, folder)
        database.register("given", table)
        database.execute("CREATE TABLE audit AS SELECT * FROM given")
    return f"duckdb:{folder / 'audit.db'}?table=audit"


def _pandas(columns: Sequence[str], rows: Rows, folder: Path) -> Any:
    """Object columns, in which whole numbers are floats: as pandas keeps them once a cell is missing or odd."""
    pandas = _module("pandas")
    cells = [[float(cell) if type(cell) is int else cell for cell in column] for column in _across(rows)]
    return pandas.DataFrame(dict(zip(columns, cells, strict=True)), dtype=object)


def _polars(columns: Sequence[str], rows: Rows, folder: Path) -> Any:
    return _module("polars").DataFrame(
        dict(zip(columns, map(list, _across(rows)), strict=True)), strict=False
    )


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ParameterError(
            f"this way in needs {name}.", hint=f"pip install {name}, or audit another way."
        ) from None


def _across(rows: Rows) -> list[Cells]:
    return list(itertools.zip_longest(*rows))


WAYS = {
    "csv": Way(_csv, typed=False),
    "streamed": Way(_streamed, typed=False),
    "folder": Way(_folder, typed=False),
    "parquet": Way(_parquet, typed=True),
    "duckdb": Way(_duckdb, typed=True),
    "arrow": Way(_arrow, typed=True),
    "pandas": Way(_pandas, typed=False),
    "polars": Way(_polars, typed=True),
}
