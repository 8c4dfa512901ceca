"""One suite that every column type passes, from a schema's text to the pages: a new type needs an example here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.data import write
from understudy.domain import (
    Boolean,
    Category,
    Column,
    Date,
    Datetime,
    Fake,
    Id,
    Integer,
    Number,
    Schema,
    Time,
    Untyped,
)
from understudy.domain.arrow_values import plain
from understudy.domain.columns import registry
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.columns.parts.codec import Codec
from understudy.domain.columns.parts.sight import Sight
from understudy.errors import ParameterError, SchemaError
from understudy.evaluation.coding import completed
from understudy.evaluation.comparison import compare
from understudy.evaluation.comparison_page import comparison_page
from understudy.pipeline import learning
from understudy.pipeline.draft import draft, schema_of_types
from understudy.pipeline.forecast import forecast
from understudy.privacy import Seeded
from understudy.report.release_page import release_page
from understudy.transforms import Encoder

ROWS = 3_000
RNG = np.random.default_rng(12)


@dataclass(frozen=True)
class Example:
    """A column of one type: with all left out that can be, as a person may describe it, and its records.

    `told` is whether a draft, or an Arrow type, can tell the type from the records.
    """

    open: Column
    described: Column
    records: pa.Array
    told: bool = True


def moments(seconds: int, zone: Any = None) -> list[datetime]:
    first = datetime(2020, 3, 1, 9, 30, tzinfo=zone)
    return [first + timedelta(seconds=int(second)) for second in RNG.integers(0, seconds, ROWS)]


@dataclass(frozen=True)
class Weekday(Column):
    """A type that the house does not know, as another package would write it: all in one class."""

    type = "weekday"
    bounded = False
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

    @property
    def count(self) -> int:
        return len(self.names)

    def codec(self) -> Codec[Any]:
        return Category(self.names, missing=self.missing, outside=self.outside).codec()

    def value_labels(self) -> list[str]:
        return list(self.names)

    @classmethod
    def drafted(cls, sight: Sight) -> Weekday | None:
        return cls(missing=sight.missing()) if sight.mostly(cls.names.__contains__) else None


EXAMPLES = {
    "category": Example(
        Category(discover=True),
        Category(("north", "south", "we\nst"), missing=("?",), outside="other"),
        pa.array(RNG.choice(["north", "south", "we\nst", "?"], ROWS, p=[0.5, 0.3, 0.1, 0.1])),
    ),
    "integer": Example(
        Integer(),
        Integer(0, 5_000, bins=20, special=(9_999,), missing=("-1",)),
        pa.array(RNG.integers(0, 4_000, ROWS)),
    ),
    "number": Example(
        Number(),
        Number(0, 80, bins=16, special=(-1,), precision=0.25, outside="missing"),
        pa.array(np.round(RNG.gamma(3.0, 5.0, ROWS), 2)),
    ),
    "date": Example(
        Date(),
        Date(date(2019, 1, 1), date(2021, 12, 31), every="week", outside="other"),
        pa.array([moment.date() for moment in moments(300 * 86_400)]),
    ),
    "datetime": Example(
        Datetime(),
        Datetime(datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC), every="day"),
        pa.array(moments(90 * 86_400, UTC), pa.timestamp("us", "UTC")),
    ),
    "time": Example(
        Time(),
        Time(time(8, 30), time(21, 59, 59), every="minute", missing=("00:00",)),
        pa.array([moment.time() for moment in moments(9 * 3_600)], pa.time64("us")),
    ),
    "boolean": Example(
        Boolean(),
        Boolean(missing=True, description="as asked in question 12"),
        pa.array([bool(n) if n < 2 else None for n in RNG.integers(0, 3, ROWS)]),
    ),
    "untyped": Example(
        Untyped(),
        Untyped(missing=("-",), comment="nobody knows"),
        pa.array([str(n) for n in RNG.integers(0, 60, ROWS)]),
        told=False,
    ),
    "weekday": Example(
        Weekday(), Weekday(missing=True, ordered=False), pa.array(RNG.choice(Weekday.names, ROWS))
    ),
}
# Columns that are made up: records that a draft takes for them, and columns as a person may describe them.
MADE = {
    "id": (
        pa.array([f"PT-{n:06d}" for n in range(ROWS)]),
        [Id(), Id(kind="uuid"), Id(pattern=r"[A-Z]{3}-\d{5}")],
    ),
    "fake": (
        pa.array([f"someone{n}@example.org" for n in range(ROWS)]),
        [Fake("name"), Fake("city", "de_DE")],
    ),
}


def written(column: Column, values: pa.Array) -> pa.Array:
    """The values as the column's format writes them."""
    assert isinstance(column, FormattedColumn) and column.form is not None
    return column.form.write(values)


DAYS = pa.array([moment.date() for moment in moments(300 * 86_400)])
SECONDS = pa.array(moments(300 * 86_400), pa.timestamp("us"))
AMOUNTS = pa.array(np.round(RNG.normal(900.0, 2_000.0, ROWS), 2))
# Columns whose cells are in a form of their own pass the same suite.
FORMATS = {
    **{
        form: Example(
            Date(format=form),
            Date(date(2019, 1, 1), date(2021, 12, 31), format=form),
            written(Date(format=form), DAYS),
        )
        for form in ("%d/%m/%Y", "%-m/%-d/%Y", "%d.%m.%y", "%Y%m%d", "%b %-d, %Y")
    },
    **{
        form: Example(
            Datetime(format=form),
            Datetime(datetime(2020, 1, 1), datetime(2021, 1, 1), "day", format=form),
            written(Datetime(format=form), SECONDS),
        )
        for form in ("%Y-%m-%d %H:%M", "%m/%d/%Y %I:%M %p")
    },
    "epoch seconds": Example(
        Datetime(format="epoch seconds"),
        Datetime(datetime(2020, 1, 1), datetime(2021, 1, 1), "day", format="epoch seconds"),
        written(Datetime(format="epoch seconds"), SECONDS).cast(pa.string()),
        told=False,  # the column's name says nothing of a time
    ),
    "%I:%M %p": Example(
        Time(format="%I:%M %p"),
        Time(time(8, 30), time(21, 59, 59), format="%I:%M %p"),
        written(
            Time(format="%I:%M %p"),
            pa.array([moment.time() for moment in moments(9 * 3_600)], pa.time64("us")),
        ),
    ),
    **{
        form: Example(
            Number(format=form),
            Number(-9_000, 9_000, bins=16, special=(0,), format=form, missing=("n/a",)),
            written(Number(format=form), AMOUNTS),
        )
        for form in ("-$1,234.50", "(1,234.50)", "1.234,50 €", "0,50", "0.50%")
    },
    **{
        form: Example(
            Integer(format=form),
            Integer(-9_000, 9_000, bins=16, format=form),
            written(Integer(format=form), AMOUNTS.cast(pa.int64(), safe=False)),
        )
        for form in ("1,234", "1 234")
    },
    "0000": Example(
        Integer(format="0000"),
        Integer(0, 9_999, 20, format="0000"),
        written(Integer(format="0000"), pa.array(RNG.integers(0, 9_999, ROWS))),
    ),
    "Y/N": Example(
        Boolean(format=("Y", "N")),
        Boolean(format=("Y", "N"), missing=("?",)),
        pa.array(RNG.choice(["Y", "N", "?"], ROWS)),
    ),
    "X/": Example(
        Boolean(format=("X", "")), Boolean(format=("x", "")), pa.array(RNG.choice(["X", None], ROWS).tolist())
    ),
}
# Cells of every sort; whatever a type makes of one, it is a code, and the same beside any others.
CELLS = [
    *("", " ", "x", "-1", "0", "007", "12.5", "1e400", "nan", "true", "N", "08:30", "24:00", "9:5", "?"),
    *("2020-02-30", "2020-06-01", "2020-06-01T10:00:00Z", "0001-01-01", "9999-12-31 23:59:59", "Mon", None),
]
STRANGE = {
    "texts": pa.array(CELLS),
    "bytes": pa.array([cell and cell.encode() for cell in CELLS], pa.binary()),
    "integers": pa.array([-(2**63), -1, 0, 1, 9_999, 2**63 - 1, None]),
    "numbers": pa.array([-np.inf, -1.0, 0.25, 1e300, np.nan, np.inf, None]),
    "dates": pa.array([-(2**31), 0, 18_400, 2**31 - 1, None], pa.int32()).view(pa.date32()),
    "moments": pa.array([-(2**63), 0, 1_590_000_000_000_000_000, 2**63 - 1, None]).view(pa.timestamp("ns")),
    "seconds of a day": pa.array([-1, 0, 30_600, 86_400, None], pa.int32()).view(pa.time32("s")),
    "nanoseconds of a day": pa.array([-1, 0, 30_600 * 10**9 + 1, 2**62, None]).view(pa.time64("ns")),
    "truths": pa.array([True, False, None]),
    "nothing": pa.nulls(3),
}


@pytest.fixture(autouse=True)
def _with_a_strangers_type(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "BUILT_IN", (*registry.BUILT_IN, Weekday))
    registry.column_types.cache_clear()
    yield
    registry.column_types.cache_clear()


@pytest.fixture(params={**EXAMPLES, **FORMATS}, name="example")
def _example(request: pytest.FixtureRequest) -> Example:
    return {**EXAMPLES, **FORMATS}[request.param]


def table(example: Example) -> pa.Table:
    return pa.table({"c": example.records})


def schema_of(column: Column) -> Schema:
    return Schema({"c": column}, name="t")


def complete(example: Example) -> list[Column]:
    """The columns of the example in which nothing is left to learn."""
    known = completed(schema_of(example.open), table(example))["c"]
    return [column for column in (example.described, known) if not column.unlearned]


def test_every_type_has_an_example() -> None:
    assert EXAMPLES.keys() | MADE.keys() == registry.column_types().keys()
    for name, example in EXAMPLES.items():
        assert example.open.type == example.described.type == name


def test_a_schema_file_says_all_of_a_column(example: Example) -> None:
    for column in (example.open, example.described, *complete(example)):
        schema = schema_of(column)
        assert Schema.from_toml(schema.to_toml()) == schema
        assert {field.name for field in fields(column)} >= column.fields().keys() - {"type"}
    with pytest.raises(SchemaError, match="'colour' is not known"):
        Schema.from_toml(schema_of(example.open).to_toml() + "colour = 1\n")


def test_every_code_has_a_value_that_is_coded_as_it_and_a_label(example: Example) -> None:
    for column in complete(example):
        codec, codes = column.codec(), np.arange(column.size)
        for within in ("uniform", "midpoint"):
            values = codec.decode(codes, np.random.default_rng(0), within)
            assert values.type == codec.arrow_type and len(values) == column.size
            again = codec.encode(plain(values))
            assert again.dtype == codec.dtype
            assert (again[: column.count] == codes[: column.count]).all()
        labels = column.labels()
        assert len(labels) == column.size and len({*labels}) == column.size and all(labels)
        assert 0 <= column.ranges <= column.count


def test_a_cells_code_is_its_own_whatever_it_holds(example: Example) -> None:
    for column in complete(example):
        for array in STRANGE.values():
            cells = plain(array)
            together = column.codec().encode(cells)
            alone = [column.codec().encode(cells.slice(place, 1))[0] for place in range(len(cells))]
            assert together.tolist() == alone and together.max() < column.size
            assert (together[np.array(cells.is_null())] == column.null_code).all()


def test_what_is_left_out_is_planned_for_and_learned(example: Example, tmp_path: Path) -> None:
    """From learning to pages: a part that a type lacks would be missed only once the budget is spent."""
    schema = schema_of(example.open)
    assert {step for step, columns in learning.steps(schema).items() if columns} == {*example.open.steps}
    assert (
        forecast(schema, us.MST(), us.Budget(5.0, 1e-6), rows=ROWS).learned.keys() == schema.unlearned.keys()
    )
    release = us.fit(
        table(example),
        schema,
        epsilon=5.0,
        delta=1e-6,
        mechanism=us.Independent(),
        ledger=tmp_path / "ledger.db",
        source=Seeded(4),
    )
    learned = release.schema["c"]
    assert not learned.unlearned and (learned.type == example.open.type or not example.told)
    release.save(tmp_path / "t.release")
    opened = us.load(tmp_path / "t.release")
    assert opened.schema == release.schema
    synthetic = opened.sample(200, seed=1)
    assert synthetic["c"].type == example.records.type
    codes = Encoder(opened.schema).forward(synthetic)["c"]
    assert (codes < learned.size).all()
    assert "<h3>c <" in release_page(opened)
    found = compare(table(example), synthetic, schema)
    assert found.strangers["synthetic"] < 20  # a value or two beyond those of the real records
    assert comparison_page(found, real="real", synthetic="synthetic")


def test_a_described_column_survives_a_text_file(example: Example, tmp_path: Path) -> None:
    column = complete(example)[0]
    write(table(example), tmp_path / "t.csv")
    release = us.fit(
        tmp_path / "t.csv",
        schema_of(column),
        epsilon=5.0,
        delta=1e-6,
        mechanism=us.Independent(),
        ledger=tmp_path / "ledger.db",
        source=Seeded(4),
    )
    in_memory = Encoder(schema_of(column)).forward(table(example))["c"]
    counts = np.bincount(in_memory, minlength=column.size)
    assert np.abs(release.marginal(("c",)).counts - counts).max() < 60  # the noise, and not another reading
    write(release.sample(50, seed=2), tmp_path / "synthetic.csv")
    assert (tmp_path / "synthetic.csv").stat().st_size > 50


def test_what_is_left_out_is_read_from_records_where_nothing_is_protected(example: Example) -> None:
    for records in (example.records, example.records.slice(0, 1), example.records.slice(0, 0), pa.nulls(2)):
        schema = completed(schema_of(example.open), pa.table({"c": records}))
        assert not schema.unlearned and Schema.from_toml(schema.to_toml()) == schema
        assert len(Encoder(schema).forward(pa.table({"c": records}))["c"]) == len(records)


def test_a_draft_knows_the_type_by_its_records(example: Example) -> None:
    drafted = draft(table(example), name="t")
    assert Schema.from_toml(drafted.to_toml()) == drafted
    assert (drafted["c"].type == example.open.type) == example.told
    assert drafted["c"].fields().get("format") == example.open.fields().get("format") or not example.told
    by_type = schema_of_types(table(example).schema, name="t", untyped=() if example.told else ["c"])["c"]
    assert by_type.type == example.open.type or pa.types.is_string(example.records.type)


@pytest.mark.parametrize("kind", MADE)
def test_a_made_up_column_comes_back_and_its_records_do_not(kind: str, tmp_path: Path) -> None:
    records, columns = MADE[kind]
    real = pa.table({"c": records, "sex": pa.array(RNG.choice(["F", "M"], ROWS))})
    assert draft(real, name="t")["c"].type == kind
    for column in columns:
        schema = Schema({"c": column, "sex": Category(("F", "M"))}, name="t")
        assert Schema.from_toml(schema.to_toml()) == schema
        assert list(schema.domain()) == ["sex"] and not schema.unlearned
        release = us.fit(
            real, schema, epsilon=5.0, delta=1e-6, ledger=tmp_path / "ledger.db", source=Seeded(4)
        )
        release.save(tmp_path / "t.release")
        synthetic = us.load(tmp_path / "t.release").sample(400, seed=1)
        assert synthetic.column_names == ["c", "sex"] and synthetic["c"].null_count == 0
        assert not {*synthetic["c"].to_pylist()} & {*records.to_pylist()}
        assert release_page(release) and compare(real, synthetic, schema).columns[0].clique == ("sex",)


LACKING = {
    "a codec": (Date, "codec"),
    "labels": (Category, "value_labels"),
    "a grid": (Datetime, "grid"),
    "learned bounds": (Date, "with_bounds"),
    "fine cells": (Number, "fine"),
    "learned bins": (Integer, "with_bins"),
    "learned values": (Category, "with_values"),
    "a completion": (Integer, "completed"),
}


@pytest.mark.parametrize(("kind", "part"), LACKING.values(), ids=LACKING)
def test_a_type_without_a_part_is_refused_before_anything_is_spent(kind: type[Column], part: str) -> None:
    halved = type("Halved", (kind,), {"type": "halved", part: getattr(Column, part)})
    if part in ("codec", "value_labels"):
        halved.__abstractmethods__ = frozenset({part})
    with pytest.raises(ParameterError, match=f"'halved' lacks {part}"):
        registry.registered([Category, halved])


def test_two_types_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="two column types are called 'date'"):
        registry.registered([Date, type("Other", (Date,), {})])
    with pytest.raises(ParameterError, match="is no column type"):
        registry.registered([int])  # type: ignore[list-item]


def test_what_no_step_learns_is_refused_before_the_charge() -> None:
    forgetful = type("Forgetful", (Weekday,), {"unlearned": ("first",)})
    with pytest.raises(SchemaError, match="'c': first cannot be learned"):
        learning.groups(schema_of(forgetful()))
