"""Frames that are nothing yet but a plan to read files: those of lazy Polars, relations of DuckDB, and Spark's.

What a plan reads as plain files may be the files of a Delta, an Iceberg or a Hudi table (see `files.lake_folder`):
it is refused like their paths. Where a plan goes by the log itself, or does not say what it reads, it is taken.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from understudy.data.engines.duckdb import named_files
from understudy.data.files.lake_folder import lake_above, lake_below
from understudy.data.files.partition_columns import literal_parent

_LISTED = re.compile(
    r"Location: (?:InMemoryFileIndex|CatalogFileIndex)\b[^\[]*\[([^\]]*)"
)  # no log was asked


def check_plan(data: Any) -> None:
    """Refuse a frame that is still to be read from files of which only a log says whether they are alive."""
    if type(data).__module__.startswith("polars.") and type(data).__name__ == "LazyFrame":
        _check_named("the lazy frame", _scanned_by_polars(data))
    if type(data).__name__ == "DuckDBPyRelation":
        _check_named("the relation", (named for _, named in named_files(data.sql_query())))


def check_spark_plan(frame: Any) -> None:
    """The same for a DataFrame of Spark's, by the files that it lists and how it came to list them."""
    lake = lake_above({path.parent for path in spark_files(frame)})
    if lake is None:
        return
    said = io.StringIO()
    with redirect_stdout(said):
        frame.explain()
    for listed in _LISTED.findall(said.getvalue()):
        if "..." in listed or str(lake.path) in unquote(listed):  # Spark shortens what is long
            raise lake.refusal_of("the DataFrame")


def spark_files(frame: Any) -> list[Path]:
    """The files on this machine, or on a file system that every worker sees, that a DataFrame reads."""
    try:
        found = [local_file(address) for address in frame.inputFiles()]
    except Exception:  # what Spark cannot say is not known here
        return []
    return [path for path in found if path is not None]


def local_file(address: str) -> Path | None:
    """The path of a file at one of Spark's addresses; None of one that lies elsewhere."""
    parts = urlsplit(address)
    return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc == "" else None


def _check_named(what: str, names: Iterable[str]) -> None:
    """Refuse files, folders and patterns with a log above them or below."""
    for given in names:
        name = given.removeprefix("file://")
        place = Path(name) if Path(name).is_dir() else literal_parent(name)
        folder = place if place.is_dir() else place.parent
        if lake := lake_above([folder]) or (lake_below(folder) if folder != Path(name).parent else None):
            raise lake.refusal_of(what)


def _scanned_by_polars(lazy: Any) -> Iterator[str]:
    """The paths that a lazy frame's plan names, as they were given."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is to go, and nothing else says what is read
            plan = json.loads(lazy.serialize(format="json"))
    except Exception:  # no way to say it in this version, or a function in it that cannot be written down
        return
    waiting = [plan]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict):
            sources = step.get("sources")
            paths = sources.get("Paths", ()) if isinstance(sources, dict) else ()
            for path in paths:
                yield str(path["inner"] if isinstance(path, dict) else path)
            waiting.extend(step.values())
        elif isinstance(step, list):
            waiting.extend(part for part in step if isinstance(part, dict | list))
