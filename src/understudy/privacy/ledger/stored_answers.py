"""Released answers as bytes, to be stored in a ledger and read again: integers and JSON, never a pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import LedgerError
from understudy.privacy.ledger.hash_chain import canonical

Integers = npt.NDArray[np.int64]
_WIDTHS: dict[bytes, np.dtype[Any]] = {b"4": np.dtype("<i4"), b"8": np.dtype("<i8")}


def pack(arrays: Sequence[Integers]) -> bytes:
    """Released integers one after the other, four bytes each where that holds them all, else eight."""
    whole = np.concatenate([array.reshape(-1) for array in arrays])
    narrow = whole.size == 0 or (int(whole.min()) >= -(2**31) and int(whole.max()) < 2**31)
    width = b"4" if narrow else b"8"
    return width + whole.astype(_WIDTHS[width]).tobytes()


def unpack(answer: bytes, sizes: Sequence[int]) -> list[Integers]:
    """The arrays that were packed, given their sizes."""
    kind = _WIDTHS.get(answer[:1])
    if kind is None or len(answer) != 1 + sum(sizes) * kind.itemsize:
        raise LedgerError("a stored answer has not the size of its question.")
    whole = np.frombuffer(answer, dtype=kind, offset=1).astype(np.int64)
    return np.split(whole, np.cumsum(sizes)[:-1])


def pack_text(value: Any) -> bytes:
    """A released index, or released values, as JSON."""
    return canonical(value).encode()


def unpack_text(answer: bytes) -> Any:
    """What was packed as JSON."""
    return json.loads(answer)
