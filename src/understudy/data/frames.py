"""Frames of other libraries to Arrow tables and back: the same kind comes back as went in.

Only the *kind* is kept. A frame's own column types are not: whether a pandas column of whole numbers is
stored as float tells whether a value is missing, and a categorical column lists its values.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from understudy.errors import ParameterError

PANDAS, POLARS, ARROW = "pandas", "polars", "arrow"
KINDS = (PANDAS, POLARS, ARROW)


def frame_kind(data: Any) -> str:
    """ "pandas", "polars" or "arrow": what `like` gives back for this object."""
    library = type(data).__module__.partition(".")[0]
    return library if library in (PANDAS, POLARS) else ARROW


def from_frame(data: Any) -> pa.Table:
    """An Arrow table with the columns of a pandas, Polars or Arrow object (a pandas index is dropped)."""
    kind = frame_kind(data)
    try:
        table = _from_pandas(data) if kind == PANDAS else _from_arrow(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        # What Arrow says of a value it cannot convert quotes the value.
        raise ParameterError(
            f"the table of type {type(data).__name__} cannot be read as columns of plain values.",
            hint="give a path, a pandas or Polars data frame, or an Arrow table.",
        ) from None
    _check(table)
    return plain_text(table.replace_schema_metadata(None))


def like(table: pa.Table, kind: str) -> Any:
    """An Arrow table as a frame of the given kind, missing values as that library has them."""
    if kind == ARROW:
        return table
    if kind == POLARS:
        import polars

        return polars.from_arrow(table)
    if kind == PANDAS:
        return _to_pandas(table)
    raise ParameterError(f"kind {kind!r} is not known.", hint=f"it is one of {', '.join(KINDS)}.")


def plain_text(table: pa.Table) -> pa.Table:
    """The same table with text in a layout that every reader and writer knows."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def is_flat(kind: pa.DataType) -> bool:
    """Whether a column of this type holds one plain value a cell."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_flat(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_flat(kind.value_type)
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
    if type(data).__name__ == "LazyFrame":
        data = data.collect()
    return pa.table(data)  # anything that speaks Arrow's C interface, or columns by name


def _from_pandas(data: Any) -> pa.Table:
    if type(data).__name__ == "Series":
        data = data.to_frame()
    names = [str(label) for label in data.columns]
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ParameterError(
            f"the table has two columns named {repeated!r}.", hint="give every column its own name."
        )
    return pa.table({name: _from_series(data.iloc[:, place]) for place, name in enumerate(names)})


def _from_series(series: Any) -> pa.Array:
    """A pandas column; one of mixed types, which Arrow refuses, as text."""
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        missing = series.isna()
        texts = [None if gone else str(value) for value, gone in zip(series, missing, strict=True)]
        return pa.array(texts, pa.string())


def _to_pandas(table: pa.Table) -> Any:
    """Whole numbers and booleans with missing values become pandas' nullable types, never float or object."""
    import pandas

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        mapper = _nullable_types().get if column.null_count else None
        columns[name] = pa.table({name: column}).to_pandas(types_mapper=mapper, date_as_object=False)[name]
    return pandas.DataFrame(columns, columns=table.column_names, index=range(table.num_rows))


def _nullable_types() -> dict[pa.DataType, Any]:
    import pandas

    return {
        pa.int8(): pandas.Int8Dtype(),
        pa.int16(): pandas.Int16Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.int64(): pandas.Int64Dtype(),
        pa.uint8(): pandas.UInt8Dtype(),
        pa.uint16(): pandas.UInt16Dtype(),
        pa.uint32(): pandas.UInt32Dtype(),
        pa.uint64(): pandas.UInt64Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }


def _check(table: pa.Table) -> None:
    seen = set()
    for field in table.schema:
        if field.name in seen:
            raise ParameterError(
                f"the table has two columns named {field.name!r}.", hint="give every column its own name."
            )
        seen.add(field.name)
        if not is_flat(field.type):
            raise ParameterError(
                f"column {field.name!r} holds lists, records or bytes, not one plain value a cell.",
                hint="flatten it, or leave it out.",
            )
