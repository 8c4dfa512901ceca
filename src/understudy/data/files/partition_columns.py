"""Columns that are not in a file but in the names of its folders: `year=2024/part-0.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from understudy.data.files.table_file import TableFile

MISSING = "__HIVE_DEFAULT_PARTITION__"  # how Spark and others write a folder for missing values

Keys = Mapping[str, str | None]


class PartitionedFile(TableFile):
    """A file with a column more for every key of its folders, the same text in every record."""

    def __init__(self, file: TableFile, keys: Keys) -> None:
        self.raw, self.changed = file.raw, file.changed
        self.is_text, self.dialect = file.is_text, file.dialect
        self._file, self._keys = file, keys
        self.types = pa.schema([*file.types, *(pa.field(name, pa.string()) for name in keys)])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        inside = [name for name in columns if name not in self._keys] or self._file.types.names[:1]
        for batch in self._file.scan(inside, types):
            yield pa.record_batch([self._column(batch, name) for name in columns], names=list(columns))

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name not in self._keys:
            return batch.column(name)
        same = pa.array(np.zeros(batch.num_rows, np.int32))
        return pa.DictionaryArray.from_arrays(same, pa.array([self._keys[name]], pa.string()))


def with_keys(file: TableFile, base: Path) -> TableFile:
    """The file with the keys of the folders between `base` and it; a column of its own goes before a key."""
    keys: dict[str, str | None] = {}
    for folder in file.path.parent.relative_to(base).parts:
        name, equals, value = folder.partition("=")
        if equals and name and unquote(name) not in file.types.names:
            keys[unquote(name)] = None if value == MISSING else unquote(value)
    return PartitionedFile(file, keys) if keys else file


def literal_parent(pattern: str, magic: str = "*?[") -> Path:
    """The folder of a pattern up to where it begins to match."""
    path = Path(pattern)
    while any(sign in str(path) for sign in magic):
        path = path.parent
    return path
