"""The second screen: the schema as a public statement, reviewed and edited column by column; edits write TOML.

Nothing of the records is shown here. Two switches, each pressed on purpose, look at them: a draft of the schema from
the records, and the private table itself; what they show is stamped confidential.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

import understudy as us
from understudy.errors import ParameterError
from understudy.pipeline.sources.registry import first_records
from understudy.studio.column_editor import FORMS, TYPES, ColumnEditor
from understudy.studio.schema_python import python_of
from understudy.studio.screen import Form, chosen_table, figure, go, is_part, page, screen, workspace
from understudy.studio.workspace import write_private

RECORDS_SHOWN = 30


def _column(request: Request, schema: us.Schema) -> str:
    """The name of the column at a place: places stand in addresses, names do not."""
    names, place = list(schema.columns), int(request.path_params["place"])
    if not 0 <= place < len(names):
        raise ParameterError("there is no such column.", hint="reload the page: the statement has changed.")
    return names[place]


@screen
def statement(request: Request, form: Form) -> Response:
    """Every column, what is said of it, and what would be learned."""
    table = chosen_table(request)
    schema = table.schema
    columns = [ColumnEditor(place, name, schema) for place, name in enumerate(schema.columns)]
    return page(
        "statement.html",
        table=table,
        schema=schema,
        columns=columns,
        types=TYPES,
        forms=FORMS,
        toml=schema.to_toml(),
        python=python_of(schema),
        places=table.folder / "schema.toml",
        runs=workspace(request).runs(table.id),
    )


@screen
def edit_column(request: Request, form: Form) -> Response:
    """Say something else of one column."""
    table = chosen_table(request)
    schema = table.schema
    name = _column(request, schema)
    described = ColumnEditor(0, name, schema).fields_of(form)
    table.state(schema.replace_column(name, described))
    return go(f"/tables/{table.id}#column-{request.path_params['place']}")


@screen
def remove_column(request: Request, form: Form) -> Response:
    """Leave a column out: it is neither learned nor synthesised."""
    table = chosen_table(request)
    schema = table.schema
    name = _column(request, schema)
    rest = {other: column for other, column in schema.columns.items() if other != name}
    table.state(
        dataclasses.replace(schema, columns=rest, constraints=tuple(rule.said() for rule in schema.rules))
    )
    return go(f"/tables/{table.id}#columns")


@screen
def edit_about(request: Request, form: Form) -> Response:
    """Say something else of the table as a whole."""
    table = chosen_table(request)
    rows = int(figure(form, "rows", "number of records")) if form.get("rows", "").strip() else None
    unit = form.get("unit") or None
    said = form.get("most", "").strip()
    most: int | Literal["learn"] | None = "learn" if said == "learn" else None
    if said and most is None:
        most = int(figure(form, "most", "records of one person"))
    name = form.get("name", "").strip() or None
    changed = dataclasses.replace(
        table.schema, name=name, rows=rows, unit=unit, max_records_per_unit=most if unit else None
    )
    table.state(changed)
    return go(f"/tables/{table.id}")


@screen
def edit_text(request: Request, form: Form) -> Response:
    """Take the whole statement as TOML."""
    table = chosen_table(request)
    table.state(us.Schema.from_toml(form.get("toml", "").replace("\r\n", "\n")))
    return go(f"/tables/{table.id}#as-text")


@screen
def draft(request: Request, form: Form) -> Response:
    """Draft the statement by looking at the records: confidential until a person has read it."""
    table = chosen_table(request)
    drafted = us.draft_schema(table.data, name=table.schema.name)
    table.state(dataclasses.replace(drafted, rows=table.schema.rows))
    return go(f"/tables/{table.id}")


@screen
def reviewed(request: Request, form: Form) -> Response:
    """A person has read the draft, and says that it holds nothing but public knowledge."""
    table = chosen_table(request)
    schema = table.schema
    if form.get("read") != "yes":
        raise ParameterError(
            "the draft is not reviewed yet.", hint="read every line, and tick the box that says so."
        )
    columns = {name: dataclasses.replace(column, comment="") for name, column in schema.columns.items()}
    table.state(dataclasses.replace(schema.with_columns(columns), comment=""))
    return go(f"/tables/{table.id}/plan")


@screen
def private_table(request: Request, form: Form) -> Response:
    """The first records as they are: confidential, and only when asked for."""
    table = chosen_table(request)
    if form.get("show") != "yes":
        return page("private_hidden.html", table=table)
    found = first_records(table.data, RECORDS_SHOWN).slice(0, RECORDS_SHOWN)
    rows = [["" if value is None else str(value) for value in row.values()] for row in found.to_pylist()]
    template = "private_table.html" if is_part(request) else "private_page.html"
    return page(template, table=table, names=found.column_names, rows=rows)


@screen
def schema_file(request: Request, form: Form) -> Response:
    """The statement as a file."""
    table = chosen_table(request)
    headers = {"content-disposition": 'attachment; filename="schema.toml"'}
    return PlainTextResponse(table.schema.to_toml(), headers=headers, media_type="application/toml")


@screen
def save_beside(request: Request, form: Form) -> Response:
    """Write the statement into the folder where the studio was started; a file that is there is left alone."""
    table, here = chosen_table(request), workspace(request)
    path = here.start / f"{_file_name(table.name)}.toml"
    if path.exists():
        raise ParameterError(
            f"there is a file {path.name!r} already: it is left as it is.", hint="download it instead."
        )
    write_private(path, table.schema.to_toml())
    return go(f"/tables/{table.id}#as-text")


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name) or "table"


_POST = ["POST"]
ROUTES = [
    Route("/tables/{table}", statement),
    Route("/tables/{table}/columns/{place:int}", edit_column, methods=_POST),
    Route("/tables/{table}/columns/{place:int}/remove", remove_column, methods=_POST),
    Route("/tables/{table}/about", edit_about, methods=_POST),
    Route("/tables/{table}/text", edit_text, methods=_POST),
    Route("/tables/{table}/draft", draft, methods=_POST),
    Route("/tables/{table}/reviewed", reviewed, methods=_POST),
    Route("/tables/{table}/private", private_table, methods=_POST),
    Route("/tables/{table}/schema.toml", schema_file),
    Route("/tables/{table}/save", save_beside, methods=_POST),
]
