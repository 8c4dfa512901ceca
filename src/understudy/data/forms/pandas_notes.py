"""What pandas notes in a file of Parquet or Arrow of types that Arrow has not: read, and written for it to read.

Of its notes only the names of columns and of their types are read; it also counts categories there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

KEY = b"pandas"
_NULLABLE = {
    **{getattr(pa, f"int{bits}")(): f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): f"UInt{bits}" for bits in (8, 16, 32, 64)},
    **{pa.float32(): "Float32", pa.float64(): "Float64", pa.bool_(): "boolean"},
}
_WORDS = {**dict.fromkeys(_NULLABLE.values(), "nullable"), "string": "string python"}


def words_of(types: pa.Schema) -> dict[str, str]:
    """The words for a file's columns (see `table_form.OWN`) that its notes tell; none where they cannot be read."""
    try:
        noted = json.loads((types.metadata or {})[KEY])["columns"]
        said = {column["field_name"]: str(column["numpy_type"]) for column in noted}
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return {name: _word(kind) for name, kind in said.items() if name in types.names}


def _word(kind: str) -> str:
    return "arrow" if kind.endswith("[pyarrow]") else _WORDS.get(kind, "")


def with_notes(table: pa.Table, words: Mapping[str, str]) -> pa.Table:
    """The table with notes of the columns that pandas would otherwise read in another type."""
    noted = []
    for field in table.schema:
        word, kind = words.get(field.name, ""), None
        if word == "nullable":
            kind = _NULLABLE.get(field.type)
        elif word.startswith("string "):
            kind = "string"
        elif word == "arrow":
            kind = f"{field.type}[pyarrow]"
        if kind is not None:
            column = {"name": field.name, "field_name": field.name, "pandas_type": str(field.type)}
            noted.append({**column, "numpy_type": kind, "metadata": None})
    if not noted:
        return table
    notes = {"index_columns": [], "column_indexes": [], "columns": noted, "pandas_version": "2.2.0"}
    return table.replace_schema_metadata({KEY: json.dumps(notes)})
