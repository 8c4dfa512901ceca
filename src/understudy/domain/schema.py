"""A table as a person describes it: its columns, its name, and whose data it holds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from understudy.display import html_table
from understudy.domain import schema_toml
from understudy.domain.column_section import check_differences, check_name, column_of, did_you_mean, within
from understudy.domain.columns.column import Column
from understudy.domain.columns.made.made import Made
from understudy.domain.columns.parts.fields import text, whole
from understudy.domain.columns.registry import column_types
from understudy.domain.constraints import Constraint, Rules
from understudy.domain.dialect import Dialect
from understudy.domain.domain import Domain
from understudy.errors import FileError, ParameterError, SchemaError

_DIALECT = tuple(field.name for field in fields(Dialect))
LEARN: Literal["learn"] = "learn"
_TABLE = ("name", "rows", "unit", "max_records_per_unit", *_DIALECT)


@dataclass(frozen=True, eq=False)
class Schema:
    """What is publicly known about a table; whatever is left out is learned privately or not at all.

    Parameters:
        columns: a name -> what the column holds: a Category, an Integer, a Number, a Date ..., or a mapping as a
            schema file has it: {"type": "integer", "min": 0, "max": 120}.
        name: the table's name, which is the ledger's key; the file's by default.
        rows: about how many records there are, a public figure: for plans, and for whether pairs of columns are worth
            choosing among so few; by default none is known.
        unit: the column that says whose record it is; by default every record is a person's only one. It is an
            identifier: never synthesised, and not in the domain; described as an Id, it comes back with fresh keys.
        max_records_per_unit: the most records of one unit that are used, at least 1; or "learn", the default: then
            a private run chooses it. More records cost more noise.
        comment: what a reader of its file should know.
        delimiter: what separates the fields of a text file; by default as its header line says.
        encoding: how a text file's characters are written, such as "latin-1"; by default as its byte order mark says,
            else UTF-8.
        quoting: which cells of a text file are in quotes: those that must be ("needed"), all but numbers ("texts"),
            "all" or "none"; by default as its header line has them.
        line_end: what ends a line of a text file; by default what ends its header line.
        quote: what stands around a cell in quotes; by default ", or ' where all names of the header line have it.
        escape: what stands before a quote that is part of a cell, such as a backslash; by default it is doubled.
        skip: how many lines stand before the header line of a text file; by default none.
        constraints: what every synthetic record must hold: an Order, Derived, Determines, Implies, Never or
            MissingTogether each, or a mapping as a schema file has it: {"order": "admitted <= discharged"}.

    Raises:
        SchemaError: a column or a field cannot be used; the message says which, and what would do.

    Example:
        >>> import understudy as us
        >>> schema = us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 99)}, name="people")
        >>> us.Schema.from_toml(schema.to_toml()) == schema
        True
    """

    columns: Mapping[str, Column]
    name: str | None = None
    rows: int | None = None
    unit: str | None = None
    max_records_per_unit: int | Literal["learn"] | None = None
    comment: str = ""
    delimiter: str | None = None
    encoding: str | None = None
    quoting: str | None = None
    line_end: str | None = None
    quote: str | None = None
    escape: str | None = None
    skip: int | None = None
    constraints: Sequence[Constraint | Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise SchemaError("columns are not by name.", hint='write {"age": us.Integer(0, 120)}.')
        given: Mapping[str, Any] = self.columns
        columns = {n: column_of(n, c, "") if isinstance(c, Mapping) else c for n, c in given.items()}
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "comment", schema_toml.clean_comment(text("comment", self.comment)))
        for name, column in self.columns.items():
            check_name(name)
            if not isinstance(column, Column):
                raise SchemaError(
                    f"column {name!r} is described by a {type(column).__name__}.",
                    hint=f"use one of {', '.join(kind.__name__ for kind in column_types().values())}.",
                )
        try:
            self._check_table()
        except SchemaError as error:
            raise within("table", error) from None
        check_differences(self.columns, self.unit)
        if not isinstance(self.constraints, Rules):  # those were checked, before anything was learned
            rules = Rules.checked(self.constraints, self.columns, self.unit)
            object.__setattr__(self, "constraints", rules)

    @property
    def rules(self) -> Rules:
        """What every synthetic record must hold, checked."""
        assert isinstance(self.constraints, Rules)
        return self.constraints

    def _check_table(self) -> None:
        for field in ("name", "unit"):
            value = getattr(self, field)
            if value is not None and not text(field, value):
                raise SchemaError(f"{field} is empty.", hint="give it a text, or leave it out.")
        self.dialect  # noqa: B018 (refuses what no text file is written in)
        if self.rows is not None:
            whole("rows", self.rows, 0)
            self.check_keys(self.rows)
        if self.max_records_per_unit is not None:
            if self.max_records_per_unit != LEARN:
                whole("max_records_per_unit", self.max_records_per_unit, 1)
            if self.unit is None:
                raise SchemaError(
                    "max_records_per_unit is given without unit.",
                    hint="name the column that identifies a person.",
                )
        elif self.unit is not None:
            object.__setattr__(self, "max_records_per_unit", LEARN)

    def __eq__(self, other: object) -> bool:
        """Equal when the tables' fields, and the columns and their order, are."""
        return self._key() == other._key() if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (
            *(getattr(self, field) for field in _TABLE),
            self.comment,
            tuple(self.columns.items()),
            self.rules,
        )

    def __getitem__(self, name: str) -> Column:
        """The column of that name."""
        if name not in self.columns:
            raise SchemaError(f"column {name!r} is not in the schema.", hint=did_you_mean(name, self.columns))
        return self.columns[name]

    def _repr_html_(self) -> str:
        """The columns, for a notebook."""
        left = self.unlearned
        table = [f"{field} = {value}" for field in _TABLE if (value := getattr(self, field)) is not None]
        return html_table(
            f"Schema of {len(self.columns)} columns",
            ["column", "type", "codes", "learned privately"],
            [
                [
                    name,
                    "unit" if name == self.unit and column.modelled else column.type,
                    f"{column.size:,}" if name in self.synthesised and name not in left else "",
                    ", ".join(left.get(name, ())),
                ]
                for name, column in self.columns.items()
            ],
            [", ".join(table)] if table else [],
            warning=self.comment.partition("\n")[0],
        )

    @property
    def dialect(self) -> Dialect:
        """How text files of this table are written, as far as the schema says."""
        return Dialect(*(getattr(self, field) for field in _DIALECT))

    def in_dialect(self, dialect: Dialect) -> Schema:
        """The schema with this dialect of text files.

        Parameters:
            dialect: how they are written; what it does not say stays as it is.
        """
        return replace(self, **dialect.to_dict())

    @cached_property
    def synthesised(self) -> dict[str, Column]:
        """The columns that are modelled and synthesised: all but the unit's, those made up and those worked out."""
        apart = {self.unit, *self.rules.computed}
        return {n: column for n, column in self.columns.items() if n not in apart and column.modelled}

    @property
    def valued(self) -> tuple[str, ...]:
        """The columns whose values say something: those synthesised, and those worked out from them."""
        return (*self.synthesised, *self.rules.computed)

    @property
    def made(self) -> dict[str, Made]:
        """The columns that are made up when records are generated: no cell of them is ever read."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Made)}

    @property
    def records_per_unit(self) -> int:
        """The most records of one unit that are used; 1 where every record is a unit of its own.

        Raises:
            SchemaError: it is still to be learned.
        """
        if self.max_records_per_unit == LEARN:
            raise SchemaError(
                "table: max_records_per_unit is not known yet.",
                hint="say it in the schema, or let a private run learn it.",
            )
        return self.max_records_per_unit or 1

    @property
    def complete(self) -> bool:
        """Whether nothing is left to learn: of no column, and not how many records of a unit are used."""
        return not self.unlearned and self.max_records_per_unit != LEARN

    @property
    def unlearned(self) -> dict[str, tuple[str, ...]]:
        """For each column with something left to learn privately, the fields to learn."""
        left = {name: column.unlearned for name, column in self.synthesised.items()}
        return {name: missing for name, missing in left.items() if missing}

    def domain(self) -> Domain:
        """The number of codes of every synthesised column.

        Returns:
            A column's name -> how many codes it has, slots for missing and other values among them.

        Raises:
            SchemaError: something is still `unlearned`, or there is no column to synthesise.
        """
        for name, left in self.unlearned.items():
            raise SchemaError(
                f"column {name!r}: {', '.join(left)} {'is' if len(left) == 1 else 'are'} not known yet.",
                hint="say it in the schema, or let a private run learn it.",
            )
        if not self.synthesised:
            raise SchemaError("schema has no column to synthesise.", hint="describe one column at least.")
        return Domain(
            {name: column.size for name, column in self.synthesised.items()},
            {name: column.layout for name, column in self.synthesised.items()},
        )

    def check_keys(self, rows: int) -> None:
        """Refuse more records than a made-up column has keys for.

        Parameters:
            rows: how many records there are to be.

        Raises:
            SchemaError: a column has fewer keys; the message says which.
        """
        for name, column in self.made.items():
            if column.keys is not None and column.keys < rows:
                raise SchemaError(
                    f"column {name!r}: {rows} records, but its pattern has {column.keys} keys.",
                    hint="lengthen the pattern, or ask for fewer records.",
                )

    def replace_column(self, name: str, column: Column | Mapping[str, Any]) -> Schema:
        """The same schema with one column described anew.

        Parameters:
            name: a column of the schema.
            column: what it holds, or a mapping as a schema file has it.

        Returns:
            A new schema; this one stays as it is.

        Raises:
            SchemaError: the schema has no such column, or the mapping says what no column can be.

        Example:
            >>> import understudy as us
            >>> schema = us.Schema({"age": us.Integer()})
            >>> schema.replace_column("age", {"type": "integer", "min": 0, "max": 120})["age"].max
            120
        """
        self[name]
        return replace(self, columns={**self.columns, name: column})  # type: ignore[dict-item]

    def with_columns(self, columns: Mapping[str, Column]) -> Schema:
        """The same schema with some columns described anew, in place, and new ones at the end.

        Parameters:
            columns: a name -> what the column holds.

        Returns:
            A new schema; this one stays as it is.

        Raises:
            SchemaError: a name or a column cannot be used.
        """
        return replace(self, columns={**self.columns, **columns})

    @classmethod
    def from_toml(cls, text: str, *, learned: bool = False) -> Schema:
        """The schema that a file's text describes.

        Parameters:
            text: TOML, as docs/schema.md says.
            learned: whether it stands in a release: what was learned may contradict a constraint, and is kept.

        Returns:
            The schema, comments and all.

        Raises:
            SchemaError: a line cannot be read, or a field is not known; the message says where.
        """
        document = schema_toml.parse(text.removeprefix("\ufeff"))
        for key in document.table:
            if key not in _TABLE:
                raise SchemaError(f"table: field {key!r} is not known.", hint=did_you_mean(key, _TABLE))
        columns = {n: column_of(n, said, document.comments[n]) for n, said in document.columns.items()}
        check_differences(columns, document.table.get("unit"))
        rules = Rules.checked(document.constraints, columns, document.table.get("unit"), learned=learned)
        return cls(columns, comment=document.comment, constraints=rules, **document.table)

    def table_fields(self) -> dict[str, Any]:
        """What a schema file says of the table: whatever is not left out."""
        return {field: value for field in _TABLE if (value := getattr(self, field)) is not None}

    def to_toml(self) -> str:
        """The text of a schema file.

        Returns:
            TOML, with comments; `from_toml` of it is this schema.
        """
        return schema_toml.emit(
            schema_toml.Document(
                self.comment,
                self.table_fields(),
                {name: column.fields() for name, column in self.columns.items()},
                {name: column.comment for name, column in self.columns.items()},
                [rule.said() for rule in self.rules],
            )
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """The schema in a file.

        Parameters:
            path: a TOML file in UTF-8.

        Returns:
            The schema, comments and all.

        Raises:
            FileError: the file cannot be read.
            ParameterError: it is no file but the address of a table.
            SchemaError: what it says cannot be used.

        Example:
            >>> import understudy as us
            >>> us.Schema.load("people.toml").name
            'people'
        """
        if "://" in os.fspath(path):  # it may hold a password, and is not shown
            raise ParameterError("this is the address of a table.", hint=schema_toml.DRAFTED)
        try:
            content = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise FileError(
                f"schema {os.fspath(path)!r}: {error.strerror}.",
                hint=f"check the path; {schema_toml.DRAFTED}",
            ) from None
        except UnicodeDecodeError:
            raise FileError(
                f"schema {os.fspath(path)!r} is not UTF-8.", hint=f"save it as UTF-8; {schema_toml.DRAFTED}"
            ) from None
        return cls.from_toml(content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema to a file, whole or not at all.

        Parameters:
            path: where it goes; what is there is replaced.

        Raises:
            FileError: the file cannot be written.
        """
        target = Path(path)
        try:
            handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                    file.write(self.to_toml())
                os.chmod(partial, 0o644)
                os.replace(partial, target)
            except BaseException:
                Path(partial).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise FileError(
                f"schema {os.fspath(path)!r}: {error.strerror}.", hint="check the folder."
            ) from None
