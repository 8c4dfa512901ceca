"""What may be known of a text file without looking at a record: its byte order mark and its header line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from understudy.data.files.raw_file import RawFile
from understudy.data.files.text.text_faults import csv_rows, encoding_fault, nul_fault
from understudy.domain.dialect import Dialect

SAMPLE = 1 << 20  # bytes that the header is found in
DELIMITERS = ",;\t|"
ENDINGS = {".tsv": "\t", ".tab": "\t"}  # what separates the fields of a file that is called so
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
BOM = b"\xef\xbb\xbf"
SAID = re.compile(
    "^sep=([,;|\t])(?:\r\n|\r|\n)"
)  # the line that Excel takes for a delimiter, and not for a header


@dataclass(frozen=True)
class TextLayout:
    """A text file that can be read: its bytes as UTF-8, how it is written, and its columns' names."""

    raw: RawFile
    dialect: Dialect
    names: tuple[str, ...]
    header_lines: int = 1  # and those before it: empty ones, and one that says only what separates the fields

    @property
    def delimiter(self) -> str:
        """What separates the fields."""
        return self.dialect.delimiter or ","

    @property
    def quotes(self) -> bool:
        """Whether a quote character opens a quoted field as it is read; if not, it is a character like any other."""
        return self.dialect.quoting != "none" or self.raw.requoted is not None


def layout_of(raw: RawFile, declared: Dialect | None = None) -> TextLayout:
    """The layout of a file, by what a person declared, and for the rest by its header line.

    A byte order mark is certain, so it goes before a declared encoding. What cannot be decoded under an encoding that
    was declared or marked is replaced, character by character; without either, the file must be UTF-8.
    """
    declared = declared or Dialect()
    start = raw.start(SAMPLE)
    whole = len(start) < SAMPLE
    marked = marked_encoding(start)
    encoding = marked or declared.encoding
    if declared.encoding is not None or marked not in (None, "utf-8-sig"):
        raw = replace(raw, encoding=encoding or "")
        start = raw.start(SAMPLE)
    opening = after_lines(_decoded(raw, start, whole), declared.skip or 0)
    text = opening.lstrip("\r\n")
    blank = len(opening[: len(opening) - len(text)].splitlines()) + (declared.skip or 0)
    if not text.strip():
        raise raw.fault("is empty", hint="a table needs at least a header line.")
    said = SAID.match(text)
    text = text[said.end() :] if said else text
    known = declared.over(Dialect(said[1] if said else None, quote=header_quote(text)))
    known = known.over(Dialect(_delimiter(raw, text, whole, known)))
    rows = first_rows(text, known, 1, whole=whole)
    if not rows:
        raise raw.fault("has a header line that does not end, or an unclosed quote", line=1)
    line, end = _header(text, known)
    dialect = replace(known, encoding=encoding).over(
        Dialect(None, None, _quoting(line, rows[0], known), end or None)
    )
    if dialect.quote not in (None, '"') or dialect.escape:
        raw = replace(raw, requoted=partial(_requoted, raw, dialect))
    return TextLayout(raw, dialect, names_of(raw, rows[0]), blank + (2 if said else 1))


def after_lines(text: str, skip: int) -> str:
    """The text after its first lines."""
    found = re.match(f"(?:[^\\r\\n]*(?:\\r\\n|\\r|\\n)){{{skip}}}", text)
    return text[found.end() :] if found else ""


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark names, if there is one."""
    return next((name for mark, name in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)


def usual_delimiter(raw: RawFile) -> str:
    """What separates the fields of a file that is called so."""
    endings = [suffix.lower() for suffix in raw.path.suffixes if suffix.lower() != ".gz"]
    return ENDINGS.get(endings[-1] if endings else "", ",")


def _requoted(raw: RawFile, dialect: Dialect, lines: Iterable[str]) -> Iterator[str]:
    """The same rows with the usual quotes, one at a time; a quote out of place is a fault of the file."""
    row = io.StringIO(newline="")
    writer = csv.writer(row, delimiter=dialect.delimiter or ",", lineterminator="\n")
    reader = csv_rows(lines, dialect)
    try:
        for fields in reader:
            writer.writerow(fields)
            yield row.getvalue()
            row.seek(0)
            row.truncate()
    except csv.Error:
        raise raw.fault(
            "a quote is not closed, or text follows a closing quote", line=reader.line_num
        ) from None


def header_quote(text: str) -> str | None:
    """The quote that stands around every name of a header line, where it is not the usual one."""
    line = re.match("[^\r\n]*", text)
    return "'" if line and re.fullmatch(r"'[^']+'([,;|\t]'[^']+')*", line[0]) else None


def first_rows(text: str, dialect: Dialect, most: int, *, whole: bool = True) -> list[list[str]]:
    """The first rows, as fields; a row that the text may cut off, or that is malformed, is left out."""
    found: list[list[str]] = []
    try:
        for row in filter(None, csv_rows(io.StringIO(text, newline=""), dialect)):
            found.append(row)
            if len(found) == most:
                return found
    except csv.Error:
        return found
    return found if whole else found[:-1]


def _delimiter(raw: RawFile, text: str, whole: bool, known: Dialect) -> str:
    """The delimiter that splits the header line into the most names; before a space it is likelier part of one."""
    usual = usual_delimiter(raw)

    def score(delimiter: str) -> tuple[int, int, bool]:
        header = next(iter(first_rows(text, replace(known, delimiter=delimiter), 1, whole=whole)), [""])
        return sum(not name.startswith(" ") for name in header), len(header), delimiter == usual

    return max(DELIMITERS, key=score)


def _header(text: str, dialect: Dialect) -> tuple[str, str]:
    """The header line and what ends it."""
    inside, quote = False, dialect.quote or '"'
    for found in re.finditer(f"[{quote}\r\n]", text):
        if found[0] == quote:
            inside = not inside and dialect.quoting != "none"
        elif not inside:
            end = found.start()
            return text[:end], "\r\n" if text.startswith("\r\n", end) else found[0]
    return text, ""


def _quoting(line: str, names: Sequence[str], dialect: Dialect) -> str | None:
    """Which cells are in quotes, as far as the names tell: texts where all of them are, without need."""
    delimiter, quote = dialect.delimiter or ",", dialect.quote or '"'
    quoted = delimiter.join(quote + name.replace(quote, 2 * quote) + quote for name in names)
    needless = any(not re.search(f'["\r\n{re.escape(delimiter)}]', name) for name in names)
    return "texts" if line == quoted and needless else None


def _decoded(raw: RawFile, start: bytes, whole: bool) -> str:
    """The start of a file as text."""
    nul = start.find(b"\0")
    if nul >= 0:
        raise nul_fault(raw, start, nul)
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The sample may end inside a character; anything before that is a fault of the file.
        if whole or len(error.object) - error.start > 4:
            raise encoding_fault(raw, start) from None
        return error.object[: error.start].decode("utf-8-sig")


def names_of(raw: RawFile, header: Sequence[str]) -> tuple[str, ...]:
    """The header's names, an empty one replaced; a file without a header may hold records there, so a
    fault tells places and not names."""
    given = {name for name in header if name}
    names: list[str] = []
    seen: dict[str, int] = {}
    for place, name in enumerate(header, start=1):
        chosen = name or f"unnamed_{place}"
        while not name and chosen in given:
            chosen += "_"
        if chosen in seen:
            raise raw.fault(
                f"columns {seen[chosen]} and {place} have the same name",
                line=1,
                hint="give every column its own name.",
            )
        seen[chosen] = place
        names.append(chosen)
    return tuple(names)
