"""Records as lines of text in a dialect: slices rendered on two threads and written in order."""

from __future__ import annotations

import gzip
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.files.text.header_line import DELIMITERS
from understudy.domain.dialect import Dialect

SLICE = 1 << 15  # records rendered at a time
# What a spreadsheet takes for the start of a formula, also after space; and what is a number all the same.
FORMULA = r"^[\s]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r\n]"
PLAIN_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
MARK = "\ufeff"


class TextFormat:
    """A header line, then lines of records.

    `numbers` are the columns that hold numbers also where they are written as texts (1.234,50), which a dialect that
    quotes texts leaves without quotes.
    """

    def __init__(
        self,
        file: IO[bytes],
        schema: pa.Schema,
        missing: Mapping[str, str],
        advance: Callable[[float], object] | None,
        *,
        dialect: Dialect,
        gzipped: bool,
        spreadsheet: bool,
        numbers: Collection[str] = (),
    ) -> None:
        # No time stamp, so that the same table gives the same bytes.
        self._zip = gzip.GzipFile("", "wb", 6, file, mtime=0) if gzipped else None
        self._file: Any = self._zip or file
        self._missing, self._advance, self._spreadsheet = missing, advance, spreadsheet
        self._line = _Line(dialect)
        self._plain = {name for name in schema.names if _is_bare(schema.field(name).type)}
        self._bare = self._plain | set(numbers)
        names = pa.array(schema.names, pa.string())
        if spreadsheet:
            names = inert(names)
            self._missing = {name: inert(pa.array([text])).to_pylist()[0] for name, text in missing.items()}
        self._file.write(self._line.mark)
        header = [self._line.cells(pa.array([name]), bare=False) for name in names.to_pylist()]
        self._file.write(self._line.lines(header))

    def write(self, table: pa.Table) -> None:
        for rows, rendered in _ahead(self._render, table):
            self._file.write(rendered)
            if self._advance is not None:
                self._advance(rows)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def _render(self, table: pa.Table) -> bytes | pa.Buffer:
        return self._line.lines([self._cells(table, name) for name in table.column_names])

    def _cells(self, table: pa.Table, name: str) -> pa.Array:
        column = table.column(name).combine_chunks()
        column = shown(inert(column) if self._spreadsheet else column)
        missing = self._missing.get(name, "")
        if name in self._plain and not missing:
            return self._line.numbers(column)
        return self._line.cells(column, bare=name in self._bare, missing=missing)


class _Line:
    """How cells become lines: quoted, joined, ended and encoded as a dialect says."""

    def __init__(self, dialect: Dialect) -> None:
        self._delimiter, self._end = dialect.delimiter or ",", dialect.line_end or "\n"
        self._quoting = dialect.quoting or "needed"
        self._quote, self._escape = dialect.quote or '"', dialect.escape or ""
        self._needs = f"[{re.escape(self._quote)}\r\n{re.escape(self._delimiter)}]|^$"
        encoding = dialect.encoding or "utf-8"
        wide = encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
        self._encoding = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(
            encoding.lower().replace("_", "-"), encoding
        )
        # A file of wide characters begins with its mark: without one nobody could read it.
        self.mark = MARK.encode(self._encoding) if wide or self._encoding != encoding else b""

    def numbers(self, column: pa.Array) -> pa.Array:
        """The texts of a column of numbers, or of true and false: with usual delimiters they need no quotes."""
        if self._quoting == "all" or self._delimiter not in DELIMITERS:
            return self.cells(column, bare=True)
        return column.cast(pa.large_string()).fill_null("")

    def cells(self, column: pa.Array, *, bare: bool, missing: str = "") -> pa.Array:
        """The texts of a column as they stand in the file; `bare` says whether they are numbers."""
        texts = column.cast(pa.large_string())
        if self._quoting == "none":  # what would end the cell cannot stand in it
            end, other = f"[\r\n{re.escape(self._delimiter + self._escape)}]", rf"\{self._escape}\0"
            return pc.replace_substring_regex(texts.fill_null(missing), end, other if self._escape else " ")
        if self._quoting == "all":
            return self._in_quotes(texts.fill_null(missing))
        if missing and texts.null_count:  # without quotes also among texts, unless it needs them
            missing = self._where_needed(pa.array([missing], pa.large_string()))[0].as_py()
        in_quotes = self._quoting == "texts" and not bare
        return (self._in_quotes(texts) if in_quotes else self._where_needed(texts)).fill_null(missing)

    def _where_needed(self, texts: pa.Array) -> pa.Array:
        needs = pc.match_substring_regex(texts, self._needs)
        bare = pc.replace_substring(texts, self._escape, 2 * self._escape) if self._escape else texts
        return pc.if_else(needs, self._in_quotes(texts), bare) if pc.any(needs).as_py() else bare

    def _in_quotes(self, texts: pa.Array) -> pa.Array:
        quote, nothing = pa.scalar(self._quote, pa.large_string()), pa.scalar("", pa.large_string())
        if self._escape:
            texts = pc.replace_substring(texts, self._escape, 2 * self._escape)
        texts = pc.replace_substring(texts, self._quote, (self._escape or self._quote) + self._quote)
        return pc.binary_join_element_wise(quote, texts, quote, nothing)

    def lines(self, columns: list[pa.Array]) -> bytes | pa.Buffer:
        """The lines of some columns of cells, encoded; what an encoding has no character for is a question mark."""
        joined = pc.binary_join_element_wise(*columns, pa.scalar(self._delimiter, pa.large_string()))
        ended = pc.binary_join_element_wise(
            joined, pa.scalar(self._end, pa.large_string()), pa.scalar("", pa.large_string())
        )
        _, places, content = ended.buffers()
        content = content[: int(np.frombuffer(places, np.int64)[len(ended)])]
        if self._encoding.lower() in ("utf-8", "utf8"):
            return content
        return content.to_pybytes().decode().encode(self._encoding, "replace")


def _is_bare(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )


def _ahead(
    render: Callable[[pa.Table], bytes | pa.Buffer], table: pa.Table
) -> Iterator[tuple[int, bytes | pa.Buffer]]:
    """The slices of a table rendered on two threads, never more than a few ahead of the writer."""
    starts = range(0, table.num_rows, SLICE)
    if len(starts) < 2:
        yield from ((len(part), render(part)) for part in [table] if part.num_rows)
        return
    waiting: deque[tuple[int, Future[bytes | pa.Buffer]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for start in starts:
            part = table.slice(start, SLICE)
            waiting.append((part.num_rows, pool.submit(render, part)))
            if len(waiting) > 4:
                rows, ready = waiting.popleft()
                yield rows, ready.result()
        for rows, ready in waiting:
            yield rows, ready.result()


def shown(column: pa.Array) -> pa.Array:
    """A column as CSV shows it: whole floats keep their ".0", and stay floats; whole seconds have no fraction."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_duration(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_timestamp(column.type) and _all_seconds(column):
        column = column.cast(pa.timestamp("s", column.type.tz))
    if pa.types.is_decimal(column.type) or pa.types.is_time(column.type):
        column = column.cast(pa.string())
    if pa.types.is_floating(column.type) and _all_whole(column):
        texts = column.cast(pa.string())
        plain = pc.match_substring_regex(texts, "^-?[0-9]+$")
        column = pc.if_else(plain, pc.binary_join_element_wise(texts, ".0", ""), texts)
    return column


def inert(column: pa.Array) -> pa.Array:
    """A column whose texts no spreadsheet takes for formulas: those that begin like one get a ' before them.

    A text that is a plain number, such as -5, is none; and columns of numbers are left as they are.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    risky = pc.and_(
        pc.match_substring_regex(column, FORMULA), pc.invert(pc.match_substring_regex(column, PLAIN_NUMBER))
    )
    quote, nothing = pa.scalar("'", column.type), pa.scalar("", column.type)
    return pc.if_else(risky, pc.binary_join_element_wise(quote, column, nothing), column)


def _all_seconds(column: pa.Array) -> bool:
    moments = column.cast(
        pa.timestamp(column.type.unit)
    )  # in UTC: a clock that is put back shows an hour twice
    return bool(pc.all(pc.equal(moments, pc.floor_temporal(moments, unit="second")), min_count=0).as_py())


def _all_whole(column: pa.Array) -> bool:
    return bool(pc.all(pc.equal(column, pc.floor(column)), min_count=0).as_py())
