"""Moments as numbers: seconds, or fractions of them, since 1970."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.formats.cell_format import CellFormat

# A format -> how many of its units make a second.
EPOCHS = {
    "epoch seconds": 1,
    "epoch milliseconds": 10**3,
    "epoch microseconds": 10**6,
    "epoch nanoseconds": 10**9,
}


class EpochFormat(CellFormat):
    """Whole numbers of a unit of time since the start of 1970, in UTC."""

    arrow_type = pa.int64()
    dated = timed = True
    years = (0, 9999)
    resolution = "second"

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.units = EPOCHS[spec]

    def reads_type(self, kind: pa.DataType) -> bool:
        return bool(pa.types.is_temporal(kind) or pa.types.is_integer(kind))

    def values(self, array: pa.Array) -> pa.Array:
        return self.read(array) if pa.types.is_integer(array.type) else super().values(array)

    def read(self, texts: pa.Array) -> pa.Array:
        numbers, unread = arrays.integers(texts)
        if self.units > 10**6:
            micros = numbers // (self.units // 10**6)
        else:
            factor = 10**6 // self.units
            micros = np.clip(numbers, -grammar.FURTHEST // factor + 1, grammar.FURTHEST // factor) * factor
        return pa.array(micros, pa.int64(), mask=unread).view(pa.timestamp("us"))

    def write(self, values: pa.Array) -> pa.Array:
        micros, missing = arrays.moments(values)
        if self.units > 10**6:
            factor = self.units // 10**6
            furthest = grammar.FURTHEST // factor
            numbers = np.clip(micros, -furthest, furthest) * factor
        else:
            numbers = micros // (10**6 // self.units)
        return pa.array(numbers, pa.int64(), mask=missing)
