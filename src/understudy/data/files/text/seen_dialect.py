"""How a text file is written, as its records show it. NOT PRIVATE: for drafts and comparisons alone.

A run on private records never asks this: it goes by the schema, the byte order mark and the header line.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

from understudy.data.files.raw_file import RawFile
from understudy.data.files.text.header_line import (
    DELIMITERS,
    SAID,
    SAMPLE,
    after_lines,
    first_rows,
    header_quote,
    layout_of,
    marked_encoding,
    usual_delimiter,
)
from understudy.data.files.text.text_faults import csv_rows
from understudy.domain.dialect import USUAL, Dialect

LOOKED_AT = 256 << 20  # bytes whose encoding is looked at
ROWS = 50  # that a delimiter is told by
MOST_NOTES = 30  # lines before a header that are found
CELLS = 20_000  # that the use of quotes is told by
_UNDEFINED = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that Windows' usual encoding has no character for
_NUMBER = re.compile(
    r"[-+$€£]?[\d.,\u00a0 ]*\d[\d.,]*(e[-+]?\d+)?\s?[%€]?|true|false|na|nan|null", re.IGNORECASE
)


_NOTES = re.compile(r"(?:#[# ].*\n|#\r?\n)+")


def seen_dialect(raw: RawFile, declared: Dialect | None = None) -> Dialect:
    """What must be said of how a file is written: all that is unusual, or that its header alone would not tell."""
    declared = declared or Dialect()
    start = raw.start(SAMPLE)
    encoding = declared.encoding or marked_encoding(start) or _encoding(raw, start)
    decoded = start if encoding is None else replace(raw, encoding=encoding).start(SAMPLE)
    opening, whole = decoded.decode("utf-8-sig", "replace"), len(start) < SAMPLE
    text = opening.lstrip("\r\n")
    if not whole:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    text = SAID.sub("", text)
    known = replace(declared, encoding=encoding)
    notes = _skipped(text, raw, known) if declared.skip is None else None
    if notes is not None:
        text = after_lines(text, notes)
        known = replace(known, skip=len(opening[: opening.index(text)].splitlines()))
    elif declared.skip is not None:
        text = after_lines(opening, declared.skip).lstrip("\r\n")
    known = known.over(Dialect(_delimiter(text, raw, known)))
    known = known.over(Dialect(quote=header_quote(text)))
    known = next((way for way in _ways(known, text) if _is_even(text, way)), known)
    found = layout_of(raw, known.over(Dialect(quoting=_quoting(text, known)))).dialect
    told = layout_of(raw, Dialect(encoding=encoding, skip=known.skip)).dialect
    told = replace(told, skip=None)
    return found.but_for(told.over(USUAL)).over(found.but_for(Dialect(usual_delimiter(raw)).over(USUAL)))


def _skipped(text: str, raw: RawFile, known: Dialect) -> int | None:
    """How many lines stand before the header: notes of some program's, after which all lines are even."""
    start = "".join(text.splitlines(keepends=True)[: ROWS + MOST_NOTES])
    said = _NOTES.match(start)
    first = said[0].count("\n") if said else 0  # these may happen to have as many fields as all others
    marks = [mark for mark in DELIMITERS if mark in start.partition("\n")[0]]
    if not first and any(_is_even(start, replace(known, delimiter=mark)) for mark in marks):
        return None
    for skip in range(max(1, first), MOST_NOTES + 1):
        rest = after_lines(start, skip)
        tried = replace(known, delimiter=known.delimiter or _delimiter(rest, raw, known))
        rows = first_rows(rest, tried, ROWS)
        named = (
            bool(rows) and len(rows[0]) > 1 and not any(_NUMBER.fullmatch(name) for name in rows[0] if name)
        )
        before = start[: len(start) - len(rest)].splitlines()
        fewer = (line.count(tried.delimiter or ",") < len(rows[0]) - 1 for line in before[first:] if named)
        if len(rows) > 2 and named and all(fewer) and _is_even(rest, tried):
            return skip
    return None


def _encoding(raw: RawFile, start: bytes) -> str | None:
    """The likeliest encoding of a file without a mark; None for UTF-8."""
    for order, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if zeros.count(0) > len(zeros) // 4:
            return order
    utf8, high, seen = codecs.getincrementaldecoder("utf-8")(), set[int](), 0
    try:
        for chunk in raw.unpacked():
            high.update(chunk.translate(None, delete=bytes((*range(128), *range(160, 256)))))
            utf8.decode(chunk)
            seen += len(chunk)
            if seen >= LOOKED_AT:
                return None
        utf8.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252" if high and not high & _UNDEFINED else "latin-1"
    return None


def _ways(known: Dialect, text: str) -> Iterator[Dialect]:
    """Ways to quote, the likeliest first; where something is said of it, that alone."""
    unsaid = known.quote is None and known.escape is None and known.quoting is None
    if unsaid and '\\"' in text:
        yield replace(known, escape="\\")
    yield known
    if unsaid:
        yield replace(known, quoting="none")
        yield replace(known, quote="'")
        yield replace(known, quoting="none", escape="\\")


def _delimiter(text: str, raw: RawFile, known: Dialect) -> str:
    """The delimiter that splits the first lines into the most fields, the same number in each."""
    best, best_score = usual_delimiter(raw), (False, 1)
    for delimiter in DELIMITERS:
        rows = first_rows(text, replace(known, delimiter=delimiter), ROWS)
        if rows and len(rows[0]) > 1:
            score = (all(len(row) == len(rows[0]) for row in rows), len(rows[0]))
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _quoting(text: str, known: Dialect) -> str | None:
    """Which cells are in quotes."""
    quote, delimiter = known.quote or '"', known.delimiter or ","
    if quote not in text:
        return "needed"
    mark, escaped = re.escape(delimiter), rf"|{re.escape(known.escape)}." if known.escape else ""
    inner = rf"(?:[^{quote}{re.escape(known.escape or '')}]|{quote}{quote}{escaped})*"
    cell = re.compile(rf"(?:{quote}({inner}){quote}|([^{mark}\r\n]*))({mark}|\r\n|\n|\r|\Z)")
    quoted, bare, place, header = list[str](), list[str](), 0, True
    while place < len(text) and len(quoted) + len(bare) < CELLS:
        found = cell.match(text, place)
        if found is None:
            return None
        place = found.end()
        if not header:
            (bare if found[1] is None else quoted).append(found[1] or found[2] or "")
        header = header and found[3] == delimiter
    if not quoted and known.escape and known.escape + delimiter in text:
        return "none"
    if not any(one and not re.search(f"[{quote}\r\n{mark}]", one) for one in quoted):
        return "needed"
    shown = [one for one in bare if one]
    if not shown and (len(bare) == 0 or any(map(_NUMBER.fullmatch, quoted))):
        return "all"
    return "texts" if all(map(_NUMBER.fullmatch, shown)) else "needed"


def _is_even(text: str, dialect: Dialect) -> bool:
    """Whether all rows have as many fields as the first."""
    try:
        rows = csv_rows(io.StringIO(text, newline=""), dialect)
        return len({len(row) for row in rows if row}) == 1
    except csv.Error:
        return False
