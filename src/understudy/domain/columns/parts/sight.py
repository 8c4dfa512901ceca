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
from understudy.domain.arrow_values import plain
from understudy.domain.cell_text import text_of
from understudy.domain.cell_votes import MARKS

MOST_LISTED = 50  # distinct values of a column whose values may be written down
MOST_SHARE = 0.05  # and how many there may be for each record
MOSTLY = 0.95  # of a column's cells must fit a type for the column to be of it

REVIEW_BOUNDS = "Review: min and max were read from the records."
REVIEW_VALUES = "Review: the values were read from the records."
LEFT_RARE = "Values that a single record holds are left out."
LEFT_BOUNDS = "min and max are left out, to be learned privately; write them if they are public."
LEFT_VALUES = "Too many values to copy: they are learned privately. List them if they are public."
IDENTIFIER = (
    'Nearly every record has a value of its own. If it says whose record it is, write unit = "{}" in [table];'
    ' if it is a key, type = "id", which makes up fresh ones.'
)
_IDENTIFYING = re.compile(r"(^|[_\W])(id|uuid|guid|ssn|email|e-mail|passport)$|Id$|ID$", re.ASCII)


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
    def markers(self) -> tuple[str, ...]:
        """The texts that usually mean missing."""
        return tuple(sorted(text for text in self.texts if text.strip().lower() in MARKS))

    @property
    def identifying(self) -> bool:
        """Whether nearly every record has a value of its own, or the name says that it identifies."""
        filled = self.rows - self.nulls
        unique = filled >= 20 and len(self.texts) > 0.95 * filled
        return unique or (not self.few and self.identifying_name)

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

    def only(self, texts: Iterable[str]) -> Sight:
        """The same column with every other text taken for a null."""
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

    def comment(self, *remarks: str) -> str:
        """The remarks as a comment above the column, with one on what looks like an identifier before them."""
        counted = not self.identifying_name and (
            self.numbers or self.moments
        )  # amounts and times often differ
        identifier = IDENTIFIER.format(self.name) if self.identifying and not counted else ""
        return "\n".join(remark for remark in (identifier, *remarks) if remark)
