"""Folders in which a log says which files are the table: Delta, Iceberg and Hudi.

Their Parquet files are not the table. Records that were deleted or replaced stay in files that the log no longer
names, so whoever reads every file counts a person twice, and again those who asked to be forgotten: no bound on one
unit's records would hold. Such files are read through the log or not at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import FileError

DELTA, ICEBERG, HUDI = "Delta", "Iceberg", "Hudi"
_ICEBERG_NOTES = re.compile(r"version-hint\.text|(v\d+|\d+-.+)(\.gz)?\.metadata\.json(\.gz)?")
_HINTS = {
    DELTA: 'name that folder itself, without a prefix; it is read by its log, with pip install "understudy[delta]".',
    ICEBERG: "name the newest .metadata.json in its folder 'metadata', without a prefix; it is read by that, with "
    'pip install "understudy[iceberg]".',
    HUDI: "read it as a table of Spark's (spark:name), or write the table anew as plain Parquet.",
}


@dataclass(frozen=True)
class LakeFolder:
    """A folder whose log decides which of its files are the table."""

    kind: str
    path: Path

    def refusal(self, asked: object) -> FileError:
        """Why its files are not read one by one, and how they are."""
        return self.refusal_of(repr(str(asked)))

    def refusal_of(self, what: str) -> FileError:
        """The same, of something that is no path: "the dataset"."""
        return FileError(
            f"{what} has files of the {self.kind} table {str(self.path)!r}, of which only its log says which "
            "records are alive: read as plain files, deleted ones would come back and people count twice.",
            hint=_HINTS[self.kind],
        )


def lake_at(folder: Path) -> LakeFolder | None:
    """The table whose log lies in this folder; None where there is no log."""
    if (folder / "_delta_log").is_dir():
        return LakeFolder(DELTA, folder)
    if (folder / ".hoodie").is_dir():
        return LakeFolder(HUDI, folder)
    notes = folder / "metadata"
    if notes.is_dir() and any(map(is_iceberg_note, os.listdir(notes))):
        return LakeFolder(ICEBERG, folder)
    return None


def is_iceberg_note(name: str) -> bool:
    """Whether a file in a folder `metadata` is called as one that describes an Iceberg table is."""
    return _ICEBERG_NOTES.fullmatch(name) is not None


def lake_above(folders: Iterable[Path]) -> LakeFolder | None:
    """The first table whose log lies in one of these folders, or in one above it, links followed."""
    looked: set[Path] = set()
    for folder in folders:
        whole = folder.resolve()
        for place in (whole, *whole.parents):
            if place in looked:
                break
            looked.add(place)
            if (found := lake_at(place)) is not None:
                return found
    return None


def lake_below(folder: Path) -> LakeFolder | None:
    """The first table whose log lies in this folder or in one below it."""
    return next((found for place, _, _ in os.walk(folder) if (found := lake_at(Path(place)))), None)


def check_plain_files(asked: str, files: Iterable[Path]) -> None:
    """Refuse a path, folder or pattern that takes in files of such a table, `files` among them."""
    place = Path(asked)
    found = lake_below(place) if place.is_dir() else None
    found = found or lake_above({_parent(file) for file in files})
    if found is not None:
        raise found.refusal(asked)


def _parent(file: Path) -> Path:
    """The folder in which a file's bytes lie."""
    return file.resolve().parent if file.is_symlink() else file.parent
