"""What must hold of how records become counts, on the ways in that need no server: as `pipeline_checks`.

`tests/conformance` asks the same of every way in; `test_ingestion_mutations` shows that such a check finds the bugs.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.csv
from pipeline_checks import SCHEMA, fitted, people

from understudy.data.files.raw_file import open_raw
from understudy.data.files.text.header_line import layout_of
from understudy.domain.columns.category import Category
from understudy.domain.columns.date import Date
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.integer import Integer
from understudy.domain.constraints import Order
from understudy.domain.schema import Schema
from understudy.privacy import Seeded
from understudy.transforms.split import Floor

# -- units -----------------------------------------------------------------------------------------------


def _ways_in(folder: Path, table: pa.Table) -> list[Any]:
    """The table as a frame of Arrow and of pandas, as a file read whole, and as one that is streamed."""
    pyarrow.csv.write_csv(table, folder / "people.csv")
    return [table, table.to_pandas(), folder / "people.csv", f"csv:{folder / 'people.csv'}"]


def check_discovery_is_bounded_by_unit(folder: Path) -> None:
    """A value that one person alone holds, in thousands of records, is not named."""
    values = ["common"] * 900 + ["canary"] * 3000
    table = pa.table({"who": [*range(900), *([900] * 3000)], "b": values})
    schema = Schema({"b": Category(discover=True)}, name="people", unit="who", max_records_per_unit=2)
    for data in _ways_in(folder, table):
        release = fitted(folder, data, schema)
        named = release.schema.to_toml()
        assert "common" in named, "nothing was found at all"
        assert "canary" not in named, "a value of one person was named"


def check_the_order_of_reading_decides_nothing(folder: Path) -> None:
    """Records in another order, as another person's would put them, are the same records to every answer."""
    schema = replace(SCHEMA, unit="who", max_records_per_unit=1)
    rng = np.random.default_rng(0)
    table = pa.table({"who": rng.integers(0, 40, 400), "a": rng.integers(0, 10, 400), "b": ["x", "y"] * 200})
    for way in range(4):
        seen = set()
        for order in (np.arange(400), np.arange(400)[::-1], rng.permutation(400)):
            data = _ways_in(folder, table.take(pa.array(order)))[way]
            release = fitted(folder, data, schema, source=Seeded(5))
            seen.add(tuple(tuple(m.values.reshape(-1)) for m in release.measurements))
        assert len(seen) == 1, "the order in which records are read shows in the answers"


def check_one_unit_moves_counts_by_no_more_than_it_may(folder: Path) -> None:
    """With the same noise, a person of a thousand records moves every answer by no more than the two declared."""
    schema = replace(SCHEMA, unit="who", max_records_per_unit=2)
    others = [number // 3 for number in range(300)]
    codes = [number % 10 for number in range(300)]
    answers: list[list[np.ndarray]] = []
    for more in (0, 1000):
        table = pa.table(
            {
                "who": others + [100] * more,
                "a": codes + [9] * more,
                "b": ["x", "y", "x"] * 100 + ["y"] * more,
            }
        )
        ways = _ways_in(folder, table)
        answers.append(
            [m.values for data in ways for m in fitted(folder, data, schema, source=Seeded(1)).measurements]
        )
    for one, other in zip(*answers, strict=True):
        assert np.abs(one - other).sum() <= 2, "a person moves more records than declared"


# -- one record, anywhere --------------------------------------------------------------------------------

ODD: list[dict[str, Any]] = [
    {"a": 10**18, "b": "y"},
    {"a": -1, "b": "no such value"},
    {"a": None, "b": None},
    {"a": 5, "b": ""},
]


def check_an_odd_record_moves_one_cell_and_nothing_else(folder: Path) -> None:
    """With the same noise, a record that misfits the schema changes one count of each answer by one, and no word."""
    table = people(200).select(["a", "b"])
    base = fitted(folder, table, source=Seeded(2))
    for record in ODD:
        more = pa.concat_tables([table, pa.Table.from_pylist([record], schema=table.schema)])
        release = fitted(folder, more, source=Seeded(2))
        assert release.schema == base.schema, "a record changes the schema"
        assert release.certificate == base.certificate, "a record changes the certificate"
        for one, other in zip(base.measurements, release.measurements, strict=True):
            assert one.values.shape == other.values.shape, "a record changes the shape of an answer"
            assert np.abs(one.values - other.values).sum() <= 1, "a record moves more than one cell by one"


def check_a_difference_is_that_of_one_record(folder: Path) -> None:
    """With the same noise, a record of any two dates in order or not changes one count of each answer by one."""
    bounds = {"min": date(2020, 1, 1), "max": date(2020, 12, 31)}
    schema = Schema(
        {"a": Date(**bounds, every="month"), "b": Date(**bounds)},
        name="people",
        constraints=[Order("a <= b")],
    )
    days = [(date(2020, 3, 1 + place % 20), date(2020, 3, 3 + place % 25)) for place in range(200)]
    odd: list[tuple[Any, Any]] = [
        (date(2020, 1, 1), date(2020, 12, 31)),
        (date(2020, 12, 31), date(2020, 1, 1)),
        (date(1, 1, 1), None),
        (None, date(9999, 12, 31)),
    ]
    for extra in odd:
        answers = []
        for pairs in (days, [*days, extra]):
            first, second = (pa.array(cells, pa.date32()) for cells in zip(*pairs, strict=True))
            release = fitted(folder, pa.table({"a": first, "b": second}), schema, source=Seeded(2))
            assert isinstance(release.schema["b"], Difference), "the order was not coded by differences"
            answers.append([m.values for m in release.measurements])
        for one, two in zip(*answers, strict=True):
            assert one.shape == two.shape and np.abs(one - two).sum() <= 1, "a record recodes others"


ODD_CELLS: list[Any] = ["x", b"\xff", [1], 10**400, float("nan"), np.float32(2.5)]


def check_an_odd_cell_of_a_frame_recodes_no_other(folder: Path) -> None:
    """Whatever stands in one cell of a column of Python objects, the others are read as before."""
    schema = Schema({"b": Category(("1", "true", "2.5", "x"))}, name="people")
    columns: list[list[Any]] = [[1.0, True, 2.5, 1] * 50, [1.0] * 200, [True] * 200]
    for column in columns:
        base, *others = (
            fitted(
                folder, pandas.DataFrame({"b": pandas.Series(cells, dtype=object)}), schema, source=Seeded(2)
            )
            for cells in [column, *([*column, odd] for odd in ODD_CELLS)]
        )
        for other in others:
            assert base.schema == other.schema, "a record changes the schema"
            for one, two in zip(base.measurements, other.measurements, strict=True):
                assert one.values.shape == two.values.shape, "a record recodes others"
                assert np.abs(one.values - two.values).sum() <= 1, "a record recodes others"


def check_no_record_changes_how_a_text_file_is_read(folder: Path) -> None:
    """How a text file is written is told by its header line, whatever its records look like."""

    def told(*records: str) -> tuple[Any, ...]:
        (folder / "told.csv").write_text("\n".join(["a;b, c", *records]) + "\n")
        layout = layout_of(open_raw(folder / "told.csv"))
        return layout.dialect, layout.names

    for record in ("1,2", '"1,2"', "1|2", "'1';'2'"):
        assert told("1;2") == told(*[record] * 60), "records change how all of them are read"


def check_no_byte_of_a_cell_stops_a_run_under_a_declared_encoding(folder: Path) -> None:
    """A byte that stands for no character is one odd cell, in memory and streamed: no error, no other cell."""
    schema = Schema({"b": Category(("x", "y"))}, name="people", encoding="cp1252")
    for way in ("", "csv:"):
        releases = []
        for odd in (b"", b"\x81\x00\xff\n"):
            (folder / "bytes.csv").write_bytes(b"b\n" + b"x\ny\n" * 50 + odd + b"x\n" * 50)
            try:
                releases.append(fitted(folder, f"{way}{folder / 'bytes.csv'}", schema, source=Seeded(2)))
            except UnicodeError:
                raise AssertionError("a byte stops a run") from None
        one, two = (release.measurements[0].values for release in releases)
        assert one.shape == two.shape and np.abs(one - two).sum() <= 1, "a byte recodes others"


def check_an_odd_cell_of_a_file_recodes_no_other(folder: Path) -> None:
    """Whatever stands in one cell of a text file with a schema, transforms or none, the others are read as before."""
    schema = Schema(
        {
            "zip": Category(("00501", "10001", "501", "1e4")),
            "age": Integer(min=0, max=9),
            "pay": Category(("1", "1.0", "2", "x")),
        },
        name="people",
    )
    lines = ["00501,42,1", "10001,77,1.0", "501,15,2"] * 40
    path = folder / "people.csv"
    for transforms, odd in product(((), (Floor("age", 10, 90, ()),)), ("x,x,x", "1e4,,", '"",9e99,2')):
        answers = []
        for extra in ([], [odd]):
            path.write_text("\n".join(["zip,age,pay", *lines, *extra]) + "\n")
            for way in (path, f"csv:{path}"):
                release = fitted(folder, way, schema, source=Seeded(2), transforms=transforms)
                answers.append([m.values for m in release.measurements])
        for one, two in (
            *zip(answers[0], answers[2], strict=True),
            *zip(answers[1], answers[3], strict=True),
        ):
            assert np.abs(one - two).sum() <= 1, "a record recodes others"


def check_discovery_raises_for_no_value(folder: Path) -> None:
    """A value that Python has no date for, or that is larger than a number may be, is passed over or named."""
    schema = Schema({"b": Category(discover=True)}, name="people")
    for kind, common, far in (
        (pa.date32(), 19_000, 2**31 - 1),
        (pa.timestamp("us"), 10**15, 2**63 - 1),
        (pa.timestamp("s", "UTC"), 10**9, -(2**62)),
        (pa.uint64(), 7, 2**64 - 1),
    ):
        plain = pa.uint64() if pa.types.is_unsigned_integer(kind) else pa.int64()
        stored = pa.int32() if pa.types.is_date32(kind) else plain
        column = pa.array([common] * 600 + [far], stored).cast(kind)
        try:
            release = fitted(folder, pa.table({"b": column}), schema)
        except Exception as fault:
            raise AssertionError(f"a run fails by a value of a column of {kind}") from fault
        assert len(release.schema.columns["b"].values) == 1, f"a common value of {kind} was not found"
