"""The fifth screen: what came of a run: its promise, its records paged and filtered, samples, and downloads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

import understudy as us
from understudy.errors import ParameterError
from understudy.pipeline.drawing.sample_file import sample_to_file
from understudy.report import release_words
from understudy.report.design.templates import policy
from understudy.studio.filtered_rows import OPERATORS, filtered_rows
from understudy.studio.promise_words import BudgetPromise
from understudy.studio.reproduction import notebook, script
from understudy.studio.screen import Form, figure, go, page, screen, workspace
from understudy.studio.screens.under_way import charged
from understudy.studio.workspace import Run

ENDINGS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "jsonl": "application/jsonl"}
# A report is one file: its style and its script stand in it, and nothing else may be loaded or run.
REPORT_CONTENT = f"{policy()}; frame-ancestors 'none'"
WORST = 8  # pairs that are named


def finished_run(request: Request) -> Run:
    """The run that is asked for, once it is done."""
    run = workspace(request).run(request.path_params["run"])
    if run.state != "done":
        raise ParameterError("this run is not done yet.", hint="wait for it, or go on with it.")
    return run


@screen
def result(request: Request, form: Form) -> Response:
    """The promise that was kept, how good the records are, and what can be taken away."""
    run = workspace(request).run(request.path_params["run"])
    if run.state != "done":
        return go(f"/runs/{run.id}")
    release = us.load(run.release_path)
    said = run.settings
    return page(
        "result.html",
        run=run,
        settings=said,
        release=release,
        promise=BudgetPromise(said["epsilon"], said["delta"]),
        errors=None if release.errors is None else release.expected_error(),
        worst=[] if release.errors is None else release.errors.worst(release.rows, WORST),
        verdict=release.verify(),
        statement=release_words.promise(release).text,
        charged=charged(run),
        warnings=release.certificate.get("warnings", []),
        table=next((t for t in workspace(request).tables() if t.id == said["table"]), None),
        operators=OPERATORS,
        found=filtered_rows(run.synthetic_path, {}),
    )


@screen
def rows(request: Request, form: Form) -> Response:
    """One page of the synthetic records that fulfil a filter."""
    run = finished_run(request)
    found = filtered_rows(run.synthetic_path, form)
    return page("rows_part.html", run=run, found=found, operators=OPERATORS)


@screen
def report(request: Request, form: Form) -> Response:
    """The report, safe to publish."""
    content = finished_run(request).report_path.read_bytes()
    return Response(content, media_type="text/html", headers={"content-security-policy": REPORT_CONTENT})


@screen
def sample(request: Request, form: Form) -> Response:
    """Records drawn now, as many as wanted and of those that are wanted, as a file. Free."""
    run = finished_run(request)
    kind = form.get("kind", "csv")
    if kind not in ENDINGS:
        raise ParameterError("that is no kind of file to write.", hint=f"choose one of {', '.join(ENDINGS)}.")
    rows = int(figure(form, "rows", "number of records")) if form.get("rows", "").strip() else None
    seed = int(figure(form, "seed", "seed")) if form.get("seed", "").strip() else None
    where, balance = form.get("where", "").strip() or None, form.get("balance") or None
    folder = tempfile.TemporaryDirectory(prefix="sample-", dir=run.folder)
    path = Path(folder.name) / f"synthetic.{kind}"
    try:
        sample_to_file(
            us.load(run.release_path),
            path,
            rows,
            seed=seed,
            where=where,
            balance=balance,
            spreadsheet=kind == "csv" and form.get("spreadsheet") == "yes",
        )
    except BaseException:
        folder.cleanup()
        raise
    name = f"{_plain(run.settings['name'])}-synthetic.{kind}"
    return FileResponse(
        path, media_type=ENDINGS[kind], filename=name, background=BackgroundTask(folder.cleanup)
    )


@screen
def download(request: Request, form: Form) -> Response:
    """Something to take away: the release, the report, the schema, a script or a notebook."""
    run = finished_run(request)
    what = request.path_params["what"]
    if what not in DOWNLOADS:
        raise ParameterError("there is nothing by that name to take away.", hint="choose one of the list.")
    name, kind, made = DOWNLOADS[what]
    found = made(run)
    headers = {"content-disposition": f'attachment; filename="{_plain(run.settings["name"])}{name}"'}
    return Response(found, media_type=kind, headers=headers)


DOWNLOADS: dict[str, tuple[str, str, Callable[[Run], bytes]]] = {
    "release": (".release", "application/octet-stream", lambda run: run.release_path.read_bytes()),
    "report": ("-report.html", "text/html", lambda run: run.report_path.read_bytes()),
    "schema": (".toml", "application/toml", lambda run: run.schema.to_toml().encode()),
    "script": ("-run.py", "text/x-python", lambda run: script(run).encode()),
    "notebook": ("-run.ipynb", "application/x-ipynb+json", lambda run: notebook(run).encode()),
}


def _plain(name: str) -> str:
    """A table's name as a file's: letters, digits and dashes."""
    return (
        "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:60] or "table"
    )


ROUTES = [
    Route("/runs/{run}/result", result),
    Route("/runs/{run}/rows", rows, methods=["POST"]),
    Route("/runs/{run}/report", report),
    Route("/runs/{run}/sample", sample, methods=["POST"]),
    Route("/runs/{run}/download/{what}", download),
]
