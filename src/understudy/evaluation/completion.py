"""What a schema leaves out, read from the real records themselves: for a page that stays inside.

`fit` learns the same privately. Here nothing is protected, so bounds are those of the records, categories all
that occur, and bins hold about as many records each.
"""

from __future__ import annotations

import pyarrow as pa

from understudy.domain import Schema
from understudy.domain.arrow_values import plain
from understudy.errors import SchemaError


def completed(schema: Schema, real: pa.Table) -> Schema:
    """The schema with nothing left out, once these records have been looked at."""
    found = {}
    for name in schema.unlearned:
        try:
            found[name] = schema[name].completed(plain(real[name]))
        except SchemaError:  # its message may show a value, so it goes no further
            raise SchemaError(
                f"column {name!r}: its records do not say what its codes should be.",
                hint="describe it in a schema: values, or bounds and bins.",
            ) from None
    return schema.with_columns(found)
