"""What the screens say: nothing of the records, everything as text, and edits that write TOML."""

from __future__ import annotations

import tomllib

import pytest
from studio_visit import CANARY, HTML, ORIGIN, Visit

import understudy as us
from understudy.studio.column_editor import SHOWN, ColumnEditor
from understudy.studio.promise_words import BudgetPromise
from understudy.studio.schema_python import python_of


def test_no_page_shows_a_private_value_until_asked(studio: Visit) -> None:
    table = studio.table()
    for address in ("/", f"/tables/{table.id}", f"/tables/{table.id}/plan", "/ledger"):
        page = studio.get(address)
        assert CANARY not in page and "123456" not in page
    shown = studio.post(f"/tables/{table.id}/private", show="yes")
    assert "Confidential" in shown and "town 3" in shown
    assert shown.count("<tr>") == 31, "a header and thirty records"
    assert "town 3" not in studio.post(f"/tables/{table.id}/private", show="no")


def test_a_table_begins_with_its_columns_names_alone(studio: Visit) -> None:
    schema = studio.table().schema
    assert list(schema.columns) == ["sex", "age", "income", "home"]
    assert all(column.type == "untyped" for column in schema.columns.values())


def test_a_schema_beside_a_file_is_taken(studio: Visit) -> None:
    (studio.here.start / "people.toml").write_text(
        '[table]\nname = "folk"\n[columns.sex]\ntype = "boolean"\n'
    )
    assert studio.table().schema.name == "folk"


def test_a_draft_is_stamped_and_spends_nothing_until_it_is_read(studio: Visit) -> None:
    table = studio.table()
    drafted = studio.post(f"/tables/{table.id}/draft")
    assert "Confidential" in drafted and table.unread
    refused = studio.client.get(f"/tables/{table.id}/spend", params={"epsilon": "1", "delta": "1e-9"})
    assert refused.status_code == 400
    assert studio.client.post(f"/tables/{table.id}/reviewed", headers={"origin": ORIGIN}).status_code == 400
    studio.post(f"/tables/{table.id}/reviewed", read="yes")
    assert not table.unread
    assert "Confidential:" not in studio.get(f"/tables/{table.id}")
    assert studio.client.get(f"/tables/{table.id}/spend").status_code == 200


def test_edits_write_toml(studio: Visit) -> None:
    table = studio.table()
    studio.post(f"/tables/{table.id}/columns/0", type="category", values="M\nF\n", missing="never")
    studio.post(f"/tables/{table.id}/columns/1", type="integer")
    studio.post(f"/tables/{table.id}/columns/1", type="integer", min="0", max="120", step="", missing="")
    studio.post(f"/tables/{table.id}/columns/3/remove")
    studio.post(f"/tables/{table.id}/about", name="folk", rows="4e2", unit="", most="")
    said = tomllib.loads((table.folder / "schema.toml").read_text())
    assert said["table"] == {"name": "folk", "rows": 400}
    assert said["columns"] == {
        "sex": {"type": "category", "values": ["M", "F"], "missing": False},
        "age": {"type": "integer", "min": 0, "max": 120},
        "income": {"type": "untyped"},
    }
    studio.post(f"/tables/{table.id}/text", toml='[columns.age]\r\ntype = "boolean"\r\n')
    assert list(table.schema.columns) == ["age"]


def test_a_wrong_edit_is_refused_in_words_and_changes_nothing(studio: Visit) -> None:
    table = studio.table()
    before = table.schema
    for address, fields in {
        "columns/1": {"type": "integer", "min": "ten"},
        "columns/9": {"type": "integer"},
        "text": {"toml": "[columns"},
        "about": {"rows": "many"},
    }.items():
        answer = studio.client.post(f"/tables/{table.id}/{address}", data=fields, headers={"origin": ORIGIN})
        assert answer.status_code == 400 and 'role="alert"' in answer.text
    assert table.schema == before


def test_html_in_names_and_values_is_text(studio: Visit) -> None:
    (studio.here.start / "odd.csv").write_text(f'"{HTML}",b\n"{HTML}",1\n"{HTML}",2\n')
    table = studio.table("odd.csv")
    studio.post(f"/tables/{table.id}/columns/0", type="category", values=HTML, description=HTML)
    studio.post(f"/tables/{table.id}/about", name=HTML, rows="100")
    pages = [
        studio.get(address)
        for address in (
            "/",
            f"/tables/{table.id}",
            f"/tables/{table.id}/plan",
            f"/tables/{table.id}/spend",
            "/ledger",
        )
    ]
    pages.append(studio.post(f"/tables/{table.id}/private", show="yes"))
    pages.append(studio.client.post("/tables", data={"data": HTML}, headers={"origin": ORIGIN}).text)
    for page in pages:
        assert "<img" not in page and "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_plan_follows_epsilon_and_says_what_is_left(studio: Visit) -> None:
    table = studio.table()
    studio.post(f"/tables/{table.id}/about", name="folk", rows="400")
    table.ledger.set_limit("folk", 0.5, 1e-6)
    page = studio.get(f"/tables/{table.id}/plan?epsilon=0.5&delta=1e-9")
    assert "very strong" in page and "62%" in page
    part = studio.client.get(f"/tables/{table.id}/plan?epsilon=2", headers={"hx-request": "true"}).text
    assert "<html" not in part and "The ledger would refuse this run" in part and "88%" in part
    refused = studio.client.get(f"/tables/{table.id}/plan?epsilon=-1", headers={"hx-request": "true"})
    assert 'role="alert"' in refused.text


def test_a_limit_is_set_once_and_for_good(studio: Visit) -> None:
    table = studio.table()
    fields = {"ledger": str(table.ledger.path), "name": table.name, "epsilon": "2", "delta": "1e-8"}
    assert studio.client.post("/ledger/limit", data=fields, headers={"origin": ORIGIN}).status_code == 400
    page = studio.post("/ledger/limit", **fields, agreed="yes")
    assert "left of a limit of 2" in page
    fields["epsilon"] = "3"
    again = studio.client.post("/ledger/limit", data=fields | {"agreed": "yes"}, headers={"origin": ORIGIN})
    assert again.status_code == 400


def test_a_copy_of_a_file_is_taken(studio: Visit) -> None:
    headers = {"origin": ORIGIN, "x-file-name": "..%2f..%2ffolk.csv"}
    page = studio.client.post("/upload", content=b"a,b\n1,2\n", headers=headers)
    assert page.status_code == 200 and "folk" in page.text
    copied = studio.here.tables()[0].data
    assert copied.startswith(str(studio.here.folder)) and copied.endswith("/folk.csv")
    headers["x-file-name"] = "folk.exe"
    assert studio.client.post("/upload", content=b"a", headers=headers).status_code == 400


def test_an_unforeseen_error_shows_no_words_and_is_logged_nowhere(
    studio: Visit, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError(CANARY)

    table = studio.table()
    monkeypatch.setattr("understudy.studio.screens.statement.first_records", fails)
    answer = studio.client.post(
        f"/tables/{table.id}/private", data={"show": "yes"}, headers={"origin": ORIGIN}
    )
    assert answer.status_code == 500 and "ValueError" in answer.text and CANARY not in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert CANARY not in "".join(capfd.readouterr())


def test_an_address_with_a_password_is_on_no_page(studio: Visit) -> None:
    schema = us.Schema({"a": us.Boolean()}, name="folk")
    table = studio.here.add("postgresql://me:sesame@nowhere/base#folk", schema)
    for address in ("/", f"/tables/{table.id}", f"/tables/{table.id}/plan", f"/tables/{table.id}/spend"):
        assert "sesame" not in studio.get(address)
    refused = studio.client.post(f"/tables/{table.id}/draft", headers={"origin": ORIGIN})
    assert refused.status_code >= 400 and "sesame" not in refused.text


@pytest.mark.parametrize("kind", SHOWN)
def test_every_kind_of_column_has_a_form_that_says_what_it_said(kind: str) -> None:
    said = {"type": kind} | ({"values": ["a", "b"]} if kind == "category" else {})
    schema = us.Schema({"x": said})
    editor = ColumnEditor(0, "x", schema)
    form = {field: value for field, _, value, _ in editor.inputs()} | {"type": kind, "values": editor.values}
    assert schema.replace_column("x", editor.fields_of(form)) == schema


def test_python_of_a_schema_is_that_schema() -> None:
    from understudy.presets import town

    schema = us.Schema.from_toml(town.SCHEMA)
    names: dict[str, us.Schema] = {}
    exec(python_of(schema), names)
    assert names["schema"].columns == schema.columns
    assert names["schema"].rows == schema.rows


def test_a_promise_in_words() -> None:
    assert BudgetPromise(1.0, 1e-9).guess == "73%" and BudgetPromise(1.0, 1e-9).strength == "strong"
    assert BudgetPromise(1.0, 1e-9).exception == "1 in 1,000,000,000"
    assert BudgetPromise(10.0, 1e-9).guess == "nearly always"
