"""Which data is of which kind: a line for each engine, and one word of the caller's to switch."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from understudy.data.engines.postgres.address import is_postgres, parse
from understudy.pipeline.sources.postgres import PostgresRecords
from understudy.pipeline.sources.records import InMemory, Reading, Records
from understudy.pipeline.sources.spark import SparkRecords, is_on_spark
from understudy.pipeline.sources.streamed import StreamedRecords, is_streamed, table_name

# The first that recognises the data opens it.
KINDS: list[tuple[Callable[[Any], bool], Callable[[Any, Reading], Records]]] = [
    (is_postgres, PostgresRecords.open),
    (is_on_spark, SparkRecords.open),
    (is_streamed, StreamedRecords.open),
    (lambda data: True, InMemory.open),
]


def open_records(data: Any, reading: Reading) -> Records:
    """The records of a file, a frame, or whatever else `KINDS` lists."""
    return next(opener for recognises, opener in KINDS if recognises(data))(data, reading)


def name_of(data: Any) -> str | None:
    """What the ledger calls data that nobody named: a file by its name, a table of a database by its own."""
    if is_postgres(data):  # of the address nothing else, since it may hold a password
        return parse(data).name
    return table_name(os.fspath(data)) if isinstance(data, str | os.PathLike) else None


def occasion(data: Any, records: Records) -> str:
    """What makes two runs the same run: an unchanged file or source; a frame in memory is new every time."""
    if isinstance(records, StreamedRecords):
        return records.source.occasion or uuid.uuid4().hex
    if isinstance(data, str | os.PathLike):
        with suppress(OSError):
            return f"{Path(data).resolve()} {os.stat(data).st_mtime_ns}"
    return uuid.uuid4().hex
