"""Files as a stream of batches: one file, a folder or a pattern, of Parquet, CSV, Arrow, JSON lines or Excel.

Every file is looked at before any is read: its footer or its header, and that it has the same columns as the
rest. So a damaged file among a thousand is named first. Together they are one table, in the order of paths.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from understudy.data.files import raw_file
from understudy.data.files.common_types import carried, declared
from understudy.data.files.json_lines import JsonLinesFile
from understudy.data.files.lake_folder import check_plain_files
from understudy.data.files.partition_columns import literal_parent, with_keys
from understudy.data.files.raw_file import open_raw
from understudy.data.files.spreadsheet import SheetFile
from understudy.data.files.table_file import ArrowTableFile, ParquetTableFile, TableFile
from understudy.data.files.text.text_file import TextFile
from understudy.domain.dialect import Dialect
from understudy.errors import FileError
from understudy.memory_left import memory_left

# A single file above this is streamed rather than read into memory; packed ones grow when unpacked.
LARGE = 1 << 30
LARGE_PACKED = 1 << 28
_PACKED = (".parquet", ".pq", ".gz")
_ENDINGS = {
    raw_file.PARQUET: (".parquet", ".pq"),
    raw_file.TEXT: (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".tab.gz", ".txt.gz"),
    raw_file.ARROW_FILE: (".arrow", ".ipc", ".feather", ".arrows"),
    raw_file.JSON_LINES: (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    raw_file.EXCEL: (".xlsx", ".xlsm"),
}


def looks_large(path: str) -> bool:
    """Whether a path without a prefix is streamed: a folder, a pattern, or a file too large for memory."""
    with suppress(OSError, ValueError):
        place = Path(path)
        if place.is_dir():
            return True
        if place.is_file():
            most, times = (LARGE_PACKED, 20) if path.lower().endswith(_PACKED) else (LARGE, 5)
            left = memory_left()
            return place.stat().st_size > (most if left is None else min(most, left.bytes // times))
        return glob.has_magic(path)
    return False


def table_name(pattern: str) -> str | None:
    """What the table at a path is called: `people` for people.csv.gz, people/ and people/*.parquet."""
    path = Path(pattern)
    while glob.has_magic(path.name):
        path = path.parent
    return path.name.split(".")[0] or None


def is_table_name(name: str, kind: str | None = None) -> bool:
    """Whether a name ends as a table's file does, of that kind or of any, whether or not it is there."""
    endings = _ENDINGS[kind] if kind else tuple(end for ends in _ENDINGS.values() for end in ends)
    return name.lower().endswith(endings)


@dataclass(frozen=True, eq=False)
class FileSet:
    """Files that make up one table.

    `types` are those of the table, taken as public; `carried` are those in which its batches come.
    """

    files: tuple[TableFile, ...]
    types: pa.Schema
    carried: pa.Schema

    @classmethod
    def open(
        cls,
        pattern: str,
        *,
        kind: str | None = None,
        dialect: Dialect | None = None,
        names: Sequence[str] | None = None,
        needed: Collection[str] | None = None,
    ) -> FileSet:
        """The files at a path, in a folder or matching a pattern, once each is readable and fits the rest.

        `dialect` says how text files are written, and `names` which columns JSON lines have. Columns of
        lists, records or bytes are left out where they are not `needed`; without it they are refused.
        """
        paths = find_files(pattern, kind)
        base = Path(pattern) if Path(pattern).is_dir() else literal_parent(pattern)
        base = paths[0].parent if paths == [base] else base
        with ThreadPoolExecutor(4) as pool:
            opened = pool.map(lambda path: open_table_file(path, kind, dialect, names, needed), paths)
            files = tuple(with_keys(file, base) for file in opened)
        for file in files:
            _check_same(files[0], file)
        return cls.together(files, files[0].types.names)

    @classmethod
    def together(cls, files: Sequence[TableFile], names: Sequence[str]) -> FileSet:
        """Files as one table of the columns that are named, which every one of them has."""
        kinds = {name: [file.types.field(name).type for file in files] for name in names}
        return cls(
            tuple(files),
            pa.schema([(name, declared(name, given)) for name, given in kinds.items()]),
            pa.schema([(name, carried(name, given)) for name, given in kinds.items()]),
        )

    @property
    def untyped(self) -> frozenset[str]:
        """The columns that have no type of their own: all of them where every file is text, else none."""
        return frozenset(self.types.names if all(file.is_text for file in self.files) else ())

    @property
    def dialect(self) -> Dialect | None:
        """How the files are written, by the first of them; None where they are not text."""
        return self.files[0].dialect

    @property
    def snapshot(self) -> str:
        """The files and their times of change."""
        return " ".join(f"{file.path.resolve()} {file.changed}" for file in self.files)

    @property
    def bytes(self) -> int:
        """How much disk they take, those that went since not counted."""
        return sum(file.path.stat().st_size for file in self.files if file.path.exists())

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """The batches of every file in turn."""
        united = {field.name: field.type for field in self.carried}
        for file in self.files:
            file.check_unchanged()
            yield from file.scan(columns, united | dict(types) if file.is_text else united)
            file.check_unchanged()


def open_table_file(
    path: Path,
    kind: str | None,
    dialect: Dialect | None,
    names: Sequence[str] | None,
    needed: Collection[str] | None = None,
) -> TableFile:
    """The file, once it is known to be a table of the kind asked for."""
    found = open_raw(path)
    if kind is not None and found.kind != kind:
        raise found.fault(
            f"is not {kind}", hint="leave the prefix out: a file's kind is told by its content."
        )
    if found.kind == raw_file.TEXT:
        return TextFile(found, dialect)
    if found.kind in (raw_file.JSON_LINES, raw_file.EXCEL):
        return JsonLinesFile(found, names) if found.kind == raw_file.JSON_LINES else SheetFile(found)
    opened = ParquetTableFile if found.kind == raw_file.PARQUET else ArrowTableFile
    return opened(found, needed)


def find_files(pattern: str, kind: str | None = None) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, sorted; at least one.

    In a folder, and below, those whose ending names a table's format, and none that begins with `_` or `.`. Files of
    which a log says whether they are alive are refused (see `lake_folder`).
    """
    place = Path(pattern)
    try:
        if place.is_dir():
            found = sorted(
                path for path in _below(place) if is_table_name(path.name, kind) and path.is_file()
            )
        elif place.exists() or not glob.has_magic(pattern):
            found = [place]
        else:
            found = sorted(Path(path) for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
        check_plain_files(pattern, found)
    except (OSError, ValueError):
        raise FileError(f"{pattern!r} cannot be read.", hint="check the path and its permissions.") from None
    if not found:
        what = f"{kind} file" if kind else "table"
        where = "in the folder" if place.is_dir() else "that matches"
        raise FileError(f"there is no {what} {where} {pattern!r}.", hint="check the path and the endings.")
    return found


def _below(folder: Path) -> Iterator[Path]:
    """What lies in a folder and below, but for what is hidden; an OSError where a folder cannot be listed."""

    def told(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=told):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        yield from (Path(place, name) for name in names if not name.startswith(("_", ".")))


def _check_same(first: TableFile, file: TableFile) -> None:
    names, others = set(first.types.names), set(file.types.names)
    for name in first.types.names:
        if name not in others:
            raise file.fault(f"has no column {name!r}, which {first.path.name!r} has")
    for name in file.types.names:
        if name not in names:
            raise file.fault(f"has a column {name!r}, which {first.path.name!r} has not")
