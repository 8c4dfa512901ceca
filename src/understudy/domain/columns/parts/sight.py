"""What a draft sees of one column, and the remarks that it leaves to the person who reviews it.

A draft copies no value of a column with many, and none that a single record holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import arrays, grammar
from understudy.domain.arrow_values import is_text, plain
from understudy.domain.cell_text import text_of
from understudy.domain.cell_votes import FEW_CODES, MARKS, kind_of
from understudy.domain.formats.epoch_format import EPOCHS
from understudy.domain.formats.recognition import Recognised, TextsSeen, moment_format, number_format
from understudy.domain.schema_toml import string_text

MOST_LISTED = 50  # distinct values of a column whose values may be written down
MOST_TEXTS = 200  # of a category: a list that a person can still read, and noise would lose most of it
MOST_DISTINCT = 20_000  # values of a column that are all looked at, and records where there are more values
MOST_SHARE = 0.05  # and how many there may be for each record
MOST_WORDS = 5  # that stand among figures, in a column of figures that
FIGURES = 10  # times as many different figures has
MANY = 0.7  # of the cells in one form are worth a remark
MOSTLY = 0.95  # of a column's cells must fit a type for the column to be of it

REVIEW_BOUNDS = "Review: min and max were read from the records."
REVIEW_VALUES = "Review: the values were read from the records."
REVIEW_SPECIAL = "Review: special values were read from the records, of which many have them."
REVIEW_STEP = "Review: all values seen are multiples of this step."
REVIEW_YEARS = "Looks like years. Review: min and max are those of the records, in whole decades."
REVIEW_CODES = (
    "Review: the values, which look like codes, were read from the records; none between them is made up."
)
LEFT_RARE = "Values that a single record holds are left out."
LEFT_BOUNDS = "min and max are left out, to be learned privately; write them if they are public."
LEFT_ZEROS = (
    "Codes of one width, too many to be found one by one: new ones lie between those that occur. "
    "List them as a category if they are public."
)
LEFT_VALUES = "Too many values to copy: they are learned privately. List them if they are public."
FEW_RECORDS = 100  # that share a value, below which noise is likely to hide it
MOSTLY_RARE = (
    "Most cells hold a value that fewer than 100 records share: these come back empty. List the values if they are "
    "public, describe the column otherwise, or drop it."
)
WHOSE = 'If it says whose record it is, write unit = "{}" in [table].'
NO_CELL = "No cell has a plain value: they are empty, or hold lists or objects. Leave the column out."
INFINITE = "Infinite numbers are taken for missing ones: no bin holds them."
WORDS = "Words among figures ({}) count as missing: if they mean something else, say what."
SEVERAL = "Several texts mean missing: synthetic cells have the first of them."
STRAY = "{} of the cells are not numbers: they count as missing."
TWO_NUMBERS = "Every cell holds two numbers: have them in two columns, each of which can be learned."
VARIANTS = "Some values differ in case or blanks alone: they are taken for different ones."
TOO_WIDE = (
    "Its numbers do not fit in 64 bits with a sign, so that they are taken for texts. "
    'If they are keys, write type = "id"; if sizes count, have them as floats.'
)
ALL_UNLIKE, SAYS_IDENTIFIER = "Nearly every record has a value of its own", "The name says identifier"
IDENTIFIER = (
    '{}. If it says whose record it is, write unit = "{}" in [table];'
    ' if it is a key, type = "id", which makes up fresh ones.'
)
FROM_1970 = "Looks like moments that are counted from 1970. If not, it is an integer."
UNREAD = "{:.2%} of the cells are not written so: they count as missing."
DOUBT = "No day above 12 occurs: if months come first, write format = {}."
NEARLY = (
    "{:.0%} of the cells have the form {}: clean the others, or they are missing in a column of that format."
)
TWO_DIGITS = "Two digits of a year mean 1969 to 2068; with max = 2026-12-31, say, the hundred years up to it."
_MOMENTOUS = re.compile(
    r"time|date|stamp|epoch|when|created|updated|modified|(^|_)(ts|at|dt)$", re.IGNORECASE
)
_RECENT = (631_152_000, 4_102_444_800)  # seconds since 1970: from 1990 to 2099
FEW_CLOCKS = 20  # different texts, of which all would hardly be times of day by chance
_RARE = 50  # records that each value must have, on average, for its values to be found privately
# Not a word that merely ends so: PAID, MEDICAID, COVID, VALID, FLUID.
_IDENTIFYING = re.compile(
    r"(^|[_\W])(?i:id|uuid|guid|ssn|email|e-mail|passport)$|(?<=[a-z])I[dD]$|(?<![AVLU])ID$", re.ASCII
)
_DIGIT = re.compile("[0-9]")
_NO_FIGURE = re.compile(r"[^0-9]*|\s*[<>≤≥].*|.*[0-9]\s*\+\s*", re.DOTALL)
_TWO_NUMBERS = re.compile(r"\(?\s*[-+]?\d+(\.\d+)?\s*[,;/xX]\s*[-+]?\d+(\.\d+)?\s*\)?", re.ASCII)

# What has a meaning of its own, though every cell may differ: amounts, and moments in whatever form.
AMOUNT = re.compile(r"[-+$€£¥]?\s?[0-9][0-9.,' ]*\s?[%$€£¥]?")
MOMENT = re.compile(
    r"([0-9]{1,2}|[0-9]{4})[-/. ]([A-Za-z]{3,9}|[0-9]{1,2})[-/., ]+([0-9]{1,2}|[0-9]{4})([T ,].*)?|.*[0-9]:[0-9]{2}.*"
    r"|[A-Za-z]{3,9},? [0-9]{1,2}.*|(19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])|1[0-9]{9}([0-9]{3})?"
)


@dataclass(frozen=True)
class Sight:
    """What the draft has seen of one column: its distinct texts and how often each occurs, nulls apart."""

    name: str
    kind: pa.DataType  # of the values
    texts: list[str]
    counts: npt.NDArray[np.int64]
    rows: int
    nulls: int
    ordered: bool = False  # whether the texts stand in an order that the table's own type gives them

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray) -> Sight:
        """What is to be seen of a table's column."""
        array = plain(column)
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        if len(encoded.dictionary) > MOST_DISTINCT < len(array) and not encoded.type.ordered:
            # What so many values are like, records all over the table tell as well as all of them; of values that
            # are never written down, as there are more than can be listed in those records too.
            array = encoded.take(np.arange(MOST_DISTINCT) * len(array) // MOST_DISTINCT)
            encoded = array.cast(array.type.value_type).dictionary_encode()
        order: dict[str, int] = {}
        texts = arrays.by_distinct(encoded, lambda v: order.setdefault(text_of(v), len(order)), -1, np.int64)
        counts = np.bincount(texts[texts >= 0], minlength=len(order))
        kept = [text for text in order if text != ""]
        filled = np.array([counts[order[text]] for text in kept], dtype=np.int64)
        empty, ordered = len(array) - int(filled.sum()), bool(encoded.type.ordered)
        return cls(name, encoded.type.value_type, kept, filled, len(array), empty, ordered)

    @property
    def few(self) -> bool:
        """Whether the values are few enough, beside the records, to be written down."""
        return len(self.texts) <= min(MOST_LISTED, MOST_SHARE * self.rows)

    @property
    def listable(self) -> bool:
        """Whether texts are few enough, beside the records, to be written down as a category's."""
        return len(self.texts) <= min(MOST_TEXTS, MOST_SHARE * self.rows)

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """The texts that usually mean missing, and words among figures."""
        usual = {text for text in self.texts if text.strip().lower() in MARKS}
        return tuple(sorted(usual | {*self.words}))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The few texts that are no figures ("refused") or no exact ones ("<0.5", "90+"), where nearly all others
        have digits; usual marks apart.
        """
        held = dict(zip(self.texts, self.counts.tolist(), strict=True))
        found = [t for t in self.texts if _NO_FIGURE.fullmatch(t) and t.strip().lower() not in MARKS]
        repeated = [text for text in found if held[text] > 1]
        figures = sum(count for text, count in held.items() if _NO_FIGURE.fullmatch(text) is None)
        alone = len(repeated) <= MOST_WORDS and len(self.texts) - len(found) >= FIGURES * len(repeated)
        return tuple(repeated) if alone and figures >= self.counts.sum() / 2 else ()

    @property
    def identifying(self) -> bool:
        """Whether nearly every record has a value of its own, or the name says that it identifies."""
        return self.unique or (not self.few and self.identifying_name)

    @property
    def unique(self) -> bool:
        """Whether nearly every record has a value of its own."""
        filled = self.rows - self.nulls
        return filled >= 20 and len(self.texts) > 0.95 * filled

    @property
    def identifying_name(self) -> bool:
        """Whether the name alone says that it identifies."""
        return _IDENTIFYING.search(self.name) is not None

    def missing(self, markers: tuple[str, ...] = ()) -> bool | tuple[str, ...] | None:
        """What a description should say of missing values: these texts, or that empty cells occur, or nothing."""
        return markers or (True if self.nulls else None)

    def share(self, texts: Iterable[str]) -> float:
        """How many of the cells that are neither null nor a marker hold one of these texts."""
        wanted, apart = set(texts), set(self.markers)
        counted = [count for text, count in zip(self.texts, self.counts, strict=True) if text not in apart]
        held = [count for text, count in zip(self.texts, self.counts, strict=True) if text in wanted]
        return float(sum(held) / max(1, sum(counted)))

    def mostly(self, fits: Callable[[str], bool]) -> list[str]:
        """The texts that fit, where nearly all cells do; else none."""
        fitting = [text for text in self.texts if fits(text)]
        return fitting if fitting and self.share(fitting) >= MOSTLY else []

    @cached_property
    def numbers(self) -> list[str]:
        """The texts that are numbers, where nearly all cells are."""
        return self.mostly(lambda text: grammar.number(text) is not None)

    @cached_property
    def moments(self) -> list[str]:
        """The texts that are dates or datetimes, where nearly all cells are."""
        return self.mostly(lambda text: grammar.moment(text) is not None)

    # --- the form that cells are written in ----------------------------------------------------------------

    @cached_property
    def _cells(self) -> TextsSeen:
        apart = set(self.markers)
        kept = [place for place, text in enumerate(self.texts) if text not in apart]
        return TextsSeen.of([self.texts[place] for place in kept], self.counts[kept])

    @cached_property
    def _likely(self) -> dict[str, Recognised | None]:
        """For dates, times and numbers, the format that most of the texts have."""
        if not (is_text(self.kind) or pa.types.is_integer(self.kind)):
            return {}
        return {
            "date": moment_format(self._cells),
            "time": moment_format(self._cells, clock_only=True),
            "number": None if self.numbers else number_format(self._cells),
        }

    def form(self, kind: str) -> Recognised | None:
        """The format of dates, times or numbers that nearly all cells are written in."""
        found = self._likely.get(kind)
        return found if found is not None and found.share >= MOSTLY else None

    @cached_property
    def epoch(self) -> str | None:
        """The format of moments that are counted from 1970: by the column's name, and numbers of recent times."""
        if not self.numbers or _MOMENTOUS.search(self.name) is None:
            return None
        for spec, units in EPOCHS.items():
            low, high = (end * units for end in _RECENT)
            if self.mostly(lambda text: low <= (grammar.digits(text) or 0) < high):  # noqa: B023 - called at once
                return spec
        return None

    @cached_property
    def codes(self) -> bool:
        """Whether digits that begin with a zero occur, as in postal codes: a plain number would lose it."""
        return self.share(text for text in self.texts if kind_of(text) == "code") > FEW_CODES

    @cached_property
    def zeros(self) -> str:
        """The format of codes of one width, 00000 or 000.00, where they are too many to be found privately; or ""."""
        if not self.codes or self.few or self.clock or len(self.texts) * _RARE <= self.rows:
            return ""
        forms = {_DIGIT.sub("0", text) for text in self.texts if text not in self.markers}
        form = forms.pop()
        return form if not forms and re.fullmatch(r"0+(\.0+)?", form) else ""

    @cached_property
    def clock(self) -> bool:
        """Whether the cells are times of day without a colon, some of which begin with a zero: 0830, 1745."""
        found = self.form("time") if self.codes and len(self.texts) >= FEW_CLOCKS else None
        return found is not None and found.spec == "%H%M" and found.share == 1

    @property
    def two_numbers(self) -> bool:
        """Whether nearly every cell holds two numbers: a place on the map, a blood pressure."""
        return bool(self.mostly(lambda text: _TWO_NUMBERS.fullmatch(text) is not None))

    def remarks(self, found: Recognised) -> list[str]:
        """What a person should know of a format that was found."""
        said = []
        if found.share < 1:
            said.append(UNREAD.format(1 - found.share))
        if found.instead:
            said.append(DOUBT.format(string_text(found.instead)))
        return said + ([TWO_DIGITS] if "%y" in found.spec else [])

    @property
    def nearly(self) -> list[str]:
        """A remark on a format that many cells have, but too few for a column of it."""
        known = [
            found for found in self._likely.values() if found is not None and MANY <= found.share < MOSTLY
        ]
        best = max(known, key=lambda found: found.share, default=None)
        return [] if best is None else [NEARLY.format(best.share, string_text(best.spec))]

    def only(self, texts: Iterable[str]) -> Sight:
        """The column with every text but these taken for a null."""
        wanted = set(texts)
        keep = np.array([text in wanted for text in self.texts], dtype=bool)
        kept = [text for text in self.texts if text in wanted]
        gone = int(self.counts[~keep].sum())
        return replace(self, texts=kept, counts=self.counts[keep], nulls=self.nulls + gone)

    def repeated(self) -> tuple[list[str], list[str]]:
        """The texts that more than one record holds, and a remark when that is not all.

        Of a list with an order, which somebody wrote, also those that no record holds.
        """
        least = {0} if self.ordered else set()
        kept = [t for t, count in zip(self.texts, self.counts, strict=True) if count > 1 or count in least]
        return kept, [] if len(kept) == len(self.texts) else [LEFT_RARE]

    @property
    def mostly_rare(self) -> bool:
        """Whether most filled cells hold a value that too few records share for it to be learned."""
        return bool(self.counts[self.counts < FEW_RECORDS].sum() > self.counts.sum() / 2)

    @property
    def variants(self) -> bool:
        """Whether some texts are the same but for their case and the blanks around them."""
        return len({text.strip().casefold() for text in self.texts}) < len(self.texts)

    def comment(self, *remarks: str) -> str:
        """The remarks as a comment above the column, with one on what looks like an identifier before them."""
        formed = any(self.form(kind) is not None for kind in ("date", "time", "number"))
        counted = not self.identifying_name and (self.numbers or self.moments or formed)  # these often differ
        why = ALL_UNLIKE if self.unique else SAYS_IDENTIFIER
        identifier = IDENTIFIER.format(why, self.name) if self.identifying and not counted else ""
        several = SEVERAL if counted and len(self.markers) > 1 else ""
        words = WORDS.format(", ".join(map(string_text, self.words))) if counted and self.words else ""
        return "\n".join(remark for remark in (identifier, words, several, *remarks) if remark)
