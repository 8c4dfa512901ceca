"""Codes that are merged as records are read: what an engine makes of a recoding."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.domain.codes import Codes, code_type
from understudy.errors import ParameterError
from understudy.marginals.counter import Recoding


def recoded(
    domain: Domain, before: Mapping[str, Codes], maps: Mapping[str, Recoding]
) -> tuple[Domain, dict[str, Codes]]:
    """The domain after these maps, and for each column the map from its original codes to the newest ones.

    `before` holds the recodings that led to `domain`, by column. The new size of a column is the largest new code
    plus one.
    """
    after, sizes = dict(before), {}
    for name, given in maps.items():
        recoding = check_recoding(name, given, domain[name])
        sizes[name] = int(recoding.max()) + 1
        narrow = recoding.astype(code_type(sizes[name]))
        after[name] = narrow[before[name]] if name in before else narrow
    return domain.resize(sizes), after


def check_recoding(name: str, recoding: npt.ArrayLike, size: int) -> npt.NDArray[np.integer]:
    """A recoding as an array, once it gives every old code a new one of at least 0."""
    array = np.asarray(recoding)
    if array.ndim != 1 or len(array) != size or array.dtype.kind not in "ui":
        raise ParameterError(
            f"column {name!r}: a recoding must be {size} whole numbers, one a code; "
            f"this one has shape {array.shape} and type {array.dtype}."
        )
    if int(array.min()) < 0:
        raise ParameterError(f"column {name!r}: a recoding gives a code below 0.")
    return array
