"""Names, sizes and meaning of columns."""

from understudy.domain.columns import (
    Boolean,
    Category,
    Column,
    Date,
    Datetime,
    Fake,
    Id,
    Integer,
    Number,
    Time,
    Untyped,
)
from understudy.domain.domain import Clique, CodeLayout, Domain
from understudy.domain.schema import Schema

__all__ = [
    "Boolean",
    "Category",
    "Clique",
    "CodeLayout",
    "Column",
    "Date",
    "Datetime",
    "Domain",
    "Fake",
    "Id",
    "Integer",
    "Number",
    "Schema",
    "Time",
    "Untyped",
]
