"""The types of pandas' and Polars' columns, where Arrow's do not say all: as words, and columns made by them.

Words come from a column's type alone. What pandas and Polars put in a type by looking at cells, the list of a
category's values, is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.forms.declared_values import as_type
from understudy.domain.arrow_values import plain

_MADE_BY_POLARS = ("Categorical", "Enum", "Object", "Int128", "UInt128")


def pandas_word(dtype: Any) -> str:
    """The word for a pandas type."""
    import pandas

    if isinstance(dtype, np.dtype):
        return "numpy" if dtype.kind in "biufmM" else _object_word()
    if isinstance(dtype, pandas.CategoricalDtype):
        return "ordered category" if dtype.ordered else "category"
    if isinstance(dtype, pandas.StringDtype):
        return f"{'string' if dtype.na_value is pandas.NA else 'str'} {dtype.storage}"
    if isinstance(dtype, pandas.PeriodDtype):
        return f"period of {str(dtype).removeprefix('period[').removesuffix(']')}"
    if isinstance(dtype, pandas.ArrowDtype):
        return "arrow"
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return "numpy"
    if isinstance(dtype, pandas.SparseDtype):
        return pandas_word(dtype.subtype)
    return "nullable" if hasattr(dtype, "numpy_dtype") else _object_word()


def polars_word(dtype: Any) -> str:
    """The word for a Polars type that Arrow has not; empty for all others."""
    name = str(dtype.base_type())
    return name if name in _MADE_BY_POLARS else ""


def _object_word() -> str:
    """A pandas that has a type for texts keeps other things in columns of objects; an older one texts above all."""
    import pandas

    return "object" if str(pandas.Series(["a"]).dtype) == "str" else "text object"


def to_series(column: pa.ChunkedArray, own: str) -> Any:
    """A column as pandas has it by such a word, missing values as that type has them."""
    import pandas

    if own == "arrow":
        return pandas.Series(column.to_pandas(types_mapper=pandas.ArrowDtype))
    if own.startswith(("str ", "string ")):
        word, storage = own.split(" ")
        texts = as_type(plain(column), pa.large_string())
        dtype = pandas.StringDtype(storage, na_value=np.nan if word == "str" else pandas.NA)
        return pandas.Series(texts.to_pylist(), dtype=dtype)
    if own.endswith("object"):
        moments = own == "text object" and not _is_plain(column.type)
        cells = np.empty(len(column), dtype=object)
        cells[:] = (column.cast(pa.string()) if moments else column).to_pylist()
        return pandas.Series(cells, dtype=object)
    if own.startswith("period of "):
        return _periods(column, own.removeprefix("period of "))
    always = own == "nullable"
    mapper = nullable_types().get if always or column.null_count else None
    if not always and pa.types.is_floating(column.type):
        mapper = None
    return column.to_pandas(types_mapper=mapper, date_as_object=False)


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_temporal(kind))


def _periods(column: pa.ChunkedArray, frequency: str) -> Any:
    """Texts or moments as periods; what is none is missing."""
    import pandas

    try:
        dtype = pandas.PeriodDtype(frequency)
    except ValueError:  # one that this pandas has not
        return to_series(column, "")
    if pa.types.is_temporal(column.type):
        return pandas.Series(
            pandas.DatetimeIndex(column.to_pandas(date_as_object=False)).to_period(frequency)
        )
    made = {}
    for text in column.unique().to_pylist():
        try:
            made[text] = pandas.NaT if text is None else pandas.Period(str(text), freq=dtype.freq)
        except ValueError:
            made[text] = pandas.NaT
    return pandas.Series([made[text] for text in column.to_pylist()], dtype=dtype)


def nullable_types() -> dict[pa.DataType, Any]:
    """pandas' own types with missing values, by Arrow's."""
    import pandas

    whole = {
        getattr(pa, f"{sign.lower()}int{bits}")(): getattr(pandas, f"{sign}Int{bits}Dtype")()
        for sign in ("", "U")
        for bits in (8, 16, 32, 64)
    }
    others = {pa.bool_(): pandas.BooleanDtype(), pa.float32(): pandas.Float32Dtype()}
    return whole | others | {pa.float64(): pandas.Float64Dtype()}


def to_polars(column: pa.ChunkedArray, own: str) -> Any:
    """A column as Polars has it by such a word."""
    import polars

    if own == "Enum" and pa.types.is_dictionary(column.type):
        values = column.combine_chunks().dictionary.cast(pa.string()).to_pylist()
        return polars.Series(polars.from_arrow(column)).cast(polars.String).cast(polars.Enum(values))
    if own == "Object":
        return polars.Series(column.to_pylist(), dtype=polars.Object)
    if pa.types.is_decimal256(column.type):  # wider than any decimal of Polars'
        column = column.cast(pa.float64())
    if str(getattr(column.type, "tz", None))[0] in "+-":  # Polars has zones by name alone
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    made = polars.Series(polars.from_arrow(column))
    return (
        made.cast(getattr(polars, own), strict=False) if own in ("Int128", "UInt128", "Categorical") else made
    )
