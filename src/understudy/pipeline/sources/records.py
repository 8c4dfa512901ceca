"""The private records of one run, wherever they lie: bounded by unit, coded by whatever schema is asked for.

`Source` and `Records` are the seam between the pipeline and the engines: a kind of data is a class of each with
these members, and a line in `registry`. No command asks which kind it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from understudy.data.engines.stream import MEMORY, check_memory
from understudy.data.forms.table_form import TableForm
from understudy.domain import Clique, Domain, Schema
from understudy.domain.dialect import Dialect
from understudy.errors import SchemaError
from understudy.marginals import Counter, Marginal
from understudy.marginals.counter import Recoding
from understudy.transforms.derive import TableTransform


class Source(Protocol):
    """A table where it lies, before anything of it was read."""

    @property
    def name(self) -> str | None:
        """What the ledger calls the table when nobody named it, the same wherever it lies; None where it has no name.

        Of an address nothing else, since that may hold a password.
        """
        ...

    def open(self, reading: Reading) -> Records:
        """The records, every part of which is known to be there and readable: a fault here costs no budget."""
        ...

    def first_records(
        self, most: int, *, dialect: Dialect | None = None, types: Mapping[str, pa.DataType] | None = None
    ) -> pa.Table:
        """Values of at most so many records, for drafts and comparisons, which are confidential.

        For a source of text, `dialect` is how it is written, as far as it is known, and `types` are those in which to
        try to read the columns; the others come as text.
        """
        ...


@runtime_checkable
class ComesInPieces(Protocol):
    """A source that may be larger than memory."""

    def first_pieces(self, most: int, *, dialect: Dialect | None = None) -> Iterator[pa.Table]:
        """The first records a piece at a time, in one at least: all that is held of them at once."""
        ...


@runtime_checkable
class LooksAtText(Protocol):
    """A source that may be a text file."""

    def seen_dialect(self, declared: Dialect) -> Dialect:
        """How the text is written as its records show it: for drafts and comparisons, which are confidential."""
        ...


@runtime_checkable
class LiesInFiles(Protocol):
    """A source of which it is known in which files it lies, so that nothing is written over them."""

    @property
    def places(self) -> tuple[str, ...]:
        """Paths of files, folders and patterns of files; none where the table lies elsewhere."""
        ...


class Records(Protocol):
    """Records as values, held inside the boundary: only a curator may be given what they count to."""

    @property
    def types(self) -> Any:
        """The names and types of the columns, as an Arrow schema: public, as no cell was looked at for them."""
        ...

    @property
    def untyped(self) -> frozenset[str]:
        """The columns that have no type of their own: those of a text file, and cells of any type in a frame."""
        ...

    @property
    def kind(self) -> str:
        """What `release.sample` returns for such data: "arrow", "pandas", "polars", or the name of a kind of source
        that draws records itself (see `registry.SourceKind.sample`)."""
        ...

    @property
    def snapshot(self) -> str | None:
        """What makes two runs the same run: text that tells this state of the data from a later one, such as a file's
        place and time of change. None when unknown: then every run is a new one."""
        ...

    def encode(self, schema: Schema) -> Counter:
        """The records under a complete schema as an engine that counts, at most so many a unit as it declares."""
        ...

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        """How many records hold each value of a column, with units bounded as for `encode`. For a curator alone."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """Records that are not known to be readable until all of them were read."""

    def check(self, columns: Sequence[str]) -> None:
        """Read these columns of every record once, for their faults alone."""
        ...


def check_readable(records: Records, schema: Schema | None) -> None:
    """Raise whatever fault the records have, in the columns that a schema describes, before anything is charged."""
    if isinstance(records, Checkable):
        known = None if schema is None else {*schema.columns, schema.unit}
        records.check([name for name in records.types.names if known is None or name in known])


@runtime_checkable
class CountsUnits(Protocol):
    """Records that can be counted by unit, so that how many of a unit are used can be learned."""

    def count_units(self, unit: str) -> Mapping[int, int]:
        """How many units have how many records, of all that have a unit. For a curator alone."""
        ...


@runtime_checkable
class CountsAlone(Protocol):
    """Records that can be counted column by column for less than it takes to read them."""

    def encode_alone(self, schema: Schema) -> Counter:
        """As `encode`, for someone who will ask for columns alone; anything else is answered too, at more cost."""
        ...


def encode_alone(records: Records, schema: Schema) -> Counter:
    """The engine for someone who will ask for columns alone."""
    return records.encode_alone(schema) if isinstance(records, CountsAlone) else records.encode(schema)


@runtime_checkable
class Formed(Protocol):
    """Records of a table whose form is known, before any transform."""

    @property
    def form(self) -> TableForm:
        """What `release.sample` gives back: the kind of table, the order of its columns and their declared types."""
        ...


def form_of(records: Records, schema: Schema, transforms: Sequence[TableTransform]) -> TableForm:
    """The form of the columns that a release will have."""
    known = records.form if isinstance(records, Formed) else TableForm(records.kind)
    made = {name for transform in transforms for name in transform.reads}
    unit = set() if schema.unit is None or schema.unit in schema.made else {schema.unit}
    return known.only({*schema.columns, *made} - unit)


@dataclass(frozen=True)
class Reading:
    """How a person asked for data to be read; `memory`, in bytes, is for what is streamed."""

    schema: Schema | None
    delimiter: str | None = None
    transforms: tuple[TableTransform, ...] = ()
    memory: int = MEMORY

    def __post_init__(self) -> None:
        check_memory(self.memory)

    @property
    def names(self) -> list[str] | None:
        """The columns that the schema says there are, before any transform; None where there is no schema."""
        if self.schema is None:
            return None
        known = dict.fromkeys([*self.schema.columns, *([self.schema.unit] if self.schema.unit else [])])
        table = pa.schema([(name, pa.string()) for name in known]).empty_table()
        for transform in reversed(self.transforms):
            table = transform.reverse(table)
        return list(table.column_names)

    @property
    def needed(self) -> frozenset[str] | None:
        """The columns that are read; None where all are: without a schema, and where transforms make columns."""
        if self.schema is None or self.transforms:
            return None
        return frozenset({*self.schema.synthesised, *([self.schema.unit] if self.schema.unit else [])})

    @property
    def dialect(self) -> Dialect:
        """How text is written, as far as a person said: the delimiter asked for, else as the schema has it."""
        return Dialect(self.delimiter).over(self.schema.dialect if self.schema else Dialect())


def still_untyped(
    untyped: frozenset[str], types: pa.Schema, transforms: Sequence[TableTransform]
) -> frozenset[str]:
    """The columns without a type that are left once transforms were applied: what a transform makes has one."""
    read_ = {name for transform in transforms for name in transform.reads}
    return frozenset(name for name in untyped - read_ if name in types.names)


def check_columns(records: Records, schema: Schema) -> tuple[str, ...]:
    """The columns that the schema does not describe, once every one that it does is there, or is made."""
    known = records.types.names
    made = {*schema.made, *schema.rules.computed}
    missing = [column for column in schema.columns if column not in known and column not in made]
    if missing:
        raise SchemaError(
            f"column {missing[0]!r} of the schema is not in the data.", hint="remove it, or correct its name."
        )
    if schema.unit is not None and schema.unit not in known:
        raise SchemaError(f"the unit column {schema.unit!r} is not in the data.", hint="correct its name.")
    return tuple(column for column in known if column not in schema.columns)


@dataclass(frozen=True, eq=False)
class Uncoded:
    """Records before they have codes: all that can be counted are the values of an open column."""

    records: Records
    schema: Schema

    @property
    def domain(self) -> Domain:
        return Domain({})

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        raise SchemaError("records cannot be counted before they are coded.")

    def recode(self, maps: Mapping[str, Recoding]) -> Uncoded:
        return self

    def count_values(self, column: str) -> Mapping[Any, int]:
        return self.records.count_values(column, self.schema)

    def count_units(self) -> Mapping[int, int]:
        assert self.schema.unit is not None and isinstance(self.records, CountsUnits)
        return self.records.count_units(self.schema.unit)
