"""Frames of other libraries to Arrow tables and back: the same kind and the same types come back as went in.

A frame's types are public (docs/schema.md); the list of values that a type of categories carries is not, and is
never read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from understudy.data.files.frame_columns import (
    comes_as_text,
    is_foreign,
    is_untyped,
    of_any,
    of_polars,
    of_series,
)
from understudy.data.forms.frame_types import pandas_word, polars_word, to_polars, to_series
from understudy.data.forms.pandas_notes import words_of
from understudy.data.forms.table_form import CATEGORIES, ColumnForm, TableForm
from understudy.errors import FileError, ParameterError, UnderstudyError

PANDAS, POLARS, ARROW = "pandas", "polars", "arrow"
KINDS = (PANDAS, POLARS, ARROW)


def frame_kind(data: Any) -> str:
    """ "pandas", "polars" or "arrow": what `like` gives back for this object."""
    library = type(data).__module__.partition(".")[0]
    return library if library in (PANDAS, POLARS) else ARROW


def from_frame(data: Any) -> pa.Table:
    """An Arrow table with the columns of a pandas, Polars or Arrow object (a pandas index is dropped)."""
    return with_form(data)[0]


def with_form(data: Any) -> tuple[pa.Table, TableForm]:
    """The same, and the form of the object: from its own types alone, not from a cell."""
    kind = frame_kind(data)
    try:
        table = _READERS[kind](data)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ParameterError):
            raise
        # What Arrow says of a value it cannot convert quotes the value.
        raise ParameterError(
            f"the table of type {type(data).__name__} cannot be read as columns of plain values.",
            hint="give a path, a pandas or Polars data frame, or an Arrow table.",
        ) from None
    check_schema(table.schema, "the table", ParameterError)
    return plain_text(table.replace_schema_metadata(None)), _form_of(data, table.schema)


def untyped(data: Any) -> frozenset[str]:
    """The columns of a frame that have no type of their own: they come as text, cell by cell.

    From the frame's types alone, which are public: nothing here looks at a cell.
    """
    kind = frame_kind(data)
    if kind == PANDAS:
        return frozenset(name for name, column in _pandas_columns(data) if is_untyped(column.dtype))
    if kind == POLARS:
        return frozenset(column.name for column in _polars_columns(data) if is_foreign(column.dtype))
    if isinstance(data, Mapping):
        return frozenset(str(name) for name, column in data.items() if comes_as_text(column))
    return frozenset()


def _form_of(data: Any, types: pa.Schema) -> TableForm:
    """The form of a frame that is read as columns of these types."""
    kind, bare = frame_kind(data), untyped(data)
    words = words_of(types)
    if kind == PANDAS:
        words = {name: pandas_word(column.dtype) for name, column in _pandas_columns(data)}
    if kind == POLARS:
        words = {column.name: polars_word(column.dtype) for column in _polars_columns(data)}
    forms = {}
    for field in types:
        word = words.get(field.name, "")
        # Categories, and what comes as text for want of a type, have the type of whatever the schema makes of them.
        typeless = word in CATEGORIES or (field.name in bare and not word.startswith("str"))
        forms[field.name] = ColumnForm(None, word) if typeless else ColumnForm.of(field.type, word)
    return TableForm(kind, forms, numbered=kind == PANDAS and _numbered(data))


def like(table: pa.Table, kind: str, form: TableForm | None = None) -> Any:
    """An Arrow table as a frame of the given kind, in that library's own types where the form is of one."""
    if kind not in KINDS:
        raise ParameterError(f"kind {kind!r} is not known.", hint=f"it is one of {', '.join(KINDS)}.")
    if kind == ARROW:
        return table
    known = {} if form is None or form.kind not in (kind, ARROW) else form.words
    words = {name: known.get(name, "") for name in table.column_names}
    if kind == POLARS:
        import polars

        return polars.DataFrame({name: to_polars(table.column(name), word) for name, word in words.items()})
    import pandas

    columns = {name: to_series(table.column(name), word) for name, word in words.items()}
    made = pandas.DataFrame(columns, columns=table.column_names, index=range(table.num_rows))
    if form is not None and form.numbered:
        made.columns = [int(name) if name in form.columns else name for name in table.column_names]
    return made


def plain_text(table: pa.Table) -> pa.Table:
    """The same table with text in a layout that every reader and writer knows."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def is_plain(kind: pa.DataType) -> bool:
    """Whether a column of this type holds one plain value a cell."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_plain(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_plain(kind.value_type)
    return not (pa.types.is_nested(kind) or _is_binary(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _from_arrow(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, Mapping):
        return pa.table({str(name): of_any(column) for name, column in data.items()})
    return pa.table(data)  # anything that speaks Arrow's C interface


def _from_polars(data: Any) -> pa.Table:
    return pa.table({column.name: of_polars(column) for column in _polars_columns(data)})


def _polars_columns(data: Any) -> list[Any]:
    """The columns of a Polars frame, lazy frame or series."""
    kind = type(data).__name__
    data = data.collect() if kind == "LazyFrame" else data.to_frame() if kind == "Series" else data
    return list(data.get_columns())


def _from_pandas(data: Any) -> pa.Table:
    return pa.table({name: of_series(column) for name, column in _pandas_columns(data)})


def _numbered(data: Any) -> bool:
    """Whether the names of all columns of a pandas frame are whole numbers from zero on."""
    labels = getattr(data, "columns", ())
    return len(labels) > 0 and all(type(label) is int and 0 <= label < 10**18 for label in labels)


def _pandas_columns(data: Any) -> list[tuple[str, Any]]:
    """The columns of a pandas frame or series, by name."""
    data = data.to_frame() if type(data).__name__ == "Series" else data
    names = [str(label) for label in data.columns]
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ParameterError(
            f"the table has two columns named {repeated!r}.", hint="give every column its own name."
        )
    return [(name, data.iloc[:, place]) for place, name in enumerate(names)]


_READERS = {PANDAS: _from_pandas, POLARS: _from_polars, ARROW: _from_arrow}


def without_nested(schema: pa.Schema, needed: Collection[str] | None) -> pa.Schema:
    """The columns of one plain value a cell, and those that are `needed`; all of them where that is None.

    Raises UnicodeDecodeError where the name of a column is no text: a damaged file's may be any bytes.
    """
    named = zip(schema.names, schema, strict=True)
    if needed is None:
        return schema
    kept = [field for name, field in named if name in needed or is_plain(field.type)]
    return pa.schema(kept, metadata=schema.metadata)  # which tells pandas its types


def check_schema(schema: pa.Schema, what: str, fault: type[UnderstudyError] = FileError) -> None:
    """Refuse columns that share a name or that hold more than one value a cell."""
    for field in schema:
        if schema.names.count(field.name) > 1:
            raise fault(
                f"{what} has two columns named {field.name!r}.", hint="give every column its own name."
            )
        if not is_plain(field.type):
            raise fault(
                f"{what}: column {field.name!r} holds lists, records or bytes, not one plain value a cell.",
                hint="flatten it, or leave it out.",
            )
