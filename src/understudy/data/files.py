"""Files as a stream of batches: one file, a folder or a pattern, of Parquet, CSV or Arrow, each told by content.

Every file is looked at before any is read: its footer or its header, and that it has the same columns as the
rest. So a damaged file among a thousand is named first. Together they are one table, in the order of paths.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from understudy.data import source
from understudy.data.keyed import literal_parent, with_keys
from understudy.data.part import Part, open_part
from understudy.data.uniting import carried, declared
from understudy.errors import FileError

# A single file above this is streamed rather than read into memory; packed ones grow when unpacked.
LARGE = 1 << 30
LARGE_PACKED = 1 << 28
_PACKED = (".parquet", ".pq", ".gz")
_ENDINGS = {
    source.PARQUET: (".parquet", ".pq"),
    source.TEXT: (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".tab.gz", ".txt.gz"),
    source.ARROW_FILE: (".arrow", ".ipc", ".feather", ".arrows"),
}


def looks_large(path: str) -> bool:
    """Whether a path without a prefix is streamed: a folder, a pattern, or a file that is large."""
    with suppress(OSError, ValueError):
        place = Path(path)
        if place.is_dir():
            return True
        if place.is_file():
            most = LARGE_PACKED if path.lower().endswith(_PACKED) else LARGE
            return place.stat().st_size > most
        return glob.has_magic(path)
    return False


@dataclass(frozen=True, eq=False)
class FileSet:
    """Files that make up one table.

    `types` are those of the table, taken as public; `carried` are those in which its batches come.
    """

    parts: tuple[Part, ...]
    types: pa.Schema
    carried: pa.Schema

    @classmethod
    def open(cls, pattern: str, *, kind: str | None = None, delimiter: str | None = None) -> FileSet:
        """The files at a path, in a folder or matching a pattern, once each is readable and fits the rest."""
        paths = find_files(pattern, kind)
        base = Path(pattern) if Path(pattern).is_dir() else literal_parent(pattern)
        base = paths[0].parent if paths == [base] else base
        with ThreadPoolExecutor(4) as pool:
            opened = pool.map(lambda path: open_part(path, kind, delimiter), paths)
            parts = tuple(with_keys(part, base) for part in opened)
        for part in parts:
            _check_same(parts[0], part)
        kinds = {name: [part.types.field(name).type for part in parts] for name in parts[0].types.names}
        return cls(
            parts,
            pa.schema([(name, declared(name, given)) for name, given in kinds.items()]),
            pa.schema([(name, carried(name, given)) for name, given in kinds.items()]),
        )

    @property
    def untyped(self) -> frozenset[str]:
        """The columns that have no type of their own: all of them where every file is text, else none."""
        return frozenset(self.types.names if all(part.is_text for part in self.parts) else ())

    @property
    def occasion(self) -> str:
        """The files and their times of change."""
        return " ".join(f"{part.path.resolve()} {part.changed}" for part in self.parts)

    @property
    def bytes(self) -> int:
        """How much disk they take, those that went since not counted."""
        return sum(part.path.stat().st_size for part in self.parts if part.path.exists())

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """The batches of every file in turn."""
        united = {field.name: field.type for field in self.carried}
        for part in self.parts:
            part.check_unchanged()
            yield from part.scan(columns, united | dict(types) if part.is_text else united)


def find_files(pattern: str, kind: str | None = None) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, sorted; at least one.

    In a folder, and below, those whose ending names a table's format, and none that begins with `_` or `.`.
    """
    place = Path(pattern)
    try:
        if place.is_dir():
            found = sorted(path for path in place.rglob("*") if _is_table(path, place, kind))
        elif place.exists() or not glob.has_magic(pattern):
            return [place]
        else:
            found = sorted(Path(path) for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    except (OSError, ValueError):
        raise FileError(f"{pattern!r} cannot be read.", hint="check the path and its permissions.") from None
    if not found:
        what = f"{kind} file" if kind else "table"
        where = "in the folder" if place.is_dir() else "that matches"
        raise FileError(f"there is no {what} {where} {pattern!r}.", hint="check the path and the endings.")
    return found


def _is_table(path: Path, folder: Path, kind: str | None) -> bool:
    hidden = any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    endings = _ENDINGS[kind] if kind else tuple(end for ends in _ENDINGS.values() for end in ends)
    return not hidden and path.name.lower().endswith(endings) and path.is_file()


def _check_same(first: Part, part: Part) -> None:
    names, others = set(first.types.names), set(part.types.names)
    for name in first.types.names:
        if name not in others:
            raise part.fault(f"has no column {name!r}, which {first.path.name!r} has")
    for name in part.types.names:
        if name not in names:
            raise part.fault(f"has a column {name!r}, which {first.path.name!r} has not")
