"""Every way in: where records may lie, and what one unit's records may look like there.

A new source joins by a line in SOURCES: what its cells are, and a function that puts pieces of records somewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import polars as pl
from unit_cells import (
    MIXED,
    NARROW,
    NUMPY,
    OBJECTS,
    ODD,
    PLAIN,
    TEXTS,
    WIDE,
    Cells,
    a_gap,
    of_types,
    out_of_time,
    unfoldered,
)
from unit_people import SETTINGS
from unit_places import (
    Put,
    arrow,
    arrow_dataset,
    arrow_files,
    csv_file,
    csv_folder,
    csv_packed,
    csv_utf16,
    delta_table,
    duckdb_join,
    duckdb_table,
    excel_sheet,
    hive,
    iceberg_table,
    json_lines,
    pandas_categories,
    pandas_nullable,
    pandas_numpy,
    pandas_objects,
    parquet_file,
    parquet_folder,
    parquet_of_two_types,
    polars_categories,
    polars_objects,
    postgres_query,
    postgres_table,
    postgres_view,
    spark_files,
    spark_folder,
    spark_frame,
    spark_view,
    sqlite_table,
    text_beside_parquet,
)

from nightly import NIGHTLY


@dataclass(frozen=True)
class Source:
    """A way in: what its cells are, and how records get there.

    Its odd units are shared out over so many `worlds` (by day all of them are in one); a `quick` source is given them
    one by one. `settings` are all in which it is asked, where others would take long and other sources go that way.
    `retyped`: a cell may change the types that the source declares, which are public, before anything here sees it.
    """

    cells: Cells
    put: Put
    settings: tuple[str, ...] = tuple(SETTINGS)
    worlds: int = 4 if NIGHTLY else 1
    quick: bool = False
    retyped: bool = False


TYPED, NARROWLY, WIDELY, ODDLY = map(of_types, (PLAIN, NARROW, WIDE, ODD))
IN_TIME = of_types(PLAIN, without=out_of_time)
# Where a source that is nearly the same goes the rest of the way.
FEW = ("complete", "no schema", "unit, 3")
MOST = ("complete", "learned", "no schema", "transforms", "unit, 3", "learned, unit, 1")
# By day a source that is nearly the same as another goes half of the way, and the next such source the other half.
WHOLE = tuple(SETTINGS)
ONE_HALF = WHOLE if NIGHTLY else ("complete", "no schema", "transforms", "unit, 3")
OTHER_HALF = WHOLE if NIGHTLY else ("learned", "no schema", "unit, learned", "learned, unit, 1")

# A new source joins here.
SOURCES: dict[str, Source] = {
    "pandas, objects": Source(OBJECTS, pandas_objects, quick=NIGHTLY, settings=OTHER_HALF),
    "pandas, mixed objects": Source(MIXED, pandas_objects, quick=True),
    "pandas, texts": Source(TEXTS, pandas_objects, settings=ONE_HALF),
    "pandas, NumPy's types": Source(
        of_types(NUMPY, without=a_gap), arrow(NUMPY, pandas_numpy), settings=ONE_HALF
    ),
    # A gap makes pandas change a column's type: public, so what is learned may differ, but no code of a known schema.
    "pandas, NumPy's types with gaps": Source(
        of_types(NUMPY),
        arrow(NUMPY, pandas_numpy),
        settings=("complete", "transforms", "unit, 3"),
        retyped=True,
    ),
    "pandas, nullable": Source(TYPED, arrow(PLAIN, pandas_nullable), settings=OTHER_HALF),
    "pandas, categories": Source(TYPED, arrow(PLAIN, pandas_categories), settings=ONE_HALF),
    "pandas, Arrow's types": Source(
        WIDELY, arrow(WIDE, lambda t: t.to_pandas(types_mapper=pd.ArrowDtype)), settings=OTHER_HALF
    ),
    "Polars": Source(TYPED, arrow(PLAIN, pl.from_arrow), settings=OTHER_HALF),
    "Polars, lazy": Source(TYPED, arrow(PLAIN, lambda made: pl.from_arrow(made).lazy()), settings=FEW),
    "Polars, wide": Source(WIDELY, arrow(WIDE, pl.from_arrow), settings=ONE_HALF),
    "Polars, categories": Source(TYPED, arrow(PLAIN, polars_categories), settings=OTHER_HALF),
    "Polars, objects": Source(OBJECTS, polars_objects, quick=NIGHTLY, settings=ONE_HALF),
    "Arrow": Source(TYPED, arrow(PLAIN), quick=True),
    "Arrow, read once": Source(TYPED, arrow(PLAIN, lambda made: made.to_reader(16)), settings=FEW),
    "Arrow, narrow": Source(NARROWLY, arrow(NARROW), quick=NIGHTLY, settings=OTHER_HALF),
    "Arrow, wide": Source(WIDELY, arrow(WIDE), quick=NIGHTLY, settings=ONE_HALF),
    "Arrow, odd": Source(ODDLY, arrow(ODD), quick=NIGHTLY, settings=OTHER_HALF),
    "CSV": Source(TEXTS, csv_file, quick=True, settings=ONE_HALF),
    "CSV, streamed": Source(TEXTS, lambda pieces, folder: f"csv:{csv_file(pieces, folder)}"),
    "CSV, packed": Source(TEXTS, csv_packed, settings=FEW),
    "CSV, packed, streamed": Source(
        TEXTS, lambda pieces, folder: f"csv:{csv_packed(pieces, folder)}", settings=FEW
    ),
    "CSV, folder": Source(TEXTS, csv_folder, settings=MOST),
    "CSV, UTF-16": Source(TEXTS, csv_utf16, settings=FEW),
    "CSV, UTF-16, streamed": Source(
        TEXTS, lambda pieces, folder: f"csv:{csv_utf16(pieces, folder)}", settings=FEW
    ),
    # Their names stand in the records: without a schema they are refused.
    "JSON lines": Source(TEXTS, json_lines, settings=("complete", "learned", "transforms", "unit, 3")),
    "Excel": Source(TEXTS, excel_sheet, settings=("complete", "no schema")),
    "CSV beside Parquet": Source(TEXTS, text_beside_parquet, settings=MOST),
    "Parquet": Source(TYPED, parquet_file(PLAIN), settings=ONE_HALF),
    "Parquet, streamed": Source(
        WIDELY, lambda pieces, folder: f"parquet:{parquet_file(WIDE)(pieces, folder)}", settings=OTHER_HALF
    ),
    "Parquet, folder": Source(TYPED, parquet_folder, settings=OTHER_HALF),
    "Parquet, pattern": Source(
        TYPED, lambda pieces, folder: f"{parquet_folder(pieces, folder)}/*.parquet", settings=FEW
    ),
    "Parquet, two types": Source(TYPED, parquet_of_two_types, settings=MOST),
    "Parquet, by folder": Source(of_types(PLAIN, without=unfoldered), hive, settings=MOST),
    "Arrow dataset": Source(
        TYPED, arrow_dataset, settings=("no schema", "unit, 3"), worlds=2 if NIGHTLY else 1
    ),
    "Delta table": Source(IN_TIME, delta_table, settings=("complete", "unit, 3"), worlds=1),
    "Iceberg table": Source(IN_TIME, iceberg_table, settings=("complete", "unit, 3"), worlds=1),
    "Arrow files": Source(NARROWLY, arrow_files, settings=MOST),
    "DuckDB table": Source(TYPED, duckdb_table, settings=MOST),
    "DuckDB query": Source(TYPED, duckdb_join),
    "SQLite table": Source(TEXTS, sqlite_table, settings=MOST),
    "PostgreSQL table": Source(IN_TIME, postgres_table, settings=MOST),
    "PostgreSQL view": Source(IN_TIME, postgres_view, settings=OTHER_HALF),
    "PostgreSQL query": Source(IN_TIME, postgres_query, settings=MOST),
    "Spark frame": Source(
        IN_TIME, spark_frame, settings=("learned, unit, 1", "transforms, unit, 3"), worlds=1
    ),
    "Spark folder": Source(IN_TIME, spark_folder, settings=("unit, 1",), worlds=1),
    "Spark view": Source(IN_TIME, spark_view, settings=("open, unit, 3",), worlds=1),
    "Spark Parquet": Source(
        TYPED, spark_files(parquet_folder, "parquet"), settings=("learned", "unit, 3"), worlds=1
    ),
    "Spark CSV": Source(
        TEXTS, spark_files(csv_folder, "csv"), settings=("no schema", "transforms"), worlds=1
    ),
}
