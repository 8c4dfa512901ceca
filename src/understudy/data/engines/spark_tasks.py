"""What Spark's workers do: code records into packs, count packs, add up counts.

Each task is a frozen value that Spark pickles and calls with a partition's Arrow batches. It has no memory and
no effect but what it yields, so an attempt that dies or loses a race leaves nothing behind, and one that is
made again gives the same.

    records  ->  packs     one row of bytes for a few hundred thousand records: their codes, column by column
    records  ->  owned     one row a record, where units count: the bytes of its unit and of its content
    owned    ->  packs     of the records that count, once all of a unit's are in one partition
    packs    ->  partials  one row of bytes for a chunk of cells: how many of the task's records fall in each
    partials ->  counts    the same, summed over all tasks
    packs    ->  cells     one row for a filled cell of one clique, however many cells it has
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.counting.bytes_of_values import (
    code_bytes,
    codes_of_bytes,
    record_width,
    unit_bytes,
    value_bytes,
)
from understudy.data.counting.filled_cells import FilledCells
from understudy.data.counting.histogram import Histogram
from understudy.data.counting.kept_records import KeptRecords
from understudy.data.counting.open_values import nameable
from understudy.data.files.common_types import as_type
from understudy.data.files.file_set import FileSet
from understudy.domain import Clique, Domain
from understudy.domain.arrow_values import plain
from understudy.domain.codes import Codes, check_codes, code_type
from understudy.errors import FileError, OperatorError, UnderstudyError

Coder = Callable[[pa.Table], Mapping[str, Any]]
Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Method = Callable[[Any, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Counts = npt.NDArray[np.int64]

PACK_BYTES = 4 << 20  # of one pack: Spark keeps rows of a few megabytes well
PACK_ROWS = (1 << 12, 1 << 18)  # at least and at most
BLOCK_ROWS = 1 << 19  # records counted at a time
CHUNK_CELLS = 1 << 17  # cells in a row of counts: a megabyte once summed
ROWS = 1 << 16  # rows that Spark is handed at a time
KEEP_MEMORY = 1 << 28  # of a task that decides which records count; what is more lies on its worker's disk
OWNED = "unit binary, content binary"
VALUES = "value binary"
PACKS = "rows long, codes binary"
PARTIALS = "chunk int, counts binary"
CELLS = "place long, records long"
_PACKS = pa.schema([("rows", pa.int64()), ("codes", pa.binary())])
_PARTIALS = pa.schema([("chunk", pa.int32()), ("counts", pa.binary())])
_CELLS = pa.schema([("place", pa.int64()), ("records", pa.int64())])


def guarded(what: str) -> Callable[[Method], Method]:
    """A decorator under which an error of a task says where it arose and of what type it is, never its message."""

    def decorate(method: Method) -> Method:
        def batches_of(self: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            try:
                yield from method(self, batches)
            except FileError:  # names the file, and no value
                raise
            except UnderstudyError as error:
                raise OperatorError(f"a Spark task could not {what} its records: {error}") from None
            except Exception as error:
                raise OperatorError(
                    f"a Spark task could not {what} its records ({type(error).__name__})."
                ) from None

        return batches_of

    return decorate


@dataclass(frozen=True)
class Named:
    """Gives the columns of a partition their own names back, whatever Spark called them, for another task."""

    names: tuple[str, ...]
    task: Task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.task(batch.rename_columns(list(self.names)) for batch in batches)


@dataclass(frozen=True)
class Then:
    """Runs one task after another on the same worker, so that nothing passes through Spark in between."""

    first: Task
    second: Task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.second(self.first(batches))


@dataclass(frozen=True, eq=False)
class Scan:
    """Reads the files whose numbers a partition holds, as the streamed engine would.

    Records that are to become rows of Spark's have the types of `rows`, without dictionaries.
    """

    files: FileSet
    columns: tuple[str, ...]
    types: Mapping[str, pa.DataType]
    rows: pa.Schema | None = None

    @guarded("read")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file = replace(self.files, files=(self.files.files[number],))
                for records in file.scan(self.columns, self.types):
                    yield from [records] if self.rows is None else self._rows(records)

    def _rows(self, records: pa.RecordBatch) -> list[pa.RecordBatch]:
        assert self.rows is not None
        columns = [_row_cells(records.column(field.name), field.type) for field in self.rows]
        table = pa.table(columns, schema=self.rows)
        return list(table.to_batches(max_chunksize=ROWS))


def _row_cells(array: pa.Array, kind: pa.DataType) -> pa.Array:
    cells = plain(as_type(array, kind))
    return (cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells).cast(kind)


@dataclass(frozen=True)
class Pack:
    """Codes the records of a partition: `coder` gives the codes of every column of `domain`."""

    domain: Domain
    coder: Coder

    @guarded("code")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = pack_rows(self.domain)
        for group in grouped(batches, rows, lambda batch: batch.num_rows):
            table = pa.Table.from_batches(group)
            yield packed(coded(self.domain, self.coder, table), table.num_rows)


@dataclass(frozen=True)
class Own:
    """Pairs the unit of every record with its content, which is its codes; records without a unit are left out."""

    unit: str
    domain: Domain
    coder: Coder

    @guarded("code")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in grouped(batches, ROWS, lambda batch: batch.num_rows):
            table = pa.Table.from_batches(group)
            codes = dict(zip(self.domain, coded(self.domain, self.coder, table), strict=True))
            contents = code_bytes(self.domain, codes, table.num_rows)
            yield from owned(unit_bytes(table[self.unit]), contents)


@dataclass(frozen=True)
class OwnValues:
    """Pairs the unit of every record with its value in a column; records without either are left out."""

    unit: str
    column: str

    @guarded("read")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = value_bytes(nameable(batch.column(self.column)))
            yield from owned(unit_bytes(batch.column(self.unit)), values)


@dataclass(frozen=True)
class OwnAlone:
    """Says of every record whose it is, and nothing else; none without a unit."""

    unit: str

    @guarded("read")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            whose = unit_bytes(batch.column(self.unit))
            yield from owned(whose, whose)


@dataclass(frozen=True)
class Keep:
    """Packs the records that count, of a partition that holds all records of its units."""

    domain: Domain
    most: int

    @guarded("bound")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = pack_rows(self.domain)
        for contents in _kept(batches, self.most):
            for start in range(0, len(contents), rows):
                some = contents.slice(start, rows)
                codes = codes_of_bytes(self.domain, some)
                yield packed([codes[name] for name in self.domain], len(some))


@dataclass(frozen=True)
class KeepValues:
    """The values of the records that count, of a partition that holds all records of its units."""

    most: int

    @guarded("bound")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for contents in _kept(batches, self.most):
            yield from pa.table({"value": contents}).to_batches(max_chunksize=ROWS)


def _kept(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.ChunkedArray]:
    kept = KeptRecords(most, KEEP_MEMORY)
    for batch in batches:
        kept.add(*batch.columns)
    return kept.contents()


@dataclass(frozen=True, eq=False)
class Count:
    """Counts the packs of a partition, whose codes are of `coded`, once `maps` has merged some of them.

    The counts of all cliques follow each other, and the number of records comes last.
    """

    coded: Domain
    domain: Domain
    maps: Mapping[str, Codes]
    cliques: tuple[Clique, ...]

    @guarded("count")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        histogram = Histogram(self.domain, self.cliques, threads=1)
        columns = self.domain.order({name for clique in self.cliques for name in clique})
        for rows, block in blocks(batches, self.coded, columns, self.maps):
            histogram.add(block, rows, checked=True)
        if histogram.rows:
            yield from partials([*histogram.counts(), np.array([histogram.rows])])


@dataclass(frozen=True, eq=False)
class CountCells:
    """Counts the filled cells of one clique over the packs of a partition: one row a cell."""

    coded: Domain
    domain: Domain
    maps: Mapping[str, Codes]
    clique: Clique

    @guarded("count")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = FilledCells(self.domain, self.clique)
        for rows, block in blocks(batches, self.coded, self.clique, self.maps):
            filled.add(block, rows)
        table = pa.table(dict(zip(_CELLS.names, filled.cells(), strict=True)), _CELLS)
        yield from table.to_batches(max_chunksize=ROWS)


@dataclass(frozen=True)
class Add:
    """Sums the partial counts of every chunk that came to a partition; `cells` are those of all chunks."""

    cells: int

    @guarded("add up")
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sums: dict[int, Counts] = {}
        for batch in batches:
            for chunk, counts in zip(*batch.columns, strict=True):
                part = widened(counts.as_buffer(), cells_in(chunk.as_py(), self.cells))
                known = sums.setdefault(chunk.as_py(), np.zeros(len(part), np.int64))
                known += part
        for chunk, whole in sums.items():
            yield _partial(chunk, whole.tobytes())


def coded(domain: Domain, coder: Coder, table: pa.Table) -> list[Codes]:
    """The codes of every column of a partition's records."""
    given = coder(table)
    codes = [check_codes(name, given[name], size) for name, size in domain.items()]
    if any(len(column) != table.num_rows for column in codes):
        raise OperatorError("a column has another number of codes than there are records.")
    return codes


def packed(codes: Sequence[Codes], rows: int) -> pa.RecordBatch:
    """One pack of so many records."""
    bytes_ = b"".join(column.tobytes() for column in codes)
    return pa.RecordBatch.from_pydict({"rows": [rows], "codes": [bytes_]}, _PACKS)


def pack_rows(domain: Domain) -> int:
    """How many records go into one pack."""
    least, most = PACK_ROWS
    return max(least, min(most, PACK_BYTES // max(1, record_width(domain))))


def owned(units: pa.Array, contents: pa.Array) -> Iterator[pa.RecordBatch]:
    """Records as rows of Spark's, without those that lack a unit or a content."""
    table = pa.table({"unit": units.cast(pa.binary()), "content": contents.cast(pa.binary())})
    known = pc.and_(units.is_valid(), contents.is_valid())
    yield from table.filter(known).combine_chunks().to_batches(max_chunksize=ROWS)


def grouped(things: Iterable[Any], rows: int, size: Callable[[Any], int]) -> Iterator[list[Any]]:
    """The items in order, in groups of at least `rows` records; the last group has what is left."""
    group: list[Any] = []
    held = 0
    for thing in things:
        if size(thing):
            group.append(thing)
            held += size(thing)
        if held >= rows:
            yield group
            group, held = [], 0
    if group:
        yield group


def blocks(
    batches: Iterable[pa.RecordBatch], coded: Domain, columns: Sequence[str], maps: Mapping[str, Codes]
) -> Iterator[tuple[int, dict[str, Codes]]]:
    """The records of a partition's packs in large blocks: how many, and their codes once `maps` merged some."""
    packs = (pack for batch in batches for pack in zip(*batch.columns, strict=True))
    for group in grouped(packs, BLOCK_ROWS, lambda pack: int(pack[0].as_py())):
        read = [unpacked(coded, columns, rows.as_py(), codes.as_buffer()) for rows, codes in group]
        yield (
            sum(rows.as_py() for rows, _ in group),
            {name: _mapped(maps.get(name), [codes[name] for codes in read]) for name in columns},
        )


def _mapped(map_: Codes | None, parts: Sequence[Codes]) -> Codes:
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return codes if map_ is None else map_[codes]


def unpacked(domain: Domain, columns: Sequence[str], rows: int, codes: Any) -> dict[str, Codes]:
    """The codes of some columns of one pack."""
    found, place = {}, 0
    for name, size in domain.items():
        kind = code_type(size)
        if name in columns:
            found[name] = np.frombuffer(codes, kind, rows, place)
        place += rows * kind.itemsize
    return found


def chunks_of(cells: int) -> int:
    """How many rows of chunks a number of counts takes."""
    return -(-cells // CHUNK_CELLS)


def cells_in(chunk: int, cells: int) -> int:
    """How many of a table's cells lie in a chunk."""
    return min(CHUNK_CELLS, cells - chunk * CHUNK_CELLS)


def partials(tables: Sequence[npt.NDArray[Any]]) -> Iterator[pa.RecordBatch]:
    """The counts of all tables in chunks, each in the smallest type that holds it; none that is all zero."""
    flat = np.concatenate([table.reshape(-1) for table in tables])
    for chunk in range(chunks_of(len(flat))):
        part = flat[chunk * CHUNK_CELLS : (chunk + 1) * CHUNK_CELLS]
        most = int(part.max())
        if most:
            yield _partial(chunk, part.astype(np.min_scalar_type(most)).tobytes())


def widened(counts: Any, cells: int) -> npt.NDArray[Any]:
    """The counts of a chunk of so many cells, in whatever type they were sent."""
    size = len(counts) // cells
    return np.frombuffer(counts, np.dtype(f"u{size}" if size < 8 else "i8"))


def _partial(chunk: int, counts: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"chunk": [chunk], "counts": [counts]}, _PARTIALS)
