"""Logs of Delta, Iceberg and Hudi tables above the files of a dataset of Arrow's, on whatever file system it is."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from understudy.data.files.lake_folder import DELTA, HUDI, ICEBERG, LakeFolder, is_iceberg_note, lake_above


def check_alive(dataset: Any, what: str) -> None:
    """Refuse a dataset that was made of the files of such a table one by one.

    A dataset that Delta's own library made reads its log, by a file system of that library's.
    """
    folders: dict[tuple[str, str], tuple[Any, set[str]]] = {}
    for part in dataset.get_fragments():
        path, system = getattr(part, "path", None), getattr(part, "filesystem", None)
        if path is None or system is None or _is_of_delta(system):
            continue
        named = (system.type_name, str(getattr(system, "base_path", "")))
        folders.setdefault(named, (system, set()))[1].add(str(PurePosixPath(path).parent))
    for system, places in folders.values():
        lake = lake_above(map(Path, places)) if system.type_name == "local" else _lake_in(system, places)
        if lake is not None:
            raise lake.refusal_of(what)


def _is_of_delta(system: Any) -> bool:
    return type(getattr(system, "handler", None)).__module__.startswith("deltalake")


def _lake_in(system: Any, places: Iterable[str]) -> LakeFolder | None:
    """The first table whose log lies in one of these folders of a file system, or in one above it."""
    above = {step for place in places for step in (PurePosixPath(place), *PurePosixPath(place).parents)}
    for folder in sorted(above, key=str):
        inside = "" if str(folder) == "." else f"{folder}/".replace("//", "/")
        for name, kind in (("_delta_log", DELTA), (".hoodie", HUDI), ("metadata", ICEBERG)):
            if _is_folder(system, inside + name) and (
                kind != ICEBERG or any(map(is_iceberg_note, _names(system, inside + name)))
            ):
                return LakeFolder(kind, Path(str(folder)))
    return None


def _is_folder(system: Any, path: str) -> bool:
    from pyarrow.fs import FileType

    with suppress(OSError):  # a store may hide what its reader was not given
        return bool(system.get_file_info(path).type == FileType.Directory)
    return False


def _names(system: Any, folder: str) -> list[str]:
    from pyarrow.fs import FileSelector

    with suppress(OSError):
        return [found.base_name for found in system.get_file_info(FileSelector(folder))]
    return []
