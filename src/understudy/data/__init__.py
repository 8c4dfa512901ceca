"""Tables: `files` reads and writes them, `counting` counts coded records, `engines` do so wherever records lie."""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.data.counting.histogram import Histogram
    from understudy.data.counting.open_values import count_values
    from understudy.data.counting.units import bound
    from understudy.data.engines.stream import Streamed
    from understudy.data.engines.table import Table
    from understudy.data.files.atomic import check_writable
    from understudy.data.files.frames import frame_kind, like
    from understudy.data.files.reading import header, read
    from understudy.data.files.writing import Writer, write
    from understudy.data.progress_bar import progress

__all__ = [
    "Histogram",
    "Streamed",
    "Table",
    "Writer",
    "bound",
    "check_writable",
    "count_values",
    "frame_kind",
    "header",
    "like",
    "progress",
    "read",
    "write",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
