"""Columns that are not in a file but in the names of its folders: `year=2024/part-0.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from understudy.data.part import Part

MISSING = "__HIVE_DEFAULT_PARTITION__"  # how Spark and others write a folder for missing values

Keys = Mapping[str, str | None]


class KeyedPart(Part):
    """A file with a column more for every key of its folders, the same text in every record."""

    def __init__(self, part: Part, keys: Keys) -> None:
        self.source, self.changed, self.is_text = part.source, part.changed, part.is_text
        self._part, self._keys = part, keys
        self.types = pa.schema([*part.types, *(pa.field(name, pa.string()) for name in keys)])

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        inside = [name for name in columns if name not in self._keys] or self._part.types.names[:1]
        for batch in self._part.scan(inside, types):
            yield pa.record_batch([self._column(batch, name) for name in columns], names=list(columns))

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name not in self._keys:
            return batch.column(name)
        same = pa.array(np.zeros(batch.num_rows, np.int32))
        return pa.DictionaryArray.from_arrays(same, pa.array([self._keys[name]], pa.string()))


def with_keys(part: Part, base: Path) -> Part:
    """The file with the keys of the folders between `base` and it; a column of its own goes before a key."""
    keys: dict[str, str | None] = {}
    for folder in part.path.parent.relative_to(base).parts:
        name, equals, value = folder.partition("=")
        if equals and name and unquote(name) not in part.types.names:
            keys[unquote(name)] = None if value == MISSING else unquote(value)
    return KeyedPart(part, keys) if keys else part


def literal_parent(pattern: str, magic: str = "*?[") -> Path:
    """The folder of a pattern up to where it begins to match."""
    path = Path(pattern)
    while any(sign in str(path) for sign in magic):
        path = path.parent
    return path
