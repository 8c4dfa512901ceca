"""The files of a DataFrame that is nothing but a scan of them, so that workers can read them without Spark.

A record's way through Spark, from columns to rows and back, takes ten times as long as all else. Where Spark's own
plan says that a DataFrame is whole Parquet files, some of their columns and nothing more, its records are those of
the files; where anything at all is not known to be so, they take Spark's way.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from understudy.data.engines.unread_frames import local_file, spark_files
from understudy.data.files import raw_file
from understudy.data.files.file_set import FileSet, open_table_file
from understudy.errors import UnderstudyError

_SPARK = "org.apache.spark.sql."
_PROJECT = f"{_SPARK}catalyst.plans.logical.Project"
_PLAIN_COLUMN = f"{_SPARK}catalyst.expressions.AttributeReference"
_RELATION = f"{_SPARK}execution.datasources.LogicalRelation"
_FILES = f"{_SPARK}execution.datasources.HadoopFsRelation"
_PARQUET = f"{_SPARK}execution.datasources.parquet.ParquetFileFormat"
_LISTED = f"{_SPARK}execution.datasources.InMemoryFileIndex"
# Settings under which Spark leaves records out, or finds columns otherwise than by name, and what they must be.
_SETTINGS = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.extensions": "",
}
_SAME = (  # of which a cell is the same value to Spark and to Arrow; calendars and decimals are not among them
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string()),
)


def scanned_files(frame: Any, types: pa.Schema, needed: Collection[str]) -> FileSet | None:
    """The files that a DataFrame is a plain scan of, with the columns that are `needed`; None where it may be more.

    `types` are those of the DataFrame's columns. Of Spark Connect no plan is known here.
    """
    if any(types.field(name).type not in _SAME for name in needed if name in types.names):
        return None
    try:
        relation = _relation(frame._jdf)
        if relation is None or not _usual(frame):
            return None
        paths = [local_file(str(address)) for address in frame.inputFiles()]
        size = int(relation.location().sizeInBytes())
    except Exception:  # Py4J's, or no plan to ask for: Spark knows how to read it
        return None
    wanted = [name for name in types.names if name in needed]
    return _opened(paths, size, types, wanted) if paths and None not in paths else None


def local_places(frame: Any) -> tuple[str, ...]:
    """The files that a DataFrame reads on this machine, and the folders of which they are the parts."""
    files = spark_files(frame)
    folders = {path.parent for path in files if path.name.startswith("part-") or len(files) > 1}
    return tuple(map(str, [*sorted(folders), *files]))


def _relation(frame: Any) -> Any:
    """The files' relation, where the plan is that and the choice of plain columns; None where it is more."""
    plan = frame.queryExecution().optimizedPlan()
    while _class(plan) == _PROJECT:
        chosen = plan.projectList()
        if any(_class(chosen.apply(place)) != _PLAIN_COLUMN for place in range(chosen.size())):
            return None
        plan = plan.child()
    if _class(plan) != _RELATION or plan.isStreaming() or not plan.catalogTable().isEmpty():
        return None
    relation = plan.relation()
    known = (
        _class(relation) == _FILES
        and _class(relation.fileFormat()) == _PARQUET
        and _class(relation.location()) == _LISTED
        and relation.partitionSchema().isEmpty()
        and _only_paths(relation.options())
    )
    return relation if known else None


def _only_paths(options: Any) -> bool:
    """Whether a reader was told nothing but where to read."""
    return int(options.size()) == sum(bool(options.contains(name)) for name in ("path", "paths"))


def _usual(frame: Any) -> bool:
    """Whether nothing in the session changes what a scan reads."""
    session = frame.sparkSession
    usual = all(session.conf.get(name, told) == told for name, told in _SETTINGS.items())
    return usual and session._jsparkSession.experimental().extraStrategies().isEmpty()


def _class(thing: Any) -> str:
    return str(thing.getClass().getName())


def _opened(paths: list[Any], size: int, types: pa.Schema, wanted: list[str]) -> FileSet | None:
    """The files, where they are those that Spark listed and every one has the columns in the DataFrame's types."""
    try:
        if sum(os.path.getsize(path) for path in paths) != size:
            return None  # they changed since
        files = [open_table_file(path, raw_file.PARQUET, None, None, wanted) for path in sorted(paths)]
    except (UnderstudyError, OSError):
        return None
    for file in files:
        spelled = [name.lower() for name in file.types.names]  # Spark tells no capitals apart
        for name in wanted:
            if name not in file.types.names or spelled.count(name.lower()) != 1:
                return None
            if _plain(file.types.field(name).type) != types.field(name).type:
                return None
    return FileSet.together(files, wanted)


def _plain(kind: pa.DataType) -> pa.DataType:
    """A type without the way in which a file keeps its texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if kind in (pa.large_string(), pa.string_view()) else kind
