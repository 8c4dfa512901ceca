"""Categories: one of a closed list of values, whose code is its place in the list."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.cell_text import text_of
from understudy.domain.cell_votes import kind_of
from understudy.domain.codes import Codes
from understudy.domain.columns.column import MOST_CODES, Column, Outside
from understudy.domain.columns.parts.codec import Codec, Within
from understudy.domain.columns.parts.fields import distinct, flag, listed, refuse, text
from understudy.domain.columns.parts.sight import (
    LEFT_VALUES,
    MOSTLY_RARE,
    NO_CELL,
    REVIEW_VALUES,
    TWO_NUMBERS,
    VARIANTS,
    WHOSE,
    Sight,
)
from understudy.errors import SizeError

Value = str | int | float | bool
Kind = Literal["text", "integer", "number", "boolean"]

OTHER = "other"  # how the slot of unlisted texts is written; it reads back as unlisted
_ARROW = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
_EXACT = 2**53  # below this a float tells every whole number apart
_TABLE = 1 << 16  # whole numbers that lie this close together are looked up in a table
MOST_VALUES = 100_000  # that are read from records; rarer ones are taken together
NO_VALUE = "(none)"  # the one value of a category in which every cell is empty

_KINDS: dict[type, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Category(Column):
    """One of a closed list of values, or of one that is learned privately. More parameters: those of a `Column`.

    Parameters:
        values: the closed list: texts, whole numbers, numbers or truths, all of one type. It must be public.
        discover: whether the frequent values are learned privately instead; no by default.
        ordered: whether the list is in an order that means something; no by default.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "category"
    bounded = False
    learns = ("values",)
    unread = (
        "Its values may be written otherwise than in the list: in another case, with blanks, by other words."
    )

    values: tuple[Value, ...] | None = None
    discover: bool = False
    ordered: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        flag("discover", self.discover)
        if self.values is None:
            return
        if self.discover:
            refuse("discover", True, "contradicts a list of values.", "drop one of the two.")
        values = listed("values", self.values)
        if not values:
            refuse("values", [], "is an empty list.", "list the values, or write discover = true.")
        if len(values) > MOST_CODES:
            raise SizeError(
                f"values: {len(values)} categories; a column may have {MOST_CODES} at most.",
                hint="merge some, or write discover = true to learn the frequent ones privately.",
            )
        for value in values:
            _check_value(value, type(values[0]))
        distinct("values", values)
        for word in self.missing_texts:
            if word in values or grammar.number(word) in values:
                refuse("missing", word, "is one of the values as well.", "keep it in one of the two lists.")
        self._set("values", values)

    def __eq__(self, other: object) -> bool:
        """Equal when every field is, and 1 is neither true nor 1.0."""
        if not isinstance(other, Category):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        kind = self.kind if self.values is not None else None
        rest = (self.discover, self.ordered, self.missing, self.outside, self.description, self.comment)
        return kind, self.values, *rest

    @property
    def kind(self) -> Kind:
        """Which type the values have."""
        return _KINDS[type(self.values[0])] if self.values else "text"

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ("values",) if self.values is None else ()

    @property
    def count(self) -> int:
        return len(self.values or ())

    @property
    def shown(self) -> list[Value | None]:
        """What a synthetic record shows for each code."""
        slots: list[Value | None] = [None] * (self.size - self.count)
        if self.kind == "text" and self.other_code is not None:
            slots[0] = OTHER
        none = self.values == ("",) and self.missing is not False  # by `with_values`: no value at all
        return [*((None,) if none else self.values or ()), *slots]

    def codec(self) -> CategoryCodec:
        return CategoryCodec(self)

    def value_labels(self) -> list[str]:
        return [str(value) for value in self.values or ()]

    @property
    def compared_as(self) -> str:
        return "number" if self.kind == "integer" else self.kind

    @property
    def words(self) -> tuple[str, ...] | None:
        return tuple(map(str, self.values)) if self.values is not None and self.kind == "text" else None

    @property
    def decimals(self) -> int | None:
        return 0 if self.kind == "integer" else None

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        exact = None if self.kind == "text" else np.array(self.values) + 0
        return None if exact is None else (exact, exact)

    def with_values(self, found: tuple[Any, ...]) -> Category:
        """The category with the values that were found; one with none keeps a value that no record has.

        A text that means missing is no value, however often it was found.
        """
        meant = {*self.missing_texts, *(grammar.number(text) for text in self.missing_texts)}
        return self._of(tuple(value for value in found if value not in meant) or ("",))

    def completed(self, array: pa.Array) -> Category:
        """The category of every text that occurs."""
        order: dict[str, int] = {}
        places = arrays.by_distinct(
            array, lambda value: order.setdefault(text_of(value), len(order)), -1, np.int64
        )
        counts = np.bincount(places[places >= 0], minlength=len(order))
        texts = list(order)
        empty = {"", *self.missing_texts}
        frequent = np.argsort(-counts, kind="stable")[: MOST_VALUES + len(empty)].tolist()
        kept = [texts[place] for place in frequent if texts[place] not in empty][:MOST_VALUES]
        return self._of(tuple(sorted(kept)) or (NO_VALUE,))

    def _of(self, values: tuple[Value, ...]) -> Category:
        """The category of values that were found and may not be all: the rest is other where none may be missing."""
        rest: Outside | None = "other" if self.missing is False else None
        return replace(self, values=values, discover=False, outside=self.outside or rest)

    @classmethod
    def drafted(cls, sight: Sight) -> Category | None:
        """A category of codes; what looks like no other type's is one by `of_texts`."""
        # A number would lose the zeros that it begins with, or the order that the table's type gives it.
        codes = sight.codes and not sight.zeros and not sight.clock
        return cls.of_texts(sight) if codes or sight.ordered else None

    @classmethod
    def of_texts(cls, sight: Sight) -> Category:
        """The category of a column's texts, or one whose texts are to be learned where they are many."""
        if not sight.texts:
            return cls(discover=True, comment=NO_CELL)
        if not sight.listable:
            whose = WHOSE.format(sight.name) if sight.mostly_rare and not sight.identifying else ""
            pairs = TWO_NUMBERS if sight.two_numbers else ""
            remarks = [*sight.nearly, pairs, MOSTLY_RARE if sight.mostly_rare else LEFT_VALUES, whose]
            return cls(discover=True, missing=sight.missing(), comment=sight.comment(*remarks))
        kept, remarks = sight.repeated()
        if sight.variants:
            remarks.append(VARIANTS)
        if sight.markers:
            remarks.append('Some values may mean missing: move them to missing = ["..."] if they do.')
        values: list[Any] = kept if sight.ordered else sorted(kept)
        if sight.ordered and all(kind_of(text) == "integer" for text in kept):
            values = [int(text) for text in kept]
        comment = sight.comment(*remarks, REVIEW_VALUES)
        return cls(tuple(values), ordered=sight.ordered, missing=sight.missing(), comment=comment)


def _check_value(value: object, kind: type) -> None:
    if kind not in _KINDS:
        refuse("values", value, "is not text, a number or a boolean.", "use one of these.")
    if type(value) is not kind:
        refuse(
            "values", value, f"is not of the type of the first value, {_KINDS[kind]}.", "use one type only."
        )
    if isinstance(value, str):
        text("values", value)
    elif isinstance(value, float) and not math.isfinite(value):
        refuse("values", value, "is not finite.", "missing values have a slot of their own.")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        refuse("values", value, "does not fit in 64 bits.", "put the values in quotes.")


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

    def encode(self, array: pa.Array) -> Codes:
        if self.numeric and (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
            return self._of_numbers(arrays.floats(array))
        code_of = self._of_text if self.kind == "text" else self._of_other
        # An empty cell of a text file is a null: where the empty text is listed, it is that value.
        null = self.column.null_code if self.column.missing is not None else self.codes.get("")
        return arrays.by_distinct(array, code_of, self.column.null_code if null is None else null, self.dtype)

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

    def _of_numbers(self, numbers: npt.NDArray[np.float64]) -> Codes:
        known = np.array(self.listed, dtype=np.float64)
        low, span = known.min(), known.max() - known.min()
        if self.kind == "integer" and span < _TABLE:
            codes = self._by_table(numbers, int(low), int(span))
        else:
            order = np.argsort(known)
            place = np.searchsorted(known[order], numbers).clip(max=len(known) - 1)
            codes = np.where(known[order][place] == numbers, order[place], self.unlisted).astype(self.dtype)
        for word in self.missing:
            meant = grammar.number(word)
            if meant is not None:
                codes[numbers == meant] = self.column.null_code
        unread = np.isnan(numbers)
        if unread.any():
            codes[unread] = self.column.null_code
        return codes

    def _by_table(self, numbers: npt.NDArray[np.float64], low: int, span: int) -> Codes:
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
        shown = pa.array(self.column.shown, type=self.arrow_type)
        return shown.take(pa.array(self.in_range(codes)))

    def reading_type(self) -> pa.DataType:
        if self.numeric and all(grammar.number(text) is not None for text in self.missing):
            return pa.float64()
        return pa.string()
