"""One file of a stream: looked at when opened, read in batches as often as wanted."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from understudy.data.files import raw_file
from understudy.data.files.common_types import as_type
from understudy.data.files.frames import check_schema, without_nested
from understudy.data.files.raw_file import RawFile
from understudy.data.scannable import batch_rows
from understudy.data.whole_batches import LEAST, whole_batches
from understudy.domain.dialect import Dialect
from understudy.errors import FileError

_FAULTS = (pa.ArrowException, OSError, ValueError, MemoryError, UnicodeDecodeError)
_VIEWS = {pa.string_view(): pa.large_string()}
BUFFER = 1 << 20  # bytes of a Parquet column read at a time, however large its row groups are


class TableFile(ABC):
    """A file that was readable when it was opened."""

    types: pa.Schema
    is_text = False  # whether the types of its columns are for the reader to choose
    dialect: Dialect | None = None  # how it is written, where it is text

    def __init__(self, found: RawFile) -> None:
        self.raw = found
        self.changed = _stamp(found.path)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.raw.path

    def fault(self, what: str, *, hint: str = "") -> FileError:
        """An error that names this file."""
        return self.raw.fault(what, hint=hint)

    def check_unchanged(self) -> None:
        """Refuse a file that is another than the one that was opened: two scans must see the same records."""
        if _stamp(self.path) != self.changed:
            raise self.fault("changed, or went, while it was being read", hint="run it again on a copy.")

    @abstractmethod
    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """Its records in batches, with `columns` in that order and in `types` (see `common_types`)."""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except _FAULTS:  # what these say may quote the file's content
            raise self.fault(
                f"is a damaged, truncated or encrypted {self.raw.kind}", hint="write it again."
            ) from None


class ParquetTableFile(TableFile):
    """A Parquet file; texts come as dictionaries, which is how they are stored and the fastest to code."""

    def __init__(self, found: RawFile, needed: Collection[str] | None = None) -> None:
        from pyarrow.parquet import ParquetFile  # takes a while to import

        super().__init__(found)
        with self._reading(), ParquetFile(found.path) as file:
            self.types = without_nested(_plain(file.schema_arrow), needed)
            self._small = file.metadata.num_rows < LEAST
            # Of thousands of small files the footer is read once; that of a large one may take megabytes.
            self._footer = file.metadata if self._small and file.num_row_groups == 1 else None
        check_schema(self.types, f"file {str(found.path)!r}")

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        from pyarrow.parquet import ParquetFile

        texts = [name for name in columns if pa.types.is_string(self.types.field(name).type)]
        with (
            self._reading(),
            ParquetFile(
                self.path,
                metadata=self._footer,
                read_dictionary=texts,
                buffer_size=BUFFER,
                pre_buffer=False,
            ) as file,
        ):
            batches = file.iter_batches(
                batch_rows(len(columns)), columns=list(columns), use_threads=not self._small
            )
            yield from _checked(batches, columns, types)


class ArrowTableFile(TableFile):
    """An Arrow file or stream."""

    def __init__(self, found: RawFile, needed: Collection[str] | None = None) -> None:
        super().__init__(found)
        with self._reading(), pa.OSFile(str(found.path)) as raw:
            self.types = without_nested(_plain(self._opened(raw).schema), needed)
        check_schema(self.types, f"file {str(found.path)!r}")

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        with self._reading(), pa.OSFile(str(self.path)) as raw:
            yield from _checked(self._all(raw), columns, types)

    def _opened(self, raw: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
        opener = pa.ipc.open_file if self.raw.kind == raw_file.ARROW_FILE else pa.ipc.open_stream
        return opener(raw)

    def _all(self, raw: pa.NativeFile) -> Iterator[pa.RecordBatch]:
        reader = self._opened(raw)
        if self.raw.kind == raw_file.ARROW_STREAM:
            yield from reader
        else:
            yield from (reader.get_batch(number) for number in range(reader.num_record_batches))


def _checked(
    batches: Iterator[pa.RecordBatch], columns: Sequence[str], types: Mapping[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    """The batches with the columns asked for, in plain layouts and the types of the whole set of files."""
    for batch in whole_batches(_valid(batches)):
        arrays = [as_type(batch.column(name), types.get(name)) for name in columns]
        yield pa.record_batch(arrays, names=list(columns))


def _valid(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        batch.validate(full=True)  # a damaged file can point outside of itself, or hold text that is none
        yield batch


def _plain(types: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, _VIEWS.get(field.type, field.type)) for field in types])


def _stamp(path: Path) -> str:
    try:
        now = os.stat(path)
    except OSError:
        return ""
    return f"{now.st_mtime_ns} {now.st_size}"
