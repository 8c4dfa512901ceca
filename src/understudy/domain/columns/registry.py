"""Column types by name: the one list that schemas, drafts and learning read.

A new type is one file in this folder and one line of `BUILT_IN`. Another package adds its own by an entry point:

    [project.entry-points."understudy.columns"]
    mine = "my_package.column:Mine"        # a subclass of Column
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache

import pyarrow as pa

from understudy.domain.columns.boolean import Boolean
from understudy.domain.columns.category import Category
from understudy.domain.columns.column import NEEDED, Column
from understudy.domain.columns.date import Date
from understudy.domain.columns.datetime import Datetime
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.made.fake import Fake
from understudy.domain.columns.made.id import Id
from understudy.domain.columns.number import Number
from understudy.domain.columns.parts.sight import Sight
from understudy.domain.columns.time import Time
from understudy.domain.columns.untyped import Untyped
from understudy.errors import ParameterError
from understudy.plugins import offered

GROUP = "understudy.columns"  # of entry points

# A line a type: nothing else in the house lists them.
BUILT_IN: tuple[type[Column], ...] = (
    Category,
    Integer,
    Number,
    Date,
    Datetime,
    Time,
    Boolean,
    Untyped,
    Id,
    Fake,
)


@cache
def column_types() -> dict[str, type[Column]]:
    """Every column type there is, those of the house first, then those of other packages by name."""
    return registered([*BUILT_IN, *(kind for _, kind in offered(GROUP, type))])


def registered(kinds: Iterable[type[Column]]) -> dict[str, type[Column]]:
    """These types by name, once each has all the parts that it needs."""
    found: dict[str, type[Column]] = {}
    for kind in kinds:
        check_type(kind)
        if found.setdefault(kind.type, kind) is not kind:
            raise ParameterError(
                f"two column types are called {kind.type!r}.", hint="uninstall one of the packages."
            )
    return found


def check_type(kind: type[Column]) -> None:
    """Refuse a type that lacks a part which the house would ask for, perhaps once budget has been spent."""
    named = (
        isinstance(kind, type) and issubclass(kind, Column) and isinstance(getattr(kind, "type", None), str)
    )
    if not named:
        raise ParameterError(
            f"{kind!r} is no column type.", hint="make it a subclass of Column with a `type`."
        )
    parts = [part for step in kind.learns for part in (*NEEDED[step], "completed")]
    lacking = [part for part in parts if getattr(kind, part, None) is getattr(Column, part, None)]
    if inspect.isabstract(kind) or lacking:
        parts = sorted({*lacking, *getattr(kind, "__abstractmethods__", ())})
        raise ParameterError(
            f"column type {kind.type!r} lacks {', '.join(parts)}.", hint="see domain/columns/column.py."
        )


def of_arrow(kind: pa.DataType) -> Column:
    """The column that values of an Arrow type are by their type alone: a category where no type knows them."""
    if pa.types.is_dictionary(kind):
        return of_arrow(kind.value_type)
    offered = (known.of_arrow(kind) for known in column_types().values())
    return next((column for column in offered if column is not None), Category(discover=True))


def drafted(sight: Sight) -> Column:
    """The column that its records suggest to a person: a category where no type knows them.

    What is better made up is seen first: keys would pass for numbers, and names for categories.
    """
    kinds = sorted(column_types().values(), key=lambda known: known.modelled)
    offered = (known.drafted(sight) for known in kinds)
    return next((column for column in offered if column is not None), None) or Category.of_texts(sight)
