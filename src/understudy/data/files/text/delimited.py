"""CSV to Arrow: faults located, misfit values kept as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from understudy.data.files.raw_file import Bytes, RawFile
from understudy.data.files.text.header_line import SAMPLE, TextLayout
from understudy.data.files.text.text_faults import encoding_fault, find_fault, nul_fault, quotes_close

BLOCK = 1 << 20  # bytes that one thread parses at a time
MOST_BLOCK = 1 << 30
EMPTY_CELL = ("",)  # the texts that a reader takes for null: nothing but the empty cell

# What PyArrow's messages begin with. They end with a piece of the file, which is never looked at.
_MISFIT = re.compile(
    r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to [^:]*: "
    r"(?:invalid (\w+)|expected (?:no|a) zone offset)"
)
_LONG_RECORD = "straddling object"


def read_text(
    raw: RawFile,
    content: Bytes,
    layout: TextLayout,
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
    quoted = layout.quotes and content.find(b'"') >= 0
    if quoted and not quotes_close(content, layout.delimiter):
        fault = find_fault(raw, content, layout, strict=True)
        if fault is not None:
            raise fault
    wanted = {name: types[name] for name in layout.names if name in types}
    included = layout.names if columns is None else columns
    reader = _Reader(
        raw, content, layout, quoted=quoted, included=included, null_texts=null_texts, headed=headed
    )
    table = reader.read(wanted)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise encoding_fault(raw, content)
    return table


def infer_types(layout: TextLayout, null_texts: Sequence[str]) -> pa.Schema:
    """The names and likely types of the columns, from the first lines alone. It looks at records: not private."""
    raw, start = layout.raw, layout.raw.start(SAMPLE)
    if len(start) >= SAMPLE // 4:  # of UTF-32 there are so many bytes
        start = start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1] or start
    content = bytearray(start)
    quoted = layout.quotes and b'"' in start
    reader = _Reader(raw, content, layout, quoted=quoted, included=layout.names, null_texts=null_texts)
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
        layout: TextLayout,
        *,
        quoted: bool,
        included: Sequence[str],
        null_texts: Sequence[str],
        headed: bool = True,
    ) -> None:
        self._raw, self._content, self._layout = raw, content, layout
        self._skip = layout.header_lines if headed else 0
        self._included, self._null_texts = list(included), list(null_texts)
        self._parse = pacsv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quotes else False,
            newlines_in_values=quoted,
            # In a table of one column an empty line is a record whose cell is missing.
            ignore_empty_lines=len(layout.names) > 1,
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
            name = self._layout.names[int(found[1])]
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
                column_names=list(self._layout.names), skip_rows_after_names=self._skip, block_size=block
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
        fault = find_fault(self._raw, self._content, self._layout, strict=False)
        return fault or self._raw.fault(
            "cannot be read as CSV", hint="check its delimiter and that every line has as many fields."
        )
