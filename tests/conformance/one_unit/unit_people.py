"""The records that both worlds hold, and the settings in which they are asked about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from unit_worlds import Setting

from understudy.domain import Category, Schema
from understudy.transforms.split import Floor, Split

Row = dict[str, Any]

COMPLETE = Schema.from_toml("""
[table]
name = "people"
[columns.age]
type = "integer"
min = 0
max = 99
[columns.zip]
type = "category"
values = ["00123", "01234", "10000", "1"]
[columns.town]
type = "category"
values = ["Aa", "1", "true", "0.5"]
[columns.grade]
type = "category"
values = [1, 2, 3]
[columns.pay]
type = "number"
min = 0
max = 1000
bins = 8
special = [0]
outside = "other"
[columns.points]
type = "integer"
min = 0
max = 999
bins = 10
[columns.born]
type = "date"
min = 1930-01-01
max = 2020-12-31
every = "year"
[columns.seen]
type = "datetime"
min = 2020-01-01T00:00:00
max = 2024-12-31T23:59:59
every = "month"
[columns.member]
type = "boolean"
[[constraints]]
order = "born <= seen"
""")
LEARNED = Schema.from_toml("""
[table]
name = "people"
[columns.age]
type = "integer"
[columns.zip]
type = "category"
discover = true
[columns.town]
type = "category"
discover = true
[columns.grade]
type = "category"
discover = true
[columns.pay]
type = "number"
[columns.points]
type = "integer"
min = 0
max = 999
[columns.born]
type = "date"
[columns.seen]
type = "datetime"
[columns.member]
type = "boolean"
[[constraints]]
order = "age <= points"
""")
OPEN = replace(COMPLETE, columns={name: Category(discover=True) for name in COMPLETE.columns}, constraints=())
TRANSFORMS = (
    Floor("age", divisor=5, cap=100, special=()),
    Split("points", ("hundreds", "digits"), divisor=100, cap=1000, special=(9998,)),
)
DERIVED = COMPLETE
LEARNED_DERIVED = replace(LEARNED, constraints=())
for _transform in TRANSFORMS:
    DERIVED, LEARNED_DERIVED = _transform.describe(DERIVED), _transform.describe(LEARNED_DERIVED)

# A new way to ask joins here.
SETTINGS: dict[str, Setting] = {
    "complete": Setting(COMPLETE),
    "learned": Setting(LEARNED),
    "open": Setting(OPEN),
    "no schema": Setting(None),
    "transforms": Setting(DERIVED, TRANSFORMS),
    "learned, transforms": Setting(LEARNED_DERIVED, TRANSFORMS),
    "no schema, transforms": Setting(None, TRANSFORMS),
    "unit, 1": Setting(COMPLETE, unit="who"),
    "unit, 3": Setting(COMPLETE, unit="who", most=3),
    "unit, learned": Setting(COMPLETE, unit="who", most="learn"),
    "learned, unit, 1": Setting(replace(LEARNED, constraints=()), unit="who", check=False),
    "open, unit, 3": Setting(OPEN, unit="who", most=3, check=False),
    "transforms, unit, 3": Setting(DERIVED, TRANSFORMS, unit="who", most=3),
    "no schema, unit, 1": Setting(None, unit="who", check=False),
}


def people() -> list[Row]:
    """Records of 24 units, one to five each, no two of a unit alike: another choice among them moves every count."""
    rows: list[Row] = []
    for unit in range(24):
        for number in range(1 + unit % 5):
            place = 7 * unit + 13 * number
            rows.append(
                {
                    "who": f"u{unit:02}",
                    "age": 5 + place % 90,
                    "zip": ["00123", "01234", "10000", "1"][(unit + number) % 4],
                    "town": ["Aa", "1", "true", "0.5"][(unit // 2 + number) % 4],
                    "grade": 1 + (unit + 2 * number) % 3,
                    "pay": [0.0, 12.5, 400.0, 37.25, 999.0][(unit + number) % 5],
                    "points": (31 * place) % 1000,
                    "born": date(1935, 1, 1) + timedelta(days=311 * (place % 100)),
                    "seen": datetime(2020, 1, 1) + timedelta(hours=211 * (place % 200)),
                    "member": number % 2 == unit % 2,
                }
            )
    # Not by unit: which of a unit's records comes first in a file says little of its neighbours there.
    return [rows[(place * 31) % len(rows)] for place in range(len(rows))]
