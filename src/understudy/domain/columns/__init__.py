"""Column types, a file each, with everything that the house needs to know of them.

    column.py      what every type has: read it first
    registry.py    the one list of types, open to other packages
    category.py, boolean.py, integer.py, number.py, date.py, datetime.py, time.py, untyped.py

Made up rather than learned, in made/: id.py (keys), fake.py (plausible texts); made.py is what both have.
Shared between types: formatted.py (cells in a form of their own, see domain/formats), binned.py (whole numbers and
numbers), moment.py (dates, datetimes and times), calendar.py (dates and datetimes), clock.py (datetimes and times).
What types are made of, in parts/: fields.py (checks of a description), codec.py (values and codes), noisy_counts.py
and ladder.py (learning), sight.py (drafts).
"""

from understudy.domain.columns.boolean import Boolean
from understudy.domain.columns.category import Category
from understudy.domain.columns.column import Column
from understudy.domain.columns.date import Date
from understudy.domain.columns.datetime import Datetime
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.made.fake import Fake
from understudy.domain.columns.made.id import Id
from understudy.domain.columns.number import Number
from understudy.domain.columns.time import Time
from understudy.domain.columns.untyped import Untyped

__all__ = [
    "Boolean",
    "Category",
    "Column",
    "Date",
    "Datetime",
    "Fake",
    "Id",
    "Integer",
    "Number",
    "Time",
    "Untyped",
]
