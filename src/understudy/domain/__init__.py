"""Names, sizes and meaning of columns."""

from understudy.domain.columns import (
    Boolean,
    Category,
    Column,
    Date,
    Datetime,
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
    "Integer",
    "Number",
    "Schema",
    "Time",
    "Untyped",
]
