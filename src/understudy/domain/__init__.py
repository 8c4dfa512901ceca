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
from understudy.domain.constraints import (
    Derived,
    Determines,
    Implies,
    MissingTogether,
    Never,
    Order,
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
    "Derived",
    "Determines",
    "Domain",
    "Fake",
    "Id",
    "Implies",
    "Integer",
    "MissingTogether",
    "Never",
    "Number",
    "Order",
    "Schema",
    "Time",
    "Untyped",
]
