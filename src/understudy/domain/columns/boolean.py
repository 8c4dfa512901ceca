"""Booleans: false is 0, true is 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.cell_text import text_of
from understudy.domain.cell_votes import MARKS
from understudy.domain.codes import Codes
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.parts.codec import Codec, Within
from understudy.domain.columns.parts.fields import listed, refuse, text
from understudy.domain.columns.parts.sight import Sight
from understudy.domain.formats.word_format import WordFormat

# What a draft takes for truths: the word for true, then that for false.
PAIRS = (
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("oui", "non")),
    *(
        ("o", "n"),
        ("sí", "no"),
        ("si", "no"),
        ("s", "n"),
        ("sim", "não"),
        ("sì", "no"),
        ("ja", "nee"),
        ("on", "off"),
    ),
)
TICKS = {
    "x",
    "\u2713",
    "\u2714",
    "y",
    "yes",
    "true",
    "t",
    "ja",
    "oui",
    "sí",
    "si",
}  # beside cells that are empty
EMPTY_IS_FALSE = "Review: an empty cell is taken for false."


@dataclass(frozen=True)
class Boolean(FormattedColumn):
    """True or false: code 0 is false, code 1 is true. More parameters: those of every `Column`.

    Parameters:
        format: the word for true, then that for false; by default any usual spelling of the two.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "boolean"
    bounded = False
    unread = (
        'Its cells may be other words than true and false: write format = ["yes", "no"] or whatever they are.'
    )

    def _check(self) -> None:
        if self.format is None:
            return
        words = tuple(text("format", word) for word in listed("format", self.format))
        if len(words) != 2 or words[0].strip() == words[1].strip():
            refuse("format", list(words), "is not two words.", 'write that for true first: ["Y", "N"].')
        if not words[0].strip():
            refuse("format", list(words), "has no word for true.", "only false may be the empty cell.")
        self._set("format", words)
        if not words[1].strip():
            if self.missing not in (None, False):
                refuse("missing", self.missing, "has no cell: the empty one is false.", "drop it.")
            self._set("missing", False)
        for word in self.missing_texts:
            if word in words:
                refuse("missing", word, "is a word of format as well.", "keep it in one of the two lists.")

    def _form(self) -> WordFormat:
        return WordFormat(*self.format)

    @property
    def null_code(self) -> int:
        """The code of a missing value: as for any column, but false where the empty cell is the word for false."""
        return 0 if self.format is not None and not self.format[1].strip() else super().null_code

    @property
    def count(self) -> int:
        return 2

    def _plain_codec(self) -> BooleanCodec:
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
        said = {text.lower() for text in sight.texts} == {"true", "false"} and {"true", "false"} & {
            *sight.texts
        }
        if said or pa.types.is_boolean(sight.kind):
            return cls(missing=sight.missing())
        commonest = [text.strip() for _, text in sorted(zip(sight.counts.tolist(), sight.texts, strict=True))]
        spelled = {word.lower(): word for word in commonest}  # of each word the commonest spelling
        if len(spelled) == 1 and sight.nulls and {*spelled} <= TICKS:
            return cls(format=(*spelled.values(), ""), comment=sight.comment(EMPTY_IS_FALSE))
        for true, false in PAIRS:
            marks = {*spelled} - {true, false}
            if {true, false} <= {*spelled} and marks <= MARKS:
                missing = tuple(text for text in sight.texts if text.strip().lower() in marks)
                alike = (
                    case(true) for case in (str.lower, str.title, str.upper) if case(false) == spelled[false]
                )
                shown = next((word for word in alike if word in commonest), spelled[true])
                return cls(format=(shown, spelled[false]), missing=sight.missing(missing))
        return None


class BooleanCodec(Codec[Boolean]):
    """Truth in any of its spellings; a text that is neither goes where the column's `outside` says."""

    arrow_type = pa.bool_()

    def encode(self, array: pa.Array) -> Codes:
        return arrays.by_distinct(array, self._code, self.column.null_code, self.dtype)

    def _code(self, value: Any) -> int:
        said = text_of(value)
        if said in self.column.missing_texts or grammar.no_number(said):
            return self.column.null_code
        truth = grammar.truth(said)
        if truth is not None:
            return int(truth)
        outside = self.column.outside_code
        return self.column.null_code if outside is None else outside

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: wide == 1)

    def reading_type(self) -> pa.DataType:
        return pa.string()  # Arrow knows fewer spellings, and cells that are neither must not change the rest
