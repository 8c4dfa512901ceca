"""One column of a frame as Arrow, by the type of the column alone: a cell never changes how another is read.

A column without a type that Arrow has (Python objects, categories, periods, ranges) comes as text, cell by
cell. Whether its cells *could* be numbers is not asked here: that would be decided by all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.domain.cell_text import cell_text


def of_cells(cells: Iterable[Any]) -> pa.Array | pa.ChunkedArray:
    """Python objects as text, each on its own."""
    return pa.array(list(map(cell_text, cells)), pa.large_string())


def of_series(series: Any) -> pa.Array | pa.ChunkedArray:
    """A pandas column."""
    import pandas

    dtype = series.dtype
    if isinstance(dtype, pandas.SparseDtype):
        return of_series(pandas.Series(np.asarray(series.array)))
    if isinstance(dtype, pandas.CategoricalDtype):
        return _of_categories(series)
    if isinstance(dtype, pandas.StringDtype) and dtype.storage == "pyarrow":
        return pa.array(series, pa.large_string(), from_pandas=True)  # text of Arrow's already
    if is_untyped(dtype):
        return of_cells(series)
    if isinstance(dtype, pandas.PeriodDtype):
        return _of_periods(series.array.asi8, str(dtype.freq.freqstr))
    return of_numpy(series.to_numpy()) if isinstance(dtype, np.dtype) else pa.array(series, from_pandas=True)


def is_untyped(dtype: Any) -> bool:
    """Whether a column of this pandas or NumPy type comes as text: its type says nothing of its cells.

    pandas itself chooses between objects and text, and the type of categories, by looking at the cells, so
    neither is taken for a type.
    """
    if isinstance(dtype, np.dtype):
        return dtype.kind not in "biufmM"
    import pandas

    if isinstance(dtype, pandas.SparseDtype):
        return is_untyped(dtype.subtype)
    if isinstance(dtype, pandas.PeriodDtype):
        return dtype.freq.freqstr not in _PERIODS
    return not isinstance(dtype, (pandas.ArrowDtype, pandas.DatetimeTZDtype, *_nullable()))


def of_numpy(array: Any) -> pa.Array | pa.ChunkedArray:
    """A NumPy array."""
    if array.ndim != 1:
        raise ValueError("not one value a cell")
    if is_untyped(array.dtype):
        return of_cells(array.tolist() if array.dtype.kind in "US" else array)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:  # wider than any number of Arrow's
        array = array.astype(np.float64)
    return pa.array(array, from_pandas=True)


def of_polars(series: Any) -> pa.Array | pa.ChunkedArray:
    """A Polars column."""
    import polars

    if series.dtype == polars.Object:
        return of_cells(series.to_list())
    if series.dtype == polars.Enum:
        return _by_place(series.to_physical().to_arrow(), of_cells(series.dtype.categories), ordered=True)
    if is_foreign(series.dtype) or series.dtype == polars.Categorical:
        series = series.cast(polars.String)
    return series.to_arrow()


def is_foreign(dtype: Any) -> bool:
    """Whether a Polars column of this type comes as text because Arrow has no such type."""
    import polars

    kinds = (
        getattr(polars, name, None) for name in ("Object", "Int128", "UInt128")
    )  # Polars 1.0 has no wide ones
    return any(kind is not None and dtype == kind for kind in kinds)


def of_any(column: Any) -> pa.Array | pa.ChunkedArray:
    """A column of a table that is given as columns by name: of any of these kinds, or a list of Python objects."""
    if isinstance(column, list | tuple):
        return of_cells(column)
    if isinstance(column, np.ndarray):
        return of_numpy(column)
    if _is_series(column, "pandas"):
        return of_series(column)
    if _is_series(column, "polars"):
        return of_polars(column)
    return column if isinstance(column, pa.Array) else pa.chunked_array(column)


def comes_as_text(column: Any) -> bool:
    """Whether `of_any` makes such a column text because it has no type of its own."""
    if isinstance(column, list | tuple):
        return True
    if isinstance(column, np.ndarray) or _is_series(column, "pandas"):
        return is_untyped(column.dtype)
    return _is_series(column, "polars") and is_foreign(column.dtype)


def _is_series(column: Any, library: str) -> bool:
    kind = type(column)
    return kind.__name__ == "Series" and kind.__module__.partition(".")[0] == library


def _of_periods(places: Any, frequency: str) -> pa.Array:
    """Periods by the second in which each begins, from the first to the last year of a calendar."""
    unit, length = _PERIODS[frequency]
    ends = np.array(["0001-01-01", "9999-12-31"], f"datetime64[{unit}]").astype(np.int64)
    moments = np.clip(places, *(ends // length)) * length
    seconds = moments.astype(f"datetime64[{unit}]").astype("datetime64[s]")
    return pa.array(seconds, mask=places == np.iinfo(np.int64).min)


# A frequency -> the unit in which NumPy counts it, and how many of that unit make a period.
_PERIODS = {
    **{name: ("Y", 1) for name in ("YE-DEC", "Y-DEC")},
    **{name: ("M", 3) for name in ("QE-DEC", "Q-DEC")},
    **{name: ("M", 1) for name in ("ME", "M")},
    **{name: (unit, 1) for name, unit in (("D", "D"), ("h", "h"), ("min", "m"), ("s", "s"))},
}


def _of_categories(series: Any) -> pa.Array | pa.ChunkedArray:
    """Categories as text, whatever type pandas found for their list."""
    codes = series.cat.codes.to_numpy().astype(np.int32)
    places = pa.array(codes, mask=codes < 0)
    return _by_place(places, of_cells(series.cat.categories), ordered=series.cat.ordered)


def _by_place(places: pa.Array, texts: pa.Array, *, ordered: bool) -> pa.Array:
    return pa.DictionaryArray.from_arrays(places.cast(pa.int32()), texts, ordered=ordered)


def _nullable() -> tuple[type, ...]:
    import pandas

    whole = [f"{sign}Int{bits}Dtype" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    return tuple(getattr(pandas, name) for name in [*whole, "Float32Dtype", "Float64Dtype", "BooleanDtype"])
