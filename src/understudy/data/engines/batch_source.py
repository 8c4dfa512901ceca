"""Datasets of Arrow's, and tables of Delta and Iceberg through their own libraries, as a stream of batches.

A log beside the files of a Delta or an Iceberg table says which of them are the table (see `files.lake_folder`): the
library reads the log, and its records alone are read. One version of the table is read throughout a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa

from understudy.data.files.common_types import always_fits, as_type
from understudy.data.files.frames import check_schema
from understudy.data.files.stored_lakes import check_alive
from understudy.data.scannable import batch_rows
from understudy.errors import FileError, ParameterError

_TEXT_FORMATS = ("csv", "json")  # Arrow tells the types of these by their cells
PLAIN = {pa.string_view(): pa.large_string()}


@dataclass(frozen=True, eq=False)
class BatchSource:
    """Records that some library hands out in batches: `batches(columns)` starts anew every time."""

    what: str  # for messages: "the Delta table 'people'"
    types: pa.Schema
    batches: Callable[[list[str]], Iterator[pa.RecordBatch]]
    snapshot: str | None = None
    untyped: frozenset[str] = frozenset()  # columns of texts that say what they are cell by cell

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """All records, every column in the type that was declared for it."""
        asked = list(columns) or self.types.names[:1]
        with faults(self.what):
            for batch in self.batches(asked):
                batch.validate(full=True)
                yield pa.record_batch(
                    [as_type(batch.column(name), self.types.field(name).type) for name in asked], names=asked
                )


def open_dataset(dataset: Any, what: str = "the dataset", snapshot: str | None = None) -> BatchSource:
    """A dataset of Arrow's, once its types are declared by its files and hold in every one of them."""
    with faults(what):
        types = pa.schema([(field.name, PLAIN.get(field.type, field.type)) for field in dataset.schema])
        check_schema(types, what, ParameterError)
        for part in _fragments(dataset, what):
            _check_fragment(part, types, what)
        check_alive(dataset, what)

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows = batch_rows(len(columns))
        yield from dataset.scanner(columns=columns, batch_size=rows, fragment_readahead=1).to_batches()

    return BatchSource(what, types, batches, snapshot)


def open_delta(folder: str) -> BatchSource:
    """The newest version of a Delta table, its deleted and replaced records left out."""
    from pyarrow.dataset import ParquetReadOptions  # it loads pandas, where that is installed

    deltalake = library("deltalake", "delta")
    what = f"the Delta table {folder!r}"
    with faults(what):
        table = deltalake.DeltaTable(folder)
        protocol, version = table.protocol(), table.version()
        settings = table.metadata().configuration
        features = set(protocol.reader_features or ())
    if protocol.min_reader_version == 2 and settings.get("delta.columnMapping.mode", "none") != "none":
        features.add("columnMapping")
    beyond = sorted(features - {"timestampNtz"})
    if beyond:
        raise FileError(
            f"{what} needs {', '.join(beyond)} of whoever reads it, which is not to be had here.",
            hint="read it as a table of Spark's (spark:name), or write it anew without that.",
        )
    with faults(what):
        # Spark writes moments in twelve bytes, which Arrow would take for nanoseconds: too few years fit in those.
        moments = ParquetReadOptions(coerce_int96_timestamp_unit="us")
        dataset = table.to_pyarrow_dataset(parquet_read_options=moments)
        place = str(table.table_uri)
    return open_dataset(dataset, what, f"delta {place} {version} {table.metadata().id}")


def open_iceberg(notes: str) -> BatchSource:
    """The table that a .metadata.json file of Iceberg's describes, its deleted records left out."""
    iceberg = library("pyiceberg.table", "iceberg")
    what = f"the Iceberg table {notes!r}"
    with faults(what):
        table = iceberg.StaticTable.from_metadata(notes)
        current = table.current_snapshot()
        types = table.scan().projection().as_arrow()
        types = pa.schema([(field.name, PLAIN.get(field.type, field.type)) for field in types])
    check_schema(types, what, ParameterError)
    number = None if current is None else current.snapshot_id

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        asked = table.scan(selected_fields=tuple(columns), snapshot_id=number)
        yield from asked.to_arrow_batch_reader()

    return BatchSource(what, types, batches, f"iceberg {table.metadata.table_uuid} {number}")


def _fragments(dataset: Any, what: str) -> Iterator[Any]:
    """The parts of a dataset; one that is filtered does not say which they are."""
    try:
        yield from dataset.get_fragments()
    except ValueError:
        raise ParameterError(
            f"{what} is filtered, and then says nothing of its files.",
            hint="give the whole dataset, or what dataset.to_table() makes of the filtered one.",
        ) from None


def _check_fragment(part: Any, types: pa.Schema, what: str) -> None:
    """Refuse a part whose types were told by its cells, or are to be cast to others that do not hold every value."""
    known = getattr(part, "format", None)
    if known is not None and known.default_extname in _TEXT_FORMATS:
        raise ParameterError(
            f"{what} has text files: Arrow tells the types of their columns by their cells.",
            hint="give their path instead: csv:people/ reads each cell by itself.",
        )
    for field in part.physical_schema:
        if field.name not in types.names:
            continue
        wanted = types.field(field.name).type
        if not always_fits(field.type, wanted):
            raise ParameterError(
                f"{what}: column {field.name!r} is {field.type} in a file and {wanted} in the dataset, which may not "
                "hold every value.",
                hint="make the dataset with a schema whose types hold what its files do.",
            )


def library(module: str, extra: str) -> Any:
    """The library that reads such tables."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ParameterError(
            f"{package} is not installed, which reads such tables.", hint=f'pip install "understudy[{extra}]"'
        ) from None


@contextmanager
def faults(
    what: str, hint: str = "is it there, undamaged, and are its files not being removed meanwhile?"
) -> Iterator[None]:
    """Whatever a library says of what it reads, without its words: they may quote a value or a password."""
    try:
        yield
    except (ParameterError, FileError):
        raise
    except Exception as error:  # libraries raise errors of their own, which have nothing else in common
        raise FileError(f"{what} cannot be read ({type(error).__name__}).", hint=hint) from None
