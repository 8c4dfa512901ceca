"""What other tools say of a table becomes a schema to be reviewed, and a schema becomes what they read."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

import understudy as us
from understudy.pipeline.draft import DRAFTED
from understudy.presets import town

ROOT = Path(__file__).parents[2]
SCHEMA = r"""
[table]
name = "stays"
rows = 5000
unit = "patient"
max_records_per_unit = 3
delimiter = ";"

[columns.patient]
type = "id"
pattern = 'PT-\d{6}'

[columns.sex]
type = "category"
values = ["F", "M"]
missing = false
description = "as in the passport"

[columns.grade]
type = "category"
values = ["low", "high"]
ordered = true
outside = "other"

[columns.code]
type = "category"
values = [1, 2, 3]

[columns.city]
type = "category"
discover = true

[columns.age]
type = "integer"
min = 0
max = 120
bins = 12
missing = ["-9"]

[columns.paid]
type = "number"
min = 0.5
max = 99.5
special = [0.0]
precision = 0.5

[columns.came]
type = "date"
min = 2024-01-01
max = 2024-12-31
every = "month"
format = "%d/%m/%Y"

[columns.left]
type = "date"
min = 2024-01-01
max = 2025-12-31
format = "%d/%m/%Y"

[columns.seen]
type = "datetime"
min = 2024-01-01T00:00:00Z
max = 2024-12-31T23:59:59Z

[columns.opens]
type = "time"
min = 06:00:00
max = 22:00:00

[columns.smokes]
type = "boolean"
format = ["Y", "N"]
missing = true

[columns.name]
type = "fake"
kind = "name"

[columns.answer]
type = "untyped"

[[constraints]]
order = "came <= left"
"""


def bare(schema: us.Schema) -> str:
    """The schema's text without the comment that asks for a review."""
    return "\n".join(line for line in schema.to_toml().splitlines() if not line.startswith("#")).strip()


@pytest.mark.parametrize("form", ["frictionless", "csvw"])
@pytest.mark.parametrize("text", [SCHEMA, town.SCHEMA], ids=["stays", "town"])
def test_a_schema_comes_back_from_another_form(form: str, text: str) -> None:
    schema = us.Schema.from_toml(text)
    document = json.loads(json.dumps(us.export_schema(schema, form)))
    again = us.import_schema(document, form)
    assert bare(again) == bare(schema)
    assert bare(us.import_schema(document)) == bare(schema)  # the form is told from the document


@pytest.mark.parametrize("form", ["frictionless", "csvw", "sdv"])
def test_an_imported_schema_is_reviewed_like_a_draft(form: str) -> None:
    said: dict[str, Any] = {
        "frictionless": {"fields": [{"name": "age", "type": "integer"}]},
        "csvw": {"url": "a.csv", "tableSchema": {"columns": [{"name": "age", "datatype": "integer"}]}},
        "sdv": {"columns": {"age": {"sdtype": "numerical", "computer_representation": "Int64"}}},
    }[form]
    found = us.import_schema(said, form, name="people")
    assert DRAFTED in found.comment and found.name == "people"  # so that `fit` warns, as of a draft
    assert found["age"] == us.Integer() and found.unlearned == {"age": ("min", "max")}
    assert us.Schema.from_toml(found.to_toml()) == found


def test_a_frictionless_package_is_read_as_people_write_it() -> None:
    field = {
        "id": {"name": "id", "type": "integer"},
        "sex": {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
        "level": {"name": "level", "type": "string", "categories": [{"value": "a"}, {"value": "b"}]},
        "mail": {"name": "mail", "type": "string", "format": "email"},
        "year": {"name": "year", "type": "year", "constraints": {"minimum": "1900", "maximum": 2020}},
        "born": {
            "name": "born",
            "type": "date",
            "format": "%d.%m.%Y",
            "constraints": {"minimum": "1950-01-01"},
        },
        "odd": {"name": "odd", "type": "date", "format": "%Q"},
        "shape": {"name": "shape", "type": "geojson"},
        "any": {"name": "any", "type": "any"},
        "member": {"name": "member", "type": "boolean", "trueValues": ["X"], "falseValues": ["-"]},
    }
    schema = {"fields": list(field.values()), "primaryKey": "id", "missingValues": ["", "NA"]}
    package = {"resources": [{"name": "notes"}, {"name": "people", "schema": schema}]}
    found = us.import_schema(package)
    assert found.name == "people" and "shape" in found.comment and "shape" not in found.columns
    assert isinstance(found["id"], us.Id) and isinstance(found["mail"], us.Fake)
    assert isinstance(found["sex"], us.Category) and found["sex"].values == ("f", "m")
    assert found["sex"].missing is False and found["level"].missing == ("NA",)
    assert (found["year"].min, found["year"].max) == (1900, 2020)  # type: ignore[attr-defined]
    assert found["born"].format == "%d.%m.%Y" and str(found["born"].min) == "1950-01-01"  # type: ignore[attr-defined]
    assert found["odd"].format is None and "%Q" in found["odd"].comment  # type: ignore[attr-defined]
    assert found["any"].type == "untyped" and found["member"].format == ("X", "-")  # type: ignore[attr-defined]


def test_csvw_says_whose_records_and_how_many() -> None:
    table = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": "data/visits.csv",
        "csvw-eo:maxContributions": 4,
        "publicLength": 900,
        "dialect": {"delimiter": "\t", "quoteChar": '"'},
        "tableSchema": {
            "columns": [
                {"name": "person", "datatype": "string", "privacyId": True},
                {
                    "titles": {"en": ["Age in years"]},
                    "name": "age",
                    "datatype": {"base": "int", "minimum": "0", "maximum": 99},
                },
                {"name": "cost", "datatype": "decimal", "minimum": 0, "maximum": 5.5, "null": ["", "-"]},
                {"name": "seen", "datatype": {"base": "date", "format": "d/M/yyyy"}},
                {"name": "ward", "datatype": "string", "keyValues": ["a", "b"], "exhaustiveKeys": True},
                {"name": "kind", "datatype": "string", "keyValues": ["a", "b"]},
                {"name": "ok", "datatype": {"base": "boolean", "format": "Y|N"}, "required": True},
                {"name": "blob", "datatype": "json"},
                {"name": "row", "virtual": True},
            ]
        },
    }
    found = us.import_schema(table)
    assert (found.name, found.unit, found.max_records_per_unit, found.rows) == ("visits", "person", 4, 900)
    assert found.delimiter == "\t" and list(found.columns) == [
        "person", "Age in years", "cost", "seen", "ward", "kind", "ok",
    ]  # fmt: skip
    assert found["Age in years"] == us.Integer(0, 99) and found["cost"].missing == ("-",)
    assert found["seen"].format == "%-d/%-m/%Y"  # type: ignore[attr-defined]
    assert found["ward"].outside is None and found["kind"].outside == "other"
    assert found["ok"].missing is False and "blob" in found.comment


def test_sdv_metadata_gives_types_and_no_values() -> None:
    columns = {
        "id": {"sdtype": "id", "regex_format": "ID_[0-9]{6}"},
        "age": {"sdtype": "numerical", "computer_representation": "Int64"},
        "paid": {"sdtype": "numerical"},
        "city": {"sdtype": "categorical"},
        "seen": {"sdtype": "datetime", "datetime_format": "%d %b %Y"},
        "at": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M:%S"},
        "email": {"sdtype": "email", "pii": True},
        "secret": {"sdtype": "credit_card_number", "pii": True},
        "what": {"sdtype": "unknown"},
    }
    metadata = {
        "METADATA_SPEC_VERSION": "V1",
        "tables": {"guests": {"primary_key": "id", "columns": columns}},
    }
    found = us.import_schema(metadata)
    assert found.name == "guests"
    kinds = {name: column.type for name, column in found.columns.items()}
    assert kinds == {
        "id": "id", "age": "integer", "paid": "number", "city": "category", "seen": "date",
        "at": "datetime", "email": "fake", "secret": "id", "what": "untyped",
    }  # fmt: skip
    assert set(found.unlearned) == {"age", "paid", "city", "seen", "at", "what"}


@pytest.mark.parametrize(
    ("said", "form", "wrong"),
    [
        ({"fields": [{"type": "integer"}]}, "frictionless", "no name"),
        ({"fields": {"a": 1}}, "frictionless", "not a list"),
        ({"fields": []}, "frictionless", "describes no column"),
        ({"fields": [{"name": "a"}, {"name": "a"}]}, "frictionless", "stands twice"),
        (
            {"fields": [{"name": "a", "type": "integer", "constraints": {"minimum": "x"}}]},
            "frictionless",
            "not a number",
        ),
        (
            {"fields": [{"name": "a", "type": "date", "constraints": {"minimum": "x"}}]},
            "frictionless",
            "no date",
        ),
        ({"tables": [{"url": "a.csv"}, {"url": "b.csv"}]}, "csvw", "2 tables"),
        ({"tables": {"a": {}, "b": {}}}, "sdv", "2 tables"),
        ({"columns": {"a": 5}}, "sdv", "not an object"),
    ],
)
def test_a_statement_that_cannot_be_used_is_refused_by_name(
    said: dict[str, Any], form: str, wrong: str
) -> None:
    with pytest.raises(us.UnderstudyError, match=wrong):
        us.import_schema(said, form)


def test_what_is_no_statement_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{")
    for source, wrong in (
        ({}, "no form"),
        (tmp_path / "no.json", "not JSON"),
        (tmp_path / "gone.json", "No such"),
    ):
        with pytest.raises(us.UnderstudyError, match=wrong):
            us.import_schema(source)
    with pytest.raises(us.UnderstudyError, match="no form"):
        us.export_schema(us.Schema({"a": us.Integer(0, 1)}), "yaml")


# --- as the reference libraries see it -------------------------------------------------------------------------


def test_frictionless_reads_what_is_written() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("frictionless")
        for text in (SCHEMA, town.SCHEMA):
            document = us.export_schema(us.Schema.from_toml(text), "frictionless")
            found = library.Schema.from_descriptor(document)
            assert [field.name for field in found.fields] == list(us.Schema.from_toml(text).columns)
            assert library.Schema.metadata_validate(document) is None or not list(
                library.Schema.metadata_validate(document)
            )


def test_csvw_reads_what_is_written(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("csvw")
        document = us.export_schema(us.Schema.from_toml(SCHEMA), "csvw")
        (tmp_path / "stays.csv-metadata.json").write_text(json.dumps(document))
        found = library.Table.from_file(tmp_path / "stays.csv-metadata.json")
        columns = found.tableSchema.columns
        assert [str(column.titles) for column in columns] and columns[5].datatype.maximum == 120
        assert str(columns[7].datatype.minimum).startswith("2024-01-01")


def test_a_statement_is_imported_and_a_schema_exported_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(town.SCHEMA)
    commands = """
export people.toml --as frictionless -o said.json
schema said.json --from frictionless -o again.toml
export --as json-schema -o editor.json
"""
    script = f"""
import sys
from understudy.cli import main
for line in {commands.split(chr(10))!r}:
    if line:
        sys.argv = ["understudy", *line.split()]
        main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "review it before use" in done.stderr and (tmp_path / "again.toml").stat().st_mode & 0o777 == 0o600
    again = us.Schema.load(tmp_path / "again.toml")
    assert bare(again) == bare(us.Schema.from_toml(town.SCHEMA)) and DRAFTED in again.comment
    assert json.loads((tmp_path / "editor.json").read_text())["$defs"]
    assert tomllib.loads((tmp_path / "again.toml").read_text())["table"]["name"] == "town"
