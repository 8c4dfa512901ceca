"""Tables: reading, writing, counting."""

from understudy.data.arrow import header, read
from understudy.data.atomic import check_writable
from understudy.data.frames import frame_kind, like
from understudy.data.histogram import Histogram, count_batch
from understudy.data.open_values import count_values
from understudy.data.progress import progress
from understudy.data.stream import Streamed
from understudy.data.table import Table
from understudy.data.units import bound
from understudy.data.write import Writer, write

__all__ = [
    "Histogram",
    "Streamed",
    "Table",
    "Writer",
    "bound",
    "check_writable",
    "count_batch",
    "count_values",
    "frame_kind",
    "header",
    "like",
    "progress",
    "read",
    "write",
]
