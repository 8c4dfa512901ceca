"""The first screen: choose a file, a folder or an address, or the simulated town; go on with what was begun."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import understudy as us
from understudy.data.files.atomic import whole_file
from understudy.data.files.file_set import is_table_name
from understudy.errors import ParameterError
from understudy.pipeline.sources.registry import is_address
from understudy.studio.demo_town import demo_table
from understudy.studio.screen import Form, go, page, screen, workspace
from understudy.studio.workspace import FOLDER, ChosenTable, Workspace, new_id

MOST_SHOWN = 200  # files of a folder
SCHEMA_ENDING = ".toml"


@screen
def first_page(request: Request, form: Form) -> Response:
    """What there is to choose from."""
    here = workspace(request)
    tables = {table.id: table for table in here.tables()}
    runs = [(run, tables.get(run.settings["table"])) for run in here.runs()]
    return page(
        "choosing.html", start=here.start, files=tables_in(here.start), tables=tables.values(), runs=runs
    )


@screen
def choose(request: Request, form: Form) -> Response:
    """Take a table: nothing is read of it but the names of its columns, and the types that it declares."""
    given = form.get("data", "").strip()
    if not given:
        raise ParameterError("no table was named.", hint="choose a file, or give its path or address.")
    return go(f"/tables/{chosen(workspace(request), given).id}")


@screen
def choose_demo(request: Request, form: Form) -> Response:
    """Take the simulated town, made where it is not there yet."""
    return go(f"/tables/{demo_table(workspace(request)).id}")


def chosen(here: Workspace, given: str, *, ledger: str | None = None) -> ChosenTable:
    """The table at a path or address, with the schema that lies beside it, or its names and types alone."""
    if is_address(given):
        return here.add(given, us.draft_schema(given, records=False), ledger=ledger)
    path = Path(os.path.abspath(here.start / Path(given).expanduser()))
    beside = path.with_suffix(SCHEMA_ENDING)
    schema = us.Schema.load(beside) if beside.is_file() else us.draft_schema(path, records=False)
    return here.add(str(path), schema, ledger=ledger)


def tables_in(folder: Path) -> list[tuple[str, str]]:
    """What looks like a table in a folder: names, and what each is."""
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name.lower()):
        if entry.name.startswith(".") or entry.name == FOLDER:
            continue
        if entry.is_dir():
            inside = sum(is_table_name(name) for name in _names(entry.path))
            if inside:
                found.append((entry.name, f"folder of {inside} file{'s' if inside > 1 else ''}"))
        elif is_table_name(entry.name):
            found.append((entry.name, _size(entry.stat().st_size)))
    return found[:MOST_SHOWN]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _size(amount: int) -> str:
    return f"{amount / 1e6:,.1f} MB" if amount >= 1e5 else f"{amount / 1e3:,.1f} kB"


async def upload(request: Request) -> Response:
    """Take a copy of a file that the browser was given, in a folder of its own that this user alone can read."""
    here = workspace(request)
    name = Path(unquote(request.headers.get("x-file-name", ""))).name
    if not is_table_name(name):
        raise ParameterError(
            "this is no kind of file that holds a table.", hint="take a CSV, Excel or Parquet file."
        )
    folder = here.folder / "copies" / new_id()
    folder.mkdir(mode=0o700, parents=True)
    with whole_file(folder / name, confidential=True) as file:
        async for part in request.stream():
            await run_in_threadpool(file.write, part)
    table = await run_in_threadpool(chosen, here, str(folder / name))
    return go(f"/tables/{table.id}")


ROUTES = [
    Route("/", first_page),
    Route("/upload", upload, methods=["POST"]),
    Route("/tables", choose, methods=["POST"]),
    Route("/demo", choose_demo, methods=["POST"]),
]
