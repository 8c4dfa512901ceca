"""A first schema of a table, for a person to review: from its header, its types and, if allowed, its values.

`draft` looks at the records, so what it writes is not private until a person has read it. It still copies
no value of a column with many: those are left to be learned privately. `schema_of_types` looks at names
and types only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.data import read
from understudy.data.engines.postgres.address import is_postgres, parse
from understudy.data.engines.postgres.table import PostgresTable
from understudy.domain import Boolean, Category, Column, Date, Datetime, Integer, Number, Schema, Untyped
from understudy.domain.arrow_values import plain
from understudy.domain.cell_text import text_of
from understudy.domain.untyped import FEW_CODES
from understudy.pipeline.streamed import first_records, is_streamed, table_name
from understudy.transforms import arrays, grammar
from understudy.transforms.kinds import MARKS, kind_of

MOST_LISTED = 50  # distinct values of a column whose values may be written down
MOST_SHARE = 0.05  # and how many there may be for each record
MOST_READ = 1_000_000  # records that a draft of streamed data looks at
MOSTLY = 0.95  # of a column's cells must be numbers for it to be one of numbers

DRAFTED = "NOT PRIVATE until a person has reviewed it"
OPENING = f"""\
This draft was made by looking at the data: it is {DRAFTED}.
Check every line: values, bounds and texts that are not public knowledge must go. What is
left out (min, max, values with discover = true) is learned privately, out of the budget."""
REVIEW_BOUNDS = "Review: min and max were read from the records."
REVIEW_VALUES = "Review: the values were read from the records."
LEFT_RARE = "Values that a single record holds are left out."
LEFT_BOUNDS = "min and max are left out, to be learned privately; write them if they are public."
LEFT_VALUES = "Too many values to copy: they are learned privately. List them if they are public."
IDENTIFIER = (
    'Looks like an identifier. If it says whose record it is, write unit = "{}" in [table]; else drop it.'
)

_OFFSET = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$")
_IDENTIFYING = re.compile(r"(^|[_\W])(id|uuid|guid|ssn|email|e-mail|passport)$|Id$|ID$", re.ASCII)


def draft_file(
    path: str | os.PathLike[str], *, name: str | None = None, delimiter: str | None = None
) -> Schema:
    """The draft of a file's table, or of one at an address, named after it unless told otherwise."""
    table = first_look(path, delimiter=delimiter)
    if is_postgres(path):
        return draft(table, name=name or parse(str(path)).name)
    if is_streamed(path):
        return draft(table, name=name or table_name(os.fspath(path)) or "table")
    return draft(table, name=name or Path(path).name.split(".")[0] or "table")


def first_look(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    types: Mapping[str, pa.DataType] | None = None,
    most: int = MOST_READ,
) -> pa.Table:
    """A file's records as values in memory; of a table that is streamed, the first `most`.

    `types` are those in which to try to read a CSV file's columns (see `data.read`); the others come as text.
    """
    if is_postgres(path):
        return PostgresTable.open(str(path)).read()
    if is_streamed(path):
        return first_records(os.fspath(path), most, delimiter=delimiter)
    return read(path, types=types, rest=pa.string(), delimiter=delimiter)


def draft(table: pa.Table, *, name: str) -> Schema:
    """A schema of the table as its records suggest it; every remark is a comment in its file."""
    columns = {column: _draft_column(column, table.column(column)) for column in table.column_names}
    return Schema(columns, name=name, comment=OPENING)


def schema_of_types(types: pa.Schema, *, name: str, untyped: Collection[str] = ()) -> Schema:
    """A schema of column names and declared types alone, which are public; all else is left to be learned.

    `untyped` are the columns that have no type of their own.
    """
    columns = {
        field.name: Untyped() if field.name in untyped else _column_of_type(field.type) for field in types
    }
    return Schema(columns, name=name)


def _column_of_type(kind: pa.DataType) -> Column:
    if pa.types.is_dictionary(kind):
        return _column_of_type(kind.value_type)
    if pa.types.is_boolean(kind):
        return Boolean()
    if pa.types.is_integer(kind):
        return Integer()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Number()
    if pa.types.is_date(kind):
        return Date()
    return Datetime() if pa.types.is_timestamp(kind) else Category(discover=True)


@dataclass(frozen=True)
class Sight:
    """What the draft has seen of one column: its distinct texts and how often each occurs, nulls apart."""

    name: str
    texts: list[str]
    counts: npt.NDArray[np.int64]
    rows: int
    nulls: int

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
        return unique or (not self.few and _IDENTIFYING.search(self.name) is not None)

    def share(self, texts: Iterable[str]) -> float:
        """How many of the cells that are neither null nor a marker hold one of these texts."""
        wanted, apart = set(texts), set(self.markers)
        counted = [count for text, count in zip(self.texts, self.counts, strict=True) if text not in apart]
        held = [count for text, count in zip(self.texts, self.counts, strict=True) if text in wanted]
        return float(sum(held) / max(1, sum(counted)))

    def without(self, texts: tuple[str, ...]) -> Sight:
        """The same column with these texts taken for nulls."""
        gone_texts = set(texts)
        keep = np.array([text not in gone_texts for text in self.texts], dtype=bool)
        kept = [text for text in self.texts if text not in gone_texts]
        gone = int(self.counts[~keep].sum())
        return Sight(self.name, kept, self.counts[keep], self.rows, self.nulls + gone)


def _draft_column(name: str, column: pa.ChunkedArray) -> Column:
    array = plain(column)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_boolean(kind):
        return Boolean(missing=True if array.null_count else None)
    sight = _sight(name, array)
    if pa.types.is_date(kind):
        return _moments(sight, sight.texts, Date, aware=False)
    if pa.types.is_timestamp(kind):
        return _moments(sight, sight.texts, Datetime, aware=kind.tz is not None)
    if not sight.texts:
        return Category(discover=True, comment="Every cell is empty.")
    return _of_texts(sight, fractions=pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _sight(name: str, array: pa.Array) -> Sight:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    places = arrays.by_distinct(encoded, lambda value: 0, -1, np.int64)  # which cells hold something
    order: dict[str, int] = {}
    texts = arrays.by_distinct(encoded, lambda v: order.setdefault(text_of(v), len(order)), -1, np.int64)
    blank = order.get("", -2)
    counts = np.bincount(texts[places == 0], minlength=len(order))
    kept = [text for text in order if text != ""]
    counts = np.array([counts[order[text]] for text in kept], dtype=np.int64)
    nulls = int((texts == -1).sum() + (texts == blank).sum())
    return Sight(name, kept, counts, len(array), nulls)


def _of_texts(sight: Sight, *, fractions: bool) -> Column:
    """The column that the texts suggest: dates, numbers, truths, or else categories."""
    if sight.share(text for text in sight.texts if kind_of(text) == "code") > FEW_CODES:
        return _category(sight)  # a number would lose the zeros that it begins with
    dates = [text for text in sight.texts if grammar.moment(text) is not None]
    if dates and sight.share(dates) >= MOSTLY:
        kind = Date if all(len(text.strip()) == 10 for text in dates) else Datetime
        return _moments(sight, dates, kind, aware=all(_OFFSET.search(text.strip()) for text in dates))
    numbers = [text for text in sight.texts if grammar.number(text) is not None]
    if numbers and sight.share(numbers) >= MOSTLY:
        return _numbers(sight, numbers, fractions or any("." in text for text in numbers))
    if {text.lower() for text in sight.texts} == {"true", "false"}:
        return Boolean(missing=_missing(sight, ()))
    return _category(sight)


def _missing(sight: Sight, markers: tuple[str, ...]) -> bool | tuple[str, ...] | None:
    return markers or (True if sight.nulls else None)


def _numbers(sight: Sight, numbers: list[str], fractions: bool) -> Column:
    missing = _missing(sight, sight.markers)
    stray = len(sight.texts) - len(numbers) - len(sight.markers)
    seen = sight.without(tuple(set(sight.texts) - set(numbers)))
    remarks = _remarks(sight, f"{stray} texts are not numbers: they count as missing." if stray else "")
    values = [float(text) for text in seen.texts if np.isfinite(float(text))]
    whole = not fractions and all(value.is_integer() for value in values)
    if not seen.few or not values:
        remarks.append(LEFT_BOUNDS)
        if whole:
            return Integer(missing=missing, comment=_comment(remarks))
        return Number(precision=_precision(values), missing=missing, comment=_comment(remarks))
    kept, remarks = _repeated(seen, remarks)
    if whole:
        return _integers(sorted({grammar.whole(text) or 0 for text in kept}), missing, remarks)
    listed = sorted({float(text) for text in kept if np.isfinite(float(text))})
    return Category(tuple(listed), missing=missing, comment=_comment([*remarks, REVIEW_VALUES]))


def _integers(whole: list[int], missing: Any, remarks: list[str]) -> Column:
    low, high = whole[0], whole[-1]
    if low < high and high - low + 1 <= 2 * len(whole):  # few gaps: a range, not a list of codes
        return Integer(min=low, max=high, missing=missing, comment=_comment([*remarks, REVIEW_BOUNDS]))
    return Category(tuple(whole), missing=missing, comment=_comment([*remarks, REVIEW_VALUES]))


def _precision(values: list[float]) -> float | None:
    """The coarsest step, from whole numbers to four decimals, that holds every value."""
    numbers = np.array(values)
    decimals = next((p for p in range(5) if (np.round(numbers, p) == numbers).all()), None)
    return None if decimals is None else 1.0 / 10**decimals


def _category(sight: Sight) -> Column:
    remarks, missing = _remarks(sight), _missing(sight, ())
    if not sight.few:
        return Category(discover=True, missing=missing, comment=_comment([*remarks, LEFT_VALUES]))
    kept, remarks = _repeated(sight, remarks)
    if sight.markers:
        remarks.append('Some values may mean missing: move them to missing = ["..."] if they do.')
    return Category(tuple(sorted(kept)), missing=missing, comment=_comment([*remarks, REVIEW_VALUES]))


def _moments(sight: Sight, texts: list[str], kind: type[Date] | type[Datetime], aware: bool) -> Column:
    missing, remarks = _missing(sight, sight.markers), _remarks(sight)
    seen = sight.without(tuple(set(sight.texts) - set(texts)))
    kept, more = _repeated(seen, remarks) if seen.few else ([], remarks)
    moments = sorted(moment for text in kept if (moment := grammar.moment(text)) is not None)
    ends: list[Any] = [np.datetime64(moment, "us").item() for moment in moments[:1] + moments[-1:]]
    if not all(isinstance(end, datetime) for end in ends) or not ends or ends[0] == ends[1]:
        return kind(missing=missing, comment=_comment([*remarks, LEFT_BOUNDS]))
    if kind is Date:
        ends = [end.date() for end in ends]
    elif aware:
        ends = [end.replace(tzinfo=UTC) for end in ends]
    return kind(min=ends[0], max=ends[1], missing=missing, comment=_comment([*more, REVIEW_BOUNDS]))


def _repeated(sight: Sight, remarks: list[str]) -> tuple[list[str], list[str]]:
    """The texts that more than one record holds, and a remark when that is not all."""
    kept = [text for text, count in zip(sight.texts, sight.counts, strict=True) if count > 1]
    return kept, remarks if len(kept) == len(sight.texts) else [*remarks, LEFT_RARE]


def _remarks(sight: Sight, *more: str) -> list[str]:
    identifier = IDENTIFIER.format(sight.name) if sight.identifying else ""
    return [remark for remark in (identifier, *more) if remark]


def _comment(remarks: list[str]) -> str:
    return "\n".join(remarks)
