"""A first schema of a table, for a person to review: from its header, its types and, if allowed, its values.

`draft` looks at the records, so what it writes is not private until a person has read it. It still copies
no value of a column with many: those are left to be learned privately. `schema_of_types` looks at names
and types only.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pyarrow as pa

from understudy.data.files.file_set import find_files, is_table_name
from understudy.data.files.json_lines import nested_names
from understudy.data.files.raw_file import JSON_LINES, open_raw
from understudy.domain import Schema, Untyped
from understudy.domain.columns.parts.sight import Sight
from understudy.domain.columns.registry import drafted, of_arrow
from understudy.domain.dialect import Dialect
from understudy.errors import FileError
from understudy.pipeline.holding.proposals import proposals
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import first_records, name_of, open_records, seen_dialect

MOST_READ = 1_000_000  # records that a draft looks at

DRAFTED = "NOT PRIVATE until a person has reviewed it"
OPENING = f"""\
This draft was made by looking at the data: it is {DRAFTED}.
Check every line: values, bounds and texts that are not public knowledge must go. What is
left out (min, max, values with discover = true) is learned privately, out of the budget."""

GUESSED = """
The file is not UTF-8, and was read as {}: if letters look wrong here, name its encoding (cp1250, cp1251, ...)."""
NESTED = """
Left out, as they hold lists or objects and not one plain value: {}."""


def draft_schema(
    data: Any, *, name: str | None = None, delimiter: str | None = None, records: bool = True
) -> Schema:
    """A first schema of a table, for a person to review.

    It looks at the records: NOT PRIVATE until a person has read every line. Values of a column with many are never
    copied; what is left out is learned privately later, out of the budget.

    Parameters:
        data: a path, an address, a frame (pandas, Polars), or anything that speaks Arrow. The first million records
            are looked at; of a column with tens of thousands of values, some of these.
        name: the table's name, which is the ledger's key; by default the file's, without its ending.
        delimiter: what separates the fields of a CSV file; found from its first lines by default.
        records: whether the records may be looked at; yes by default. Without, the schema has the columns' names
            and the types that the source declares, and nothing else: it is public as it stands.

    Returns:
        A schema whose comments say what to check; `schema.save("people.toml")` writes it to be edited.

    Raises:
        FileError: the file cannot be read.
        ParameterError: the object is no table of plain values.

    Example:
        >>> import understudy as us
        >>> drafted = us.draft_schema({"sex": ["F", "M"] * 50, "age": list(range(18, 68)) * 2}, name="people")
        >>> drafted["sex"].values
        ('F', 'M')
        >>> drafted.unlearned  # too many ages to copy: their bounds are learned privately
        {'age': ('min', 'max')}
    """
    called = name or name_of(data) or "table"  # before anything is read: a query has no name
    if not records:
        opened = open_records(data, Reading(None, delimiter))
        return schema_of_types(opened.types, name=called, untyped=opened.untyped)
    dialect = seen_dialect(data, Dialect(delimiter))
    drafted = draft(first_records(data, MOST_READ, dialect=dialect), name=called)
    remark = GUESSED.format(dialect.encoding) if dialect.encoding in ("latin-1", "cp1252") else ""
    nested = _nested(data)
    remark += NESTED.format(", ".join(nested)) if nested else ""
    return replace(drafted, comment=drafted.comment + remark).in_dialect(dialect)


def _nested(data: Any) -> list[str]:
    """The columns of JSON lines that hold lists or objects, which have no plain value."""
    if not isinstance(data, str | os.PathLike) or not is_table_name(os.fspath(data), JSON_LINES):
        return []
    try:
        found = open_raw(find_files(os.fspath(data).removeprefix("jsonl:"))[0])
    except FileError:  # another package's address, which ends like a file
        return []
    return nested_names(found) if found.kind == JSON_LINES else []


def draft(table: pa.Table, *, name: str) -> Schema:
    """A schema of the table as its records suggest it; every remark is a comment in its file."""
    columns = {column: drafted(Sight.of(column, table.column(column))) for column in table.column_names}
    return Schema(columns, name=name, comment=OPENING + proposals(table, columns))


def schema_of_types(types: pa.Schema, *, name: str, untyped: Collection[str] = ()) -> Schema:
    """A schema of column names and declared types alone, which are public; all else is left to be learned.

    `untyped` are the columns that have no type of their own.
    """
    columns = {field.name: Untyped() if field.name in untyped else of_arrow(field.type) for field in types}
    return Schema(columns, name=name)
