"""Categories: the place of a value in the schema's list, to and from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Category
from understudy.domain.cell_text import text_of
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Within

OTHER = "other"  # how the slot of unlisted texts is written; it reads back as unlisted
_ARROW = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
_EXACT = 2**53  # below this a float tells every whole number apart
_TABLE = 1 << 16  # whole numbers that lie this close together are looked up in a table


class CategoryCodec(Codec[Category]):
    """One code for each listed value, in the order of the list."""

    def __init__(self, column: Category) -> None:
        super().__init__(column)
        self.kind = column.kind
        self.arrow_type = _ARROW[self.kind]
        self.listed: tuple[Any, ...] = column.values or ()
        outside = column.outside_code
        self.unlisted = column.null_code if outside is None else outside
        self.codes = {value: code for code, value in enumerate(self.listed)}
        self.missing = frozenset(column.missing_texts)
        self.numeric = self.kind in ("integer", "number") and all(abs(float(v)) < _EXACT for v in self.listed)

    def encode(self, array: pa.Array) -> CodeArray:
        if self.numeric and (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
            return self._of_numbers(arrays.floats(array))
        code_of = self._of_text if self.kind == "text" else self._of_other
        return arrays.by_distinct(array, code_of, self.column.null_code, self.dtype)

    def _of_text(self, value: Any) -> int:
        text = text_of(value)
        if text in self.codes:
            return self.codes[text]
        if text in self.missing or text == "" or (text == "nan" and isinstance(value, float)):
            return self.column.null_code
        return self.unlisted

    def _of_other(self, value: Any) -> int:
        """The code of a value when the list holds numbers or booleans."""
        text = text_of(value)
        if text in self.missing or grammar.no_number(text):
            return self.column.null_code
        meant = self._meaning(text)
        if meant in self.codes:
            return self.codes[meant]
        return self.column.null_code if self._is_missing(meant) else self.unlisted

    def _meaning(self, text: str) -> Any:
        if self.kind == "boolean":
            return grammar.truth(text)
        number = grammar.number(text)
        if self.kind == "integer" and number is not None and abs(number) >= _EXACT:
            return grammar.digits(text)
        return number

    def _is_missing(self, meant: Any) -> bool:
        return meant is not None and any(self._meaning(text) == meant for text in self.missing)

    def _of_numbers(self, numbers: npt.NDArray[np.float64]) -> CodeArray:
        known = np.array(self.listed, dtype=np.float64)
        low, span = known.min(), known.max() - known.min()
        if self.kind == "integer" and span < _TABLE:
            codes = self._by_table(numbers, int(low), int(span))
        else:
            order = np.argsort(known)
            place = np.searchsorted(known[order], numbers).clip(max=len(known) - 1)
            codes = np.where(known[order][place] == numbers, order[place], self.unlisted).astype(self.dtype)
        for text in self.missing:
            meant = grammar.number(text)
            if meant is not None:
                codes[numbers == meant] = self.column.null_code
        unread = np.isnan(numbers)
        if unread.any():
            codes[unread] = self.column.null_code
        return codes

    def _by_table(self, numbers: npt.NDArray[np.float64], low: int, span: int) -> CodeArray:
        # One entry a whole number from low - 1 to high + 1; the ends stand for everything beyond.
        table = np.full(span + 3, self.unlisted, dtype=self.dtype)
        table[np.array(self.listed) - (low - 1)] = np.arange(len(self.listed))
        places = np.nan_to_num(np.clip(numbers, low - 1, low + span + 1), nan=low)
        whole = places.astype(np.int64)
        codes = table[whole - (low - 1)]
        fractions = whole != places
        if fractions.any():
            codes[fractions] = self.unlisted
        return codes

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        """The listed value of each code, null for the slots; unlisted texts are written as "other"."""
        slots: list[Any] = [None] * (self.column.size - self.column.count)
        if self.kind == "text" and self.column.other_code is not None:
            slots[0] = OTHER
        shown = pa.array([*self.listed, *slots], type=self.arrow_type)
        return shown.take(pa.array(self.in_range(codes)))

    def reading_type(self) -> pa.DataType:
        if self.numeric and all(grammar.number(text) is not None for text in self.missing):
            return pa.float64()
        return pa.string()
