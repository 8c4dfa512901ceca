"""Codes: small unsigned integers that stand for values, one array a column, as every room keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError

Codes = npt.NDArray[np.unsignedinteger[Any]]
CodedColumns = Mapping[str, npt.NDArray[Any]]  # a table of codes: one array of whole numbers a column


def code_type(size: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds codes 0 .. size - 1."""
    return np.min_scalar_type(max(size - 1, 0))


def check_codes(name: str, codes: npt.ArrayLike, size: int) -> Codes:
    """`codes` as the smallest unsigned type of its column, once all lie in 0 .. size - 1."""
    array = np.asarray(codes)
    if array.ndim != 1:
        raise ParameterError(f"column {name!r}: codes have {array.ndim} axes, not one.")
    if not len(array):
        return np.empty(0, code_type(size))
    if array.dtype.kind not in "ui":
        raise ParameterError(
            f"column {name!r}: codes of type {array.dtype} are not whole numbers.",
            hint="encode the values first; a missing value has a code of its own.",
        )
    if int(array.max()) >= size or (array.dtype.kind == "i" and int(array.min()) < 0):
        raise ParameterError(
            f"column {name!r}: a code lies outside 0..{size - 1}.",
            hint="give the domain that the codes were made with.",
        )
    return array.astype(code_type(size), copy=False)
