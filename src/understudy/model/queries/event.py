"""Events: for some columns, the codes that a record may have there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError

Event = Mapping[str, Any]


def allowed_codes(domain: Domain, event: Event) -> dict[str, npt.NDArray[np.intp]]:
    """For every column of `event`, its allowed codes, sorted and once each.

    A column is given one code, any collection of codes, or an array of booleans with one entry a code.
    """
    if not isinstance(event, Mapping):
        raise ParameterError(
            f"an event of type {type(event).__name__} is not a mapping.",
            hint='map columns to codes: {"sex": 0, "age": [31, 52]}.',
        )
    return {name: _codes(name, domain[name], value) for name, value in event.items()}


def _codes(name: str, size: int, value: Any) -> npt.NDArray[np.intp]:
    listed = value if isinstance(value, np.ndarray) or not isinstance(value, Iterable) else list(value)
    try:
        codes = np.asarray(listed)
    except ValueError:
        codes = np.asarray(None)
    if codes.dtype == np.bool_ and codes.shape == (size,):
        return np.flatnonzero(codes)
    if codes.size == 0 and codes.ndim == 1:
        return np.empty(0, np.intp)
    if codes.ndim > 1 or codes.dtype.kind not in "iu":
        raise DomainError(
            f"column {name!r}: an event is given as whole codes.",
            hint="give one code, a list of codes, or one boolean a code.",
        )
    codes = np.unique(codes.reshape(-1))
    if int(codes[0]) < 0 or int(codes[-1]) >= size:
        wrong = int(codes[0]) if int(codes[0]) < 0 else int(codes[-1])
        raise DomainError(f"column {name!r}: code {wrong} lies outside 0..{size - 1}.")
    return codes.astype(np.intp)
