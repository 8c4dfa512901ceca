"""Types of a file that says none: text that holds numbers, but for the usual marks of a missing value, is numbers.

Only for a table without a schema, whose column names and types are taken as public.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

MARKS = ("N", "NA", "N/A", "NaN", "NULL", "None", "-", "--", "?", ".", "#N/A", "Unknown", "Missing", "")
_SPELLINGS = pa.array(sorted({text for mark in MARKS for text in (mark, mark.lower(), mark.upper())}))


def with_numbers(table: pa.Table) -> pa.Table:
    """The table, each column of text that is all numbers and marks as numbers with missing values."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            numbers = _numbers(column)
            if numbers is not None:
                table = table.set_column(place, name, numbers)
    return table


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The column as whole numbers, else as numbers, else None; also None where no cell holds anything."""
    marks = pc.is_in(column, value_set=_SPELLINGS.cast(column.type))
    bare = pc.if_else(marks, pa.scalar(None, column.type), column)
    if bare.null_count == len(bare):
        return None
    for kind in (pa.int64(), pa.float64()):
        try:
            return bare.cast(kind)
        except pa.ArrowInvalid:  # its message shows a cell, so it goes no further
            continue
    return None
