"""Booleans: false is 0, true is 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.cell_text import text_of
from understudy.domain.codes import Codes
from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.codec import Codec, Within
from understudy.domain.columns.parts.sight import Sight


@dataclass(frozen=True)
class Boolean(Column):
    """True or false: code 0 is false, code 1 is true."""

    type = "boolean"
    bounded = False

    @property
    def rule(self) -> Literal["clip", "other", "missing"]:
        """As of any column; but where missing values are ruled out, no slot is made for what is neither."""
        return "clip" if self.outside is None and self.missing is False else super().rule

    @property
    def count(self) -> int:
        return 2

    def codec(self) -> BooleanCodec:
        return BooleanCodec(self)

    def value_labels(self) -> list[str]:
        return ["false", "true"]

    @property
    def compared_as(self) -> str:
        return "boolean"

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return np.array([0, 1]), np.array([0, 1])

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Boolean | None:
        return cls() if pa.types.is_boolean(kind) else None

    @classmethod
    def drafted(cls, sight: Sight) -> Boolean | None:
        said = {text.lower() for text in sight.texts} == {"true", "false"}
        return cls(missing=sight.missing()) if said or pa.types.is_boolean(sight.kind) else None


class BooleanCodec(Codec[Boolean]):
    """Truth in any of its spellings; a text that is neither goes where the column's `outside` says."""

    arrow_type = pa.bool_()

    def encode(self, array: pa.Array) -> Codes:
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
