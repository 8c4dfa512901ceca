"""Names, sizes and meaning of columns."""

from understudy.domain.category import Boolean, Category
from understudy.domain.column import Column
from understudy.domain.domain import Clique, Domain
from understudy.domain.moment import Date, Datetime
from understudy.domain.number import Integer, Number
from understudy.domain.schema import Schema
from understudy.domain.untyped import Untyped

__all__ = [
    "Boolean",
    "Category",
    "Clique",
    "Column",
    "Date",
    "Datetime",
    "Domain",
    "Integer",
    "Number",
    "Schema",
    "Untyped",
]
