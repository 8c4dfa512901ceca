"""Which data is of which kind: a line for each engine, and one word of the caller's to switch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from understudy.pipeline.on_spark import SparkRecords, is_on_spark
from understudy.pipeline.records import InMemory, Reading, Records
from understudy.pipeline.streamed import StreamedRecords, is_streamed

# The first that recognises the data opens it.
KINDS: list[tuple[Callable[[Any], bool], Callable[[Any, Reading], Records]]] = [
    (is_on_spark, SparkRecords.open),
    (is_streamed, StreamedRecords.open),
    (lambda data: True, InMemory.open),
]


def open_records(data: Any, reading: Reading) -> Records:
    """The records of a file, a frame, or whatever else `KINDS` lists."""
    return next(opener for recognises, opener in KINDS if recognises(data))(data, reading)
