"""A column whose type nobody has said: every cell votes for a kind, and what the votes suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import arrays
from understudy.domain.cell_text import text_of
from understudy.domain.cell_votes import DECIMALS, FEW_CODES, KINDS, MOST_DIGITS, kind_of
from understudy.domain.codes import Codes
from understudy.domain.columns.boolean import Boolean
from understudy.domain.columns.category import Category
from understudy.domain.columns.column import Column
from understudy.domain.columns.date import Date
from understudy.domain.columns.datetime import Datetime
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.number import Number
from understudy.domain.columns.open_codes import OpenCodes
from understudy.domain.columns.parts.codec import Codec, Within
from understudy.domain.columns.parts.fields import refuse
from understudy.domain.columns.time import Time
from understudy.domain.formats.form_votes import (
    COMPACT,
    ISO,
    MONEY,
    form_of,
    iso_form,
    moment_forms,
    number_forms,
)
from understudy.domain.formats.moment_format import MomentFormat
from understudy.domain.formats.number_format import NumberFormat
from understudy.errors import SchemaError

MOSTLY = 0.98  # of the votes must fit a type
MOSTLY_OF_A_FORM = 0.9  # the same for a form of its own: as a category such a column would be lost
SURE = 4.0  # standard deviations above which votes are more than noise, in a table of dozens of columns
SURE_OF_A_FORM = 5.5  # the same for forms, of which there are thousands
LIKELY = 2.0  # and above which the most votes of a column likely are

CODES = {f"code of {width} digits": width for width in range(2, 13)}  # digits that begin with a zero
_MISSING = KINDS.index("missing")
# The commonest cells, for Arrow's regular expressions, which agree with `kind_of` on each.
_WHOLE = rf"^-?(?:0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})$"
_DATED = r"^(?:19|20)[0-9]{6}$"  # perhaps 20210203
_DECIMAL = r"^-?(?:0|[1-9][0-9]*)\.[0-9]+$"


@cache
def all_votes() -> tuple[str, ...]:
    """What a cell may vote for; the code of a vote is its place."""
    return (*KINDS, *CODES, *moment_forms(), *number_forms())


@cache
def _codes() -> dict[str, int]:
    return {vote: code for code, vote in enumerate(all_votes())}


@dataclass(frozen=True)
class Untyped(Column):
    """A column whose type is learned privately, with everything else about it. `missing` is kept."""

    type = "untyped"
    bounded = False
    learns = ("types",)

    def _check(self) -> None:
        if self.outside is not None:
            refuse("outside", self.outside, "needs a type.", "say the column's type, or leave it out.")
        if not self.ordered:
            refuse("ordered", False, "needs a type.", "say the column's type, or leave it out.")

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ("type",)

    @property
    def compared_as(self) -> str:
        return "untyped"

    @property
    def count(self) -> int:
        return 0

    def decided(self, votes: Sequence[float], noise: float) -> tuple[Column, bool]:
        """The column that its votes suggest, one count for each of `all_votes`, and whether it holds instants.

        `noise` is the standard deviation of each count. The narrowest type that nearly all votes fit is taken;
        where noise drowns them, a category.
        """
        held = _held(votes, noise)
        total = sum(held.values())

        def fits(*kinds: str) -> bool:
            return sum(held.get(kind, 0.0) for kind in kinds) >= MOSTLY * total

        said: dict[str, Any] = {"missing": self.missing, "description": self.description}
        said["comment"] = self.comment
        coded = {kind: held.get(kind, 0.0) for kind in ("code", *CODES)}
        if not sum(coded.values()) <= FEW_CODES * total:
            often = max(CODES, key=coded.__getitem__)
            alike = coded[often] >= MOSTLY * sum(coded.values()) and fits("integer", COMPACT, *CODES)
            return (OpenCodes(CODES[often], **said) if alike else Category(discover=True, **said)), False
        if fits("boolean"):
            return Boolean(**said), False
        if fits("integer", COMPACT) and not fits(COMPACT):
            return Integer(**said), False
        if fits("integer", *DECIMALS, "number"):
            places = (n for n in range(len(DECIMALS)) if fits("integer", *DECIMALS[: n + 1]))
            digits = next(places, None)
            return Number(precision=None if digits is None else 10.0**-digits, **said), False
        if fits("date"):
            return Date(**said), False
        if fits("date", "datetime", "instant", *ISO):
            written = next((spec for spec in ISO if fits(spec)), None)
            aware = ("instant", *(spec for spec in ISO if spec.endswith("Z")))
            instants = sum(held.get(kind, 0.0) for kind in aware) > total / 2
            return Datetime(format=written, **said), instants and written is None
        for kind, spec in _formats(held):
            return kind(format=spec, **said), False
        return Category(discover=True, **said), False

    def completed(self, array: pa.Array) -> Column:
        """The column by the votes of its cells, without noise, and then by its values."""
        votes = np.bincount(Votes().codec().encode(array), minlength=len(all_votes()))
        typed = self.decided(votes.tolist(), 0.0)[0]
        return typed.completed(array) if typed.unlearned else typed

    def codec(self) -> NoReturn:
        raise SchemaError(
            "type is not known yet.", hint="say it in the schema, or let a private run learn it."
        )

    def value_labels(self) -> list[str]:
        return []


@dataclass(frozen=True)
class Votes(Column):
    """What the cells of a column vote for, as a column of its own: one code for each of `all_votes`, no slots."""

    type = "votes"
    bounded = False
    missing: Literal[False] = False

    @property
    def rule(self) -> Literal["clip"]:
        """Every cell has a vote: nothing is outside."""
        return "clip"

    @property
    def count(self) -> int:
        return len(all_votes())

    def codec(self) -> VotesCodec:
        return VotesCodec(self)

    def value_labels(self) -> list[str]:
        return list(all_votes())


def _held(votes: Sequence[float], noise: float) -> dict[str, float]:
    """The kinds that surely have votes; where none has, the one with the most if that is likely no noise."""
    cast = {kind: float(count) for kind, count in zip(all_votes(), votes, strict=True) if kind != "missing"}
    plain = {kind: count for kind, count in cast.items() if kind in KINDS or kind in CODES}
    sure = {kind: count for kind, count in plain.items() if count > SURE * noise}
    forms = {kind: count for kind, count in cast.items() if kind not in plain}
    sure |= {
        form: count
        for form, count in forms.items()
        if count > (SURE if form in ISO else SURE_OF_A_FORM) * noise
    }
    if sure:
        return sure
    # Codes by their width are so many kinds that one of them would have the most by noise alone.
    most = max(KINDS[1:], key=plain.__getitem__)
    return {most: plain[most]} if plain[most] > LIKELY * noise else {"text": 1.0}


def _formats(held: Mapping[str, float]) -> Iterator[tuple[type[FormattedColumn], str]]:
    """The types and formats that most votes fit, the narrowest first."""
    enough = MOSTLY_OF_A_FORM * sum(held.values())
    moments = {form: moment_forms()[form] for form in held if form in moment_forms()}
    for spec in dict.fromkeys(spec for specs in moments.values() for spec in specs):
        alike = {form for form, specs in moments.items() if _padded(spec) in map(_padded, specs)}
        if sum(held[form] for form in alike) >= enough:
            shown = [known for form in alike for known in moments[form] if _padded(known) == _padded(spec)]
            best = max(
                dict.fromkeys(shown), key=lambda known: sum(held[f] for f in alike if known in moments[f])
            )
            form = MomentFormat(best)
            yield (Time if not form.dated else Datetime if form.timed else Date), best
    numbers = {form: number_forms()[form] for form in held if form in number_forms()}
    fitting: dict[str, float] = {}
    for kind, specs in numbers.items():
        for spec in specs:
            fitting[spec] = fitting.get(spec, 0.0) + held[kind]
    for spec in sorted(fitting, key=lambda s: (s.count("#"), -fitting[s], _unseparated(s))):
        number, votes = NumberFormat(spec), fitting[spec]
        if not (number.before or number.after):  # cells that are in the plain grammar as well
            plain = (
                "integer",
                COMPACT,
                *((*DECIMALS, "number") if number.mark == "." and number.decimals else ()),
            )
            votes += sum(held.get(kind, 0.0) for kind in plain)
        if votes >= enough:
            yield Number if number.decimals else Integer, spec


def _unseparated(spec: str) -> bool:
    """Whether a format of money separates no thousands; one that does also reads the amounts without."""
    return any(sign in spec for sign in MONEY) and "1" not in spec


def _padded(spec: str) -> str:
    """A format with zeros before all numbers below ten: it reads those without them too."""
    return spec.replace("%-", "%")


class VotesCodec(Codec[Votes]):
    """The vote of each cell, of whatever type its column is."""

    arrow_type = pa.string()

    def encode(self, array: pa.Array) -> Codes:
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        texts = encoded.dictionary
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            return arrays.by_distinct(array, _code_of, _MISSING, self.dtype)
        votes = pa.array(_votes(texts), pa.uint16()).take(encoded.indices)
        return np.asarray(pc.fill_null(votes, _MISSING).to_numpy(zero_copy_only=False), self.dtype)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return pa.array(all_votes(), self.arrow_type).take(pa.array(self.in_range(codes)))

    def reading_type(self) -> pa.DataType:
        return pa.string()


def vote_of(text: str) -> str:
    """What a text votes for."""
    kind = kind_of(text)
    if kind == "code":
        bare = text.strip(" \t")
        return f"code of {len(bare)} digits" if bare.isdigit() and len(bare) in CODES.values() else kind
    if kind in ("datetime", "instant"):
        return iso_form(text.strip(" \t")) or kind
    form = form_of(text.strip(" \t")) if kind in ("text", "integer") else None
    return form if form is not None and (kind == "text" or form == COMPACT) else kind


def _code_of(value: Any) -> int:
    return _codes()[vote_of(text_of(value))]


def _votes(texts: pa.Array) -> npt.NDArray[np.uint16]:
    """The vote of each distinct text: plain numbers all at once, the others one by one."""
    votes = np.full(len(texts), _MISSING, np.uint16)
    whole = _matches(texts, _WHOLE) & ~_matches(texts, _DATED)
    votes[whole] = _codes()["integer"]
    decimal = _matches(texts, _DECIMAL) & ~whole
    if decimal.any():
        fractions = pc.replace_substring_regex(texts.filter(pa.array(decimal)), r"^[^.]*\.", "")
        needed = np.asarray(pc.utf8_length(pc.utf8_rtrim(fractions, "0")), np.int64)
        kinds = np.array([_codes()[kind] for kind in (*DECIMALS, "number")], np.uint16)
        votes[decimal] = kinds[np.minimum(needed, len(DECIMALS))]
    rest = np.flatnonzero(~(whole | decimal))
    for place, value in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
        votes[place] = _MISSING if value is None else _code_of(value)
    return votes


def _matches(texts: pa.Array, pattern: str) -> npt.NDArray[np.bool_]:
    found = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
