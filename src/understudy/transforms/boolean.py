"""Booleans: false is 0, true is 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Boolean
from understudy.domain.cell_text import text_of
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Within


class BooleanCodec(Codec[Boolean]):
    """Truth in any of its spellings; a text that is neither goes where the column's `outside` says."""

    arrow_type = pa.bool_()

    def encode(self, array: pa.Array) -> CodeArray:
        return arrays.by_distinct(array, self._code, self.column.null_code, self.dtype)

    def _code(self, value: Any) -> int:
        text = text_of(value)
        if text in self.column.missing_texts or grammar.no_number(text):
            return self.column.null_code
        truth = grammar.truth(text)
        if truth is not None:
            return int(truth)
        outside = self.column.outside_code
        return self.column.null_code if outside is None else outside

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: wide == 1)

    def reading_type(self) -> pa.DataType:
        return pa.string()  # Arrow knows fewer spellings, and cells that are neither must not change the rest
