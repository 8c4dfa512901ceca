"""Tables: reading, writing, counting."""

from understudy.data.histogram import Histogram, count_batch
from understudy.data.progress import progress
from understudy.data.table import Table
from understudy.data.units import bound, count_values

__all__ = ["Histogram", "Table", "bound", "count_batch", "count_values", "progress"]
