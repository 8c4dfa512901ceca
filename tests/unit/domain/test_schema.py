"""Schemas: what is accepted, what is refused and how, and what a file keeps."""

from __future__ import annotations

import pickle
from datetime import date
from pathlib import Path

import pytest

from understudy.domain import Boolean, Category, Date, Datetime, Domain, Integer, Number, Schema
from understudy.errors import FileError, ParameterError, SchemaError, SizeError, UnderstudyError

PEOPLE = """\
# What we know of people.
# Two lines of it.

[table]
name = "people"
rows = 27_000
unit = "person_id"
max_records_per_unit = 4

[columns.sex]
type = "category"
values = ["M", "F"]

# Learned.
[columns.city]
type = "category"
discover = true

[columns.age]
type = "integer"
min = 0
max = 120
missing = ["N"]

[columns.income]
type = "number"
min = -10_000
max = 1_500_000
bins = 32
special = [0, 9999998]
precision = 1
outside = "clip"

[columns.born]
type = "date"
min = 1900-01-01
max = 2026-12-31
every = "month"

[columns.veteran]
type = "boolean"
description = "as asked in question 12"
"""


def test_every_option_of_the_form_is_understood() -> None:
    schema = Schema.from_toml(PEOPLE)
    assert (schema.name, schema.rows, schema.unit, schema.max_records_per_unit) == (
        "people",
        27_000,
        "person_id",
        4,
    )
    assert schema.columns["sex"] == Category(("M", "F"))
    assert schema.columns["age"] == Integer(min=0, max=120, missing=("N",))
    assert schema.columns["born"] == Date(date(1900, 1, 1), date(2026, 12, 31), "month")
    assert schema.columns["veteran"].description == "as asked in question 12"
    assert schema.columns["income"].special == (0.0, 9999998.0)  # special values may lie outside the bounds
    assert schema.unlearned == {"city": ("values",)}


def test_comments_that_a_draft_made_are_kept_where_they_were() -> None:
    schema = Schema.from_toml(PEOPLE)
    assert schema.comment == "What we know of people.\nTwo lines of it."
    assert schema.columns["city"].comment == "Learned."
    text = schema.to_toml()
    assert "# Learned.\n[columns.city]" in text
    assert text.startswith("# What we know of people.\n# Two lines of it.\n\n[table]")
    assert Schema.from_toml(text).to_toml() == text


def test_a_comment_sign_inside_a_text_is_not_a_comment() -> None:
    text = (
        '[columns.a]\ntype = "boolean"\ndescription = """\n# not a comment\n[columns.b]\n"""\n# but this is\n'
    )
    schema = Schema.from_toml(text)
    assert schema.columns["a"].description == "# not a comment\n[columns.b]\n"
    assert schema.columns["a"].comment == "but this is"


@pytest.mark.parametrize(
    ("column", "left"),
    [
        (Category(discover=True), ("values",)),
        (Category(), ("values",)),
        (Integer(), ("min", "max")),
        (Integer(min=0), ("max",)),
        (Integer(0, 999), ()),
        (Integer(0, 1000), ("bins",)),
        (Integer(0, 1000, bins=10), ()),
        (Number(), ("min", "max", "bins")),
        (Number(0, 1), ("bins",)),
        (Number(edges=(0, 1, 5)), ()),
        (Date(min=date(2000, 1, 1)), ("max",)),
        (Datetime(), ("min", "max")),
        (Boolean(), ()),
    ],
)
def test_what_is_left_out_is_marked_to_be_learned(column: object, left: tuple[str, ...]) -> None:
    assert column.unlearned == left


def test_the_domain_counts_codes_and_leaves_the_identifier_out() -> None:
    schema = Schema(
        {
            "who": Category(discover=True),
            "sex": Category(("M", "F")),
            "age": Integer(0, 120, missing=False),
            "pay": Number(0, 100, bins=4, special=(7,), outside="other"),
            "born": Date(date(2000, 1, 15), date(2001, 1, 1), "month", missing=False),
            "vet": Boolean(missing=False),
        },
        unit="who",
    )
    assert schema.domain() == Domain({"sex": 3, "age": 121, "pay": 7, "born": 13, "vet": 2})
    assert schema.max_records_per_unit == "learn"
    with pytest.raises(SchemaError, match="values is not known yet"):
        Schema({"who": Category(discover=True)}).domain()


def test_a_schema_changes_only_into_a_new_one() -> None:
    schema = Schema.from_toml(PEOPLE)
    learned = schema.replace_column("city", Category(("a", "b")))
    assert schema.unlearned
    assert not learned.unlearned
    assert list(learned.columns) == list(schema.columns)
    with pytest.raises(SchemaError, match="did you mean 'city'"):
        schema.replace_column("ciyt", Boolean())
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_one_is_neither_true_nor_a_float_in_a_list_of_values() -> None:
    assert Category((1, 0)) != Category((True, False))
    assert Category((1, 0)) != Category((1.0, 0.0))
    assert "values = [1.0, 0.0]" in Schema({"a": Category((1.0, 0.0))}).to_toml()


REFUSED = {
    "min 5 is not below max 2": 'type = "integer"\nmin = 5\nmax = 2',
    "min 5 is not below max 5": 'type = "integer"\nmin = 5\nmax = 5',
    "'mni' is not known for type 'integer'. Hint: did you mean 'min'": 'type = "integer"\nmni = 5',
    "type 'integr' is not known": 'type = "integr"',
    "type is left out": "min = 5",
    "bins 0 is less than 1": 'type = "number"\nmin = 0\nmax = 1\nbins = 0',
    "bins 9 is more than the 3 values": 'type = "integer"\nmin = 0\nmax = 2\nbins = 9',
    "values 'a' stands twice": 'type = "category"\nvalues = ["a", "b", "a"]',
    "is an empty list": 'type = "category"\nvalues = []',
    "not of the type of the first value": 'type = "category"\nvalues = [1, "1"]',
    "contradicts a list of values": 'type = "category"\nvalues = [1]\ndiscover = true',
    "min nan is not finite": 'type = "number"\nmin = nan',
    "max inf is not finite": 'type = "number"\nmax = inf',
    "min true is not": 'type = "integer"\nmin = true',
    "min 1.5 is not a whole number": 'type = "integer"\nmin = 1.5',
    "min '0' is not a number": 'type = "number"\nmin = "0"',
    "follows 3.0, but the list must ascend": 'type = "number"\nedges = [1, 3, 3]',
    "too short": 'type = "number"\nedges = [1]',
    "is above max": 'type = "number"\nmax = 2\nedges = [0, 1, 3]',
    "contradicts edges": 'type = "number"\nedges = [0, 1]\nbins = 1',
    "special 0.0 stands twice": 'type = "number"\nspecial = [0, 0.0]',
    "precision 0 is no step between values": 'type = "number"\nprecision = 0',
    "step 0 is less than 1": 'type = "integer"\nstep = 0',
    "is not a date": 'type = "date"\nmin = 2020-01-01T00:00:00',
    "min '2020-01-01' is not a date": 'type = "date"\nmin = "2020-01-01"',
    "one has an offset": 'type = "datetime"\nmin = 2020-01-01T00:00:00Z\nmax = 2021-01-01T00:00:00',
    "every 'fortnight' is not a period": 'type = "date"\nevery = "fortnight"',
    "every 'hour' is not a period": 'type = "date"\nevery = "hour"',
    "outside 'drop' is not a rule": 'type = "integer"\noutside = "drop"',
    "outside 'clip' needs bounds": 'type = "category"\noutside = "clip"',
    "no slot when missing = false": 'type = "integer"\noutside = "missing"\nmissing = false',
    "missing 'N' is not a list": 'type = "integer"\nmissing = "N"',
    "missing 9 is not text": 'type = "integer"\nmissing = [9]',
    "is one of the values as well": 'type = "category"\nvalues = ["a", "N"]\nmissing = ["N"]',
    "missing '9' is one of": 'type = "category"\nvalues = [9.0, 1.0]\nmissing = ["9"]',
    "ordered 1 is neither true nor false": 'type = "boolean"\nordered = 1',
    "description 3 is not text": 'type = "boolean"\ndescription = 3',
    "does not fit in 64 bits": 'type = "integer"\nmax = 99999999999999999999',
    "floating point": 'type = "number"\nmin = 1\nmax = 1.0000000000000002\nbins = 100',
}


@pytest.mark.parametrize("message", REFUSED)
def test_an_impossible_column_is_refused_by_name_field_and_value(message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(f'[columns."the age"]\n{REFUSED[message]}\n')
    assert message in str(caught.value)
    assert "column 'the age': " in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "said",
    [
        'type = "integer"\nmin = 0\nmax = 10000000\nbins = 10000000',
        'type = "number"\nmin = 0\nmax = 1\nbins = 10000000',
        'type = "datetime"\nmin = 2000-01-01T00:00:00\nmax = 2026-01-01T00:00:00\nevery = "second"',
    ],
)
def test_a_column_of_ten_million_codes_is_refused_before_any_data(said: str) -> None:
    with pytest.raises(SizeError, match=r"column 'a': .* codes"):
        Schema.from_toml(f"[columns.a]\n{said}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[table]\nnam = 1", "table: field 'nam' is not known. Hint: did you mean 'name'"),
        ("[table]\nrows = -1", "table: rows -1 is less than 0"),
        ("[table]\nrows = 1.5", "is not a whole number"),
        ("[table]\nname = 3", "name 3 is not text"),
        ("[table]\nmax_records_per_unit = 3", "without unit"),
        ('[table]\nunit = "a"\nmax_records_per_unit = 0', "less than 1"),
        ("x = 1", "section 'x' is not known"),
        ("columns = 3", "'columns' is not a section"),
        ("[columns]\na = 3", "column 'a' is not a section"),
        ('[columns.""]\ntype = "boolean"', "not a non-empty text"),
        ("[columns.a", "not valid TOML"),
    ],
)
def test_an_impossible_file_is_refused_with_the_place_named(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(text)
    assert message in str(caught.value)


def test_a_file_is_written_whole_and_a_missing_one_is_an_operator_error(tmp_path: Path) -> None:
    schema = Schema.from_toml("\ufeff" + PEOPLE)
    schema.save(tmp_path / "people.toml")
    assert Schema.load(tmp_path / "people.toml") == schema
    assert [path.name for path in tmp_path.iterdir()] == ["people.toml"]
    with pytest.raises(FileError, match="No such file"):
        Schema.load(tmp_path / "nobody.toml")
    with pytest.raises(FileError):
        schema.save(tmp_path / "nowhere" / "people.toml")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(FileError, match="UTF-8"):
        Schema.load(tmp_path / "latin.toml")


def test_odd_names_and_texts_survive_a_file() -> None:
    odd = {
        'a "b" [c]': Boolean(),
        "getting in/out": Boolean(description="tab\t, line\nand \\ \x00 \x7f é 漢"),
    }
    schema = Schema(odd, name="x.y")
    assert Schema.from_toml(schema.to_toml()) == schema


def test_edges_may_be_given_inside_bounds() -> None:
    assert Number(0, 10, edges=(2, 5)).cuts == (0, 2, 5, 10)
    assert Number(0, 10, edges=(0, 5, 10)).cuts == (0, 5, 10)
    assert Integer(0, 10, edges=(3,)).starts == (0, 3, 11)
    assert Integer(0, 10, step=5, bins=2).starts == (0, 10, 15)


def test_a_table_that_is_given_for_a_schema_is_told_from_one(tmp_path):
    """By whatever it cannot be read: the way out is the same, and a password in an address is not shown."""
    (tmp_path / "people.csv").write_text("name,age\nAnn,30\n")
    (tmp_path / "people.parquet").write_bytes(b"PAR1\xff\xfe\x00")
    for given in (tmp_path / "people.csv", tmp_path / "people.parquet", tmp_path, tmp_path / "*.csv"):
        with pytest.raises(UnderstudyError, match="`understudy schema TABLE` drafts"):
            Schema.load(given)
    with pytest.raises(ParameterError, match="address of a table") as refused:
        Schema.load("postgresql://ann:hunter2@host/town#people")
    assert "hunter2" not in str(refused.value)
