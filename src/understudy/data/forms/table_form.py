"""The form of a table, as its columns were declared: all that is kept of it beyond the schema, and public.

Nothing here was read off a cell. Of a column of categories only that it is one is kept, and whether it was declared
to have an order: its list of values is data (see docs/privacy.md, "The form of a table").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import pyarrow as pa

from understudy.data.forms.pandas_notes import words_of
from understudy.data.forms.type_text import kept_type, type_of_text, type_text
from understudy.domain.dialect import Dialect

# How a library has a column where its Arrow type alone does not say.
CATEGORIES = ("category", "ordered category", "Categorical", "Enum")
OWN = (
    *("", "numpy", "nullable", "arrow", "object", "text object", "Object", "Int128", "UInt128"),
    *("str python", "str pyarrow", "string python", "string pyarrow", *CATEGORIES),
)
PERIOD = re.compile(r"period of ([0-9A-Za-z-]{1,16})", re.ASCII)  # and of which frequency
NUMBER = re.compile("[0-9]{1,18}", re.ASCII)  # that a column has for a name
MOST_TEXT = 200  # letters of a word, a type or a kind

UNSAID = Dialect()


@dataclass(frozen=True)
class ColumnForm:
    """A column as it was declared: its Arrow type (None: none, as in a text file), and a library's word for it."""

    type: pa.DataType | None = None
    own: str = ""

    @classmethod
    def of(cls, kind: pa.DataType, own: str = "") -> Self:
        """The form of a column of this type."""
        return cls(kept_type(kind), own)


@dataclass(frozen=True)
class TableForm:
    """Which kind of table it is, its columns in their order, and how it is written where it is text (`dialect`).

    `numbered` where the names of all columns are whole numbers, as pandas numbers those that nobody named.
    """

    kind: str = "arrow"
    columns: Mapping[str, ColumnForm] = field(default_factory=dict)
    dialect: Dialect = UNSAID
    numbered: bool = False

    @classmethod
    def of_types(
        cls,
        types: pa.Schema,
        kind: str = "arrow",
        untyped: Collection[str] = (),
        dialect: Dialect | None = None,
    ) -> Self:
        """The form of a table whose columns have these types, but for those that have none."""
        words = words_of(types)
        forms = {f.name: ColumnForm.of(f.type, words.get(f.name, "")) for f in types}
        return cls(kind, forms | dict.fromkeys(untyped, ColumnForm()), dialect or UNSAID)

    @property
    def words(self) -> dict[str, str]:
        """A library's word for each column."""
        return {name: form.own for name, form in self.columns.items()}

    def only(self, names: Collection[str]) -> Self:
        """The form of some columns."""
        return replace(self, columns={name: form for name, form in self.columns.items() if name in names})

    def to_dict(self) -> dict[str, Any]:
        """The form as JSON has it."""
        columns = [
            [name, None if form.type is None else type_text(form.type), form.own]
            for name, form in self.columns.items()
        ]
        numbered = {"numbered": True} if self.numbered else {}
        return {"kind": self.kind, "columns": columns, "dialect": self.dialect.to_dict(), **numbered}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The form that `to_dict` wrote; anything else is a ValueError or a TypeError."""
        columns: dict[str, ColumnForm] = {}
        for name, kind, own in said["columns"]:
            if not isinstance(name, str) or name in columns:
                raise ValueError("no column of a form")
            if own not in OWN and not PERIOD.fullmatch(own):
                raise ValueError("no word of a form")
            columns[name] = ColumnForm(None if kind is None else type_of_text(_short(kind)), own)
        numbered = said.get("numbered") is True and all(map(NUMBER.fullmatch, columns))
        return cls(_short(said["kind"]), columns, Dialect.from_dict(said["dialect"]), numbered)


NO_FORM = TableForm()  # of releases that earlier versions wrote


def _short(text: Any) -> str:
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise ValueError("no word of a form")
    return text
