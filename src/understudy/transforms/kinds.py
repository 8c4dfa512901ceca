"""What a cell votes for when its column has no type: a function of the cell alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain.cell_text import text_of
from understudy.domain.untyped import DECIMALS, KINDS, Votes
from understudy.transforms import arrays, grammar
from understudy.transforms.codec import CodeArray, Codec, Within

# Texts that mean missing wherever they stand in a column of something else, whatever their case.
MARKS = frozenset(
    {"n", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "unknown", "missing", "#n/a"}
)
_CODE = {kind: code for code, kind in enumerate(KINDS)}
_MISSING = _CODE["missing"]
_MOST_DIGITS = 18  # of a whole number; all of these are within int64
_PLAIN = re.compile(r"[+-]?(\d*)(?:(\.)(\d*))?", re.ASCII)
_OFFSET = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)$")
# The commonest cells, for Arrow's regular expressions; `_plainly` agrees with `kind_of` on each.
_WHOLE = rf"^-?(?:0|[1-9][0-9]{{0,{_MOST_DIGITS - 1}}})$"
_DECIMAL = r"^-?(?:0|[1-9][0-9]*)\.[0-9]+$"


def kind_of(text: str) -> str:
    """The narrowest of `KINDS` that a text is written as."""
    bare = text.strip(" \t")
    if not bare or bare.lower() in MARKS or grammar.no_number(bare):
        return "missing"
    plain = _PLAIN.fullmatch(bare)
    if plain is not None and (plain[1] or plain[3]):
        return _number_kind(plain[1], plain[2], plain[3] or "")
    if grammar.number(bare) is not None:
        return "number"
    if bare.lower() in ("true", "false"):
        return "boolean"
    if grammar.moment(bare) is not None:
        return "date" if len(bare) == 10 else "instant" if _OFFSET.search(bare, 10) else "datetime"
    return "text"


def _number_kind(whole: str, point: str | None, fraction: str) -> str:
    if len(whole) > 1 and whole[0] == "0":
        return "code"
    if point is None:
        return "integer" if len(whole) <= _MOST_DIGITS else "text"  # longer ones are names of things
    needed = len(fraction.rstrip("0"))
    return DECIMALS[needed] if needed < len(DECIMALS) else "number"


class VotesCodec(Codec[Votes]):
    """The vote of each cell, of whatever type its column is."""

    arrow_type = pa.string()

    def encode(self, array: pa.Array) -> CodeArray:
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        texts = encoded.dictionary
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            return arrays.by_distinct(array, _code_of, _MISSING, self.dtype)
        votes = pa.array(_votes(texts), pa.uint8()).take(encoded.indices)
        return np.asarray(pc.fill_null(votes, _MISSING).to_numpy(zero_copy_only=False), self.dtype)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return pa.array(KINDS, self.arrow_type).take(pa.array(self.in_range(codes)))

    def reading_type(self) -> pa.DataType:
        return pa.string()


def _code_of(value: Any) -> int:
    return _CODE[kind_of(text_of(value))]


def _votes(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """The vote of each distinct text: plain numbers all at once, the others one by one."""
    votes = np.full(len(texts), _MISSING, np.uint8)
    whole = _matches(texts, _WHOLE)
    votes[whole] = _CODE["integer"]
    decimal = _matches(texts, _DECIMAL) & ~whole
    if decimal.any():
        fractions = pc.replace_substring_regex(texts.filter(pa.array(decimal)), r"^[^.]*\.", "")
        needed = np.asarray(pc.utf8_length(pc.utf8_rtrim(fractions, "0")), np.int64)
        kinds = np.array([_CODE[kind] for kind in (*DECIMALS, "number")], np.uint8)
        votes[decimal] = kinds[np.minimum(needed, len(DECIMALS))]
    rest = np.flatnonzero(~(whole | decimal))
    for place, value in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
        votes[place] = _MISSING if value is None else _code_of(value)
    return votes


def _matches(texts: pa.Array, pattern: str) -> npt.NDArray[np.bool_]:
    found = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
