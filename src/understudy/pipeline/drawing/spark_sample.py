"""Records drawn by Spark: a sample of any size as a DataFrame, made on the workers part by part."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.engines.spark import quiet
from understudy.data.engines.spark_tasks import guarded
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.codec import Within
from understudy.errors import ParameterError
from understudy.pipeline.drawing.sample_folder import part_rows, part_seed
from understudy.pipeline.drawing.wanted_records import WantedRecords
from understudy.pipeline.release import Release
from understudy.pipeline.sources.spark import row_type, session, spark_types

BATCH = 1 << 16  # records that it hands to Spark at a time


@dataclass(frozen=True, eq=False)
class Draw:
    """Draws the parts of a sample that a partition names by number, each from a seed of its own.

    A part matches the release's marginals by itself, as closely as whole records can, and no part depends on
    another or on who draws it. So a task that is tried again draws the same records, and after m parts a
    count of the whole is off by the order of sqrt(m) records.
    """

    release: Release
    rows: int
    seed: int
    part: int
    within: Within
    only: WantedRecords | None = None

    @guarded("draw")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                rows = min(self.part, self.rows - number * self.part)
                place = Place(self.seed, number * self.part)
                table = as_rows(
                    self.release.draw(rows, part_seed(self.seed, number), self.within, place, self.only)
                )
                yield from table.combine_chunks().to_batches(max_chunksize=BATCH)


def sample_on_spark(
    release: Release,
    rows: int,
    *,
    spark: Any = None,
    seed: int | None = None,
    partitions: int | None = None,
    within: Within = "uniform",
    only: WantedRecords | None = None,
) -> Any:
    """A DataFrame of so many synthetic records, drawn on the workers whenever it is read, the same each time.

    The parts are those of `sample_to_folder`, unless more partitions are asked for than there are parts. The
    release travels to the workers in the closure (which Spark broadcasts when it is large).
    """
    for name, given, least in (("partitions", partitions, 1), ("seed", seed, 0)):
        if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < least):
            raise ParameterError(f"{name} {given!r} is not a whole number of at least {least}.")
    running = session() if spark is None else spark
    if not hasattr(running, "range"):
        raise ParameterError(f"spark is a {type(running).__name__}, not a SparkSession.")
    part = min(part_rows(release), max(1, -(-rows // (partitions or 1))))
    parts = max(1, -(-rows // part))
    types = as_rows(release.draw(0, np.random.default_rng(0), within)).schema
    light = replace(release, measurements=())  # what the workers have no use for
    draw = Draw(light, rows, secrets.randbits(63) if seed is None else seed, part, within, only)
    with quiet():
        numbers = running.range(0, parts, 1, min(parts, partitions or parts))
        return numbers.mapInArrow(draw, spark_types(types))


def as_rows(table: pa.Table) -> pa.Table:
    """The table with every column of a type that Spark has: the nearest one."""
    rows = pa.schema([pa.field(field.name, _nearest(field.type)) for field in table.schema])
    return table.cast(rows, safe=False)


_NEAREST = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),  # no schema holds a whole number that is larger
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}


def _nearest(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _nearest(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz and "UTC")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    return row_type(_NEAREST.get(kind, kind))
