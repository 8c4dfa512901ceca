"""What Spark has no type for reaches it as text."""

from __future__ import annotations

from datetime import time

import pyarrow as pa

from understudy.pipeline.drawing.spark_sample import as_rows


def test_times_of_day_are_text_among_rows_of_spark() -> None:
    table = as_rows(pa.table({"t": pa.array([time(8, 30), None], pa.time32("s")), "n": [1, 2]}))
    assert table.to_pydict() == {"t": ["08:30:00", None], "n": [1, 2]}
    assert table.schema.types == [pa.string(), pa.int64()]
