"""CSV to Arrow: delimiter found, header checked, faults located, misfit values kept as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from understudy.data.files.raw_file import Bytes, RawFile
from understudy.data.files.text_faults import find_fault, quotes_close
from understudy.errors import ParameterError

BOM = b"\xef\xbb\xbf"
DELIMITERS = ",;\t|"
SAMPLE = 1 << 20  # bytes that header and delimiter are found in
BLOCK = 1 << 20  # bytes that one thread parses at a time
MOST_BLOCK = 1 << 30
EMPTY_CELL = ("",)  # the texts that a reader takes for null: nothing but the empty cell

# What PyArrow's messages begin with. They end with a piece of the file, which is never looked at.
_MISFIT = re.compile(
    r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to [^:]*: "
    r"(?:invalid (\w+)|expected (?:no|a) zone offset)"
)
_LONG_RECORD = "straddling object"


@dataclass(frozen=True)
class Dialect:
    """What a CSV file's first lines say: what separates its fields, and the columns' names."""

    delimiter: str
    names: tuple[str, ...]


def read_dialect(raw: RawFile, start: bytes, delimiter: str | None = None) -> Dialect:
    """The dialect of a file that begins with `start`."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        raise ParameterError(
            f"delimiter {delimiter!r} is not one plain character.", hint='write ",", ";", "|" or a tab.'
        )
    nul = start.find(b"\0")
    if nul >= 0:
        raise nul_fault(raw, start, nul)
    text = _decode(raw, start.removeprefix(BOM))
    if not text.strip():
        raise raw.fault("is empty", hint="a table needs at least a header line.")
    whole = len(start) < SAMPLE
    chosen = delimiter or _sniff(text, whole)
    rows = _first_rows(text, chosen, 1, whole)
    if not rows:
        raise raw.fault("has a header line that does not end, or an unclosed quote", line=1)
    return Dialect(chosen, _names(raw, rows[0]))


def read_text(
    raw: RawFile,
    content: Bytes,
    dialect: Dialect,
    *,
    types: Mapping[str, pa.DataType],
    columns: Sequence[str] | None,
    null_texts: Sequence[str],
    headed: bool = True,
) -> pa.Table:
    """The table in `content`; a column with a cell that does not fit its wanted type comes as text.

    `headed` says whether the first line is the header, or a record: in a later piece of a file.
    """
    nul = content.find(b"\0")
    if nul >= 0:
        raise nul_fault(raw, content, nul)
    quoted = content.find(b'"') >= 0
    if quoted and not quotes_close(content, dialect.delimiter):
        fault = find_fault(raw, content, dialect.delimiter, len(dialect.names), strict=True)
        if fault is not None:
            raise fault
    wanted = {name: types[name] for name in dialect.names if name in types}
    included = dialect.names if columns is None else columns
    reader = _Reader(
        raw, content, dialect, quoted=quoted, included=included, null_texts=null_texts, headed=headed
    )
    table = reader.read(wanted)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise encoding_fault(raw, content)
    return table


def infer_types(raw: RawFile, start: bytes, dialect: Dialect, null_texts: Sequence[str]) -> pa.Schema:
    """The names and likely types of the columns, from the first lines alone."""
    if len(start) >= SAMPLE:
        start = start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1]
    content = bytearray(start)
    quoted = b'"' in start
    reader = _Reader(raw, content, dialect, quoted=quoted, included=dialect.names, null_texts=null_texts)
    schema = reader.read({}).schema
    if any(pa.types.is_binary(kind) for kind in schema.types):
        raise encoding_fault(raw, content)
    return schema


class _Reader:
    """PyArrow's reader, asked again in another way when it gives up."""

    def __init__(
        self,
        raw: RawFile,
        content: Bytes,
        dialect: Dialect,
        *,
        quoted: bool,
        included: Sequence[str],
        null_texts: Sequence[str],
        headed: bool = True,
    ) -> None:
        self._raw, self._content, self._dialect = raw, content, dialect
        self._skip = 1 if headed else 0
        self._included, self._null_texts = list(included), list(null_texts)
        self._parse = pacsv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=quoted,
            # In a table of one column an empty line is a record whose cell is missing.
            ignore_empty_lines=len(dialect.names) > 1,
        )

    def read(self, wanted: Mapping[str, pa.DataType]) -> pa.Table:
        """The table, with larger blocks or fewer types than at first where the file needs it."""
        types, block, misfits = dict(wanted), BLOCK, 0
        while True:
            try:
                return self._attempt(types, block)
            except pa.ArrowInvalid as error:
                message = str(error)
            except (pa.ArrowException, MemoryError):
                raise self._raw.fault("is too large to read into memory") from None
            if message.startswith(_LONG_RECORD):
                if block >= len(self._content):  # nothing but a header line, and no line end after it
                    return self._empty(types)
                block = self._larger(block)
                continue
            found = _MISFIT.match(message)
            if found is None:
                raise self._parse_fault()
            name = self._dialect.names[int(found[1])]
            if found[2] == "UTF8" or types.get(name, pa.string()) == pa.string():
                raise encoding_fault(self._raw, self._content)
            types[name] = pa.string()
            misfits += 1
            if misfits > 2:  # read the rest as text in one go, instead of once a column
                return self._through_text(types, block)

    def _larger(self, block: int) -> int:
        if block >= MOST_BLOCK:
            raise self._raw.fault(f"holds a record of more than {MOST_BLOCK >> 20:,} MiB")
        return min(16 * block, MOST_BLOCK)

    def _attempt(self, types: Mapping[str, pa.DataType], block: int) -> pa.Table:
        return pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(self._content)),
            read_options=pacsv.ReadOptions(
                column_names=list(self._dialect.names), skip_rows_after_names=self._skip, block_size=block
            ),
            parse_options=self._parse,
            convert_options=pacsv.ConvertOptions(
                column_types=dict(types),
                null_values=self._null_texts,
                strings_can_be_null=True,
                include_columns=self._included,
            ),
        )

    def _through_text(self, types: Mapping[str, pa.DataType], block: int) -> pa.Table:
        """Typed columns read as text and then parsed one by one, those that do not fit staying text."""
        try:
            table = self._attempt({**types, **dict.fromkeys(types, pa.string())}, block)
        except pa.ArrowInvalid:
            raise encoding_fault(self._raw, self._content) from None
        for name, kind in types.items():
            place = table.schema.get_field_index(name)
            if place < 0 or kind == pa.string():
                continue
            try:
                parsed = pc.cast(table.column(place), kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
            table = table.set_column(place, name, parsed)
        return table

    def _empty(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        kinds = {name: types.get(name, pa.null()) for name in self._included}
        return pa.schema(list(kinds.items())).empty_table()

    def _parse_fault(self) -> Exception:
        width = len(self._dialect.names)
        fault = find_fault(self._raw, self._content, self._dialect.delimiter, width, strict=False)
        return fault or self._raw.fault(
            "cannot be read as CSV", hint="check its delimiter and that every line has as many fields."
        )


def encoding_fault(raw: RawFile, content: Bytes) -> Exception:
    """The error for text that is not UTF-8, with the first line where it is not."""
    line = None
    for number, text in enumerate(bytes_lines(content), start=1):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            line = number
            break
    return raw.fault("is not UTF-8 text", line=line, hint="save it as UTF-8.")


def bytes_lines(content: Bytes) -> Iterable[bytes]:
    """The lines of some bytes, one at a time."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end + 1
        yield bytes(content[start:end])
        start = end


def nul_fault(raw: RawFile, content: Bytes, place: int) -> Exception:
    """The error for a NUL byte, with its line."""
    line, start = 1, 0
    while 0 <= (start := content.find(b"\n", start) + 1) <= place and start:
        line += 1
    return raw.fault(
        "holds a NUL byte, which no text does", line=line, hint="is it a binary file, or not UTF-8?"
    )


def _decode(raw: RawFile, start: bytes) -> str:
    try:
        return start.decode("utf-8")
    except UnicodeDecodeError as error:
        # The sample may end inside a character; anything before that is a fault of the file.
        if len(start) - error.start > 4 or len(start) + len(BOM) < SAMPLE:
            raise encoding_fault(raw, start) from None
        return start[: error.start].decode("utf-8")


def _first_rows(text: str, delimiter: str, most: int, whole: bool) -> list[list[str]]:
    """The first rows, as fields; a row that the sample may cut off, or that is malformed, is left out."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == most:
                return rows
    except csv.Error:
        return rows
    return rows if whole else rows[:-1]


def _sniff(text: str, whole: bool) -> str:
    """The delimiter that splits the first lines into the most fields, the same number in each."""
    best, best_score = ",", (False, 1)
    for delimiter in DELIMITERS:
        rows = _first_rows(text, delimiter, 50, whole)
        if rows and len(rows[0]) > 1:
            score = (all(len(row) == len(rows[0]) for row in rows), len(rows[0]))
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _names(raw: RawFile, header: Sequence[Any]) -> tuple[str, ...]:
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
