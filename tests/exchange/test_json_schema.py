"""Editors complete schema files by a JSON Schema that knows every type and field, and refuses what we refuse."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import understudy as us
from understudy.cli import understudy
from understudy.domain.columns.registry import BUILT_IN
from understudy.errors import UnderstudyError
from understudy.exchange import json_schema
from understudy.presets import town

ROOT = Path(__file__).parents[2]
TOML = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def as_json(text: str) -> Any:
    """A schema file as an editor checks it: dates and times are texts."""
    return json.loads(
        json.dumps(
            tomllib.loads(text),
            default=lambda value: value.isoformat() if isinstance(value, date | time) else value,
        )
    )


def found_schemas() -> Iterator[tuple[str, str]]:
    """Every schema of the tests and of the documents that we read ourselves."""
    yield "town", town.SCHEMA
    for file in sorted((ROOT / "tests").rglob("*.toml")):
        yield file.name, file.read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, text in enumerate(TOML.findall(page.read_text())):
            yield f"{page.name} {number}", text


SCHEMAS = [(name, text) for name, text in found_schemas() if "[columns." in text or "[table]" in text]


@pytest.fixture(scope="module")
def check() -> Any:
    library = pytest.importorskip("jsonschema")
    document = json.loads(json_schema.SHIPPED.read_text())
    library.Draft202012Validator.check_schema(document)
    return library.Draft202012Validator(document)


@pytest.mark.parametrize(("name", "text"), SCHEMAS, ids=[name for name, _ in SCHEMAS])
def test_every_schema_that_is_read_here_passes(name: str, text: str, check: Any) -> None:
    faults = [f"{list(error.path)}: {error.message}" for error in check.iter_errors(as_json(text))]
    assert not faults, faults


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.type)
def test_it_knows_every_field_of_every_type(kind: type[us.Column]) -> None:
    document = us.export_schema(None, "json-schema")
    (case,) = [
        case["then"]
        for case in document["$defs"]["column"]["allOf"]
        if case["if"]["properties"]["type"]["const"] == kind.type
    ]
    known = {field.name for field in fields(kind) if field.init and field.name != "comment"}
    assert known <= set(case["properties"])


@pytest.mark.parametrize(
    "text",
    [
        '[columns.age]\ntype = "integer"\nvalues = [1]\n',
        "[columns.age]\nmin = 0\n",
        '[columns.age]\ntype = "integer"\nbins = "ten"\n',
        '[columns.sex]\ntype = "category"\nvalues = []\n',
        '[tables]\nname = "x"\n',
        '[table]\ncolour = "red"\n[columns.a]\ntype = "boolean"\n',
    ],
)
def test_it_refuses_what_we_refuse(text: str, check: Any) -> None:
    with pytest.raises(UnderstudyError):
        us.Schema.from_toml(text)
    assert list(check.iter_errors(as_json(text)))


def test_the_package_holds_the_json_schema_that_is_exported() -> None:
    assert json_schema.SHIPPED.read_text() == json_schema.text(), "run `make references`"
    assert CliRunner().invoke(understudy, ["export", "--as", "json-schema"]).output == json_schema.text()


def drafted(folder: Path, *more: str) -> str:
    """The draft that the command writes of a small table in a folder."""
    (folder / "people.csv").write_text("sex,age\nF,30\nM,41\n")
    done = CliRunner().invoke(
        understudy,
        ["schema", str(folder / "people.csv"), "-o", str(folder / "people.toml"), "--overwrite", *more],
    )
    assert done.exit_code == 0, done.output
    return (folder / "people.toml").read_text()


def test_a_draft_names_the_json_schema_that_lies_beside_it(tmp_path: Path, check: Any) -> None:
    draft = drafted(tmp_path)
    directive, _, rest = draft.partition("\n")
    named = re.fullmatch(r"#:schema (\./\S+)", directive)  # as Taplo reads it
    assert named and (tmp_path / named[1]).read_text() == json_schema.text()
    assert not list(check.iter_errors(as_json(draft)))
    assert us.Schema.from_toml(draft) == us.Schema.from_toml(rest)  # no part of the schema, nor of a release
    assert drafted(tmp_path) == draft  # and once more, over the one that is there


def test_a_draft_leaves_other_files_alone(tmp_path: Path) -> None:
    assert not drafted(tmp_path, "--no-editor").startswith("#:") and len(list(tmp_path.iterdir())) == 2
    other = tmp_path / json_schema.NAME
    other.write_text("{}")
    assert not drafted(tmp_path).startswith("#:") and other.read_text() == "{}"
