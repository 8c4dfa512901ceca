"""The sixth screen: the synthetic records beside the private ones. Confidential: it reads them without noise."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from understudy.errors import ParameterError
from understudy.studio.screen import Form, go, page, screen, workspace
from understudy.studio.screens.synthetic_table import REPORT_CONTENT, finished_run
from understudy.studio.screens.under_way import progress_part, told

PAGE = "confidential.html"


@screen
def comparison(request: Request, form: Form) -> Response:
    """What a comparison is; how far it is; once it is done, where to see it."""
    run = finished_run(request)
    work = run.comparison
    state = work.state if work.exists else None
    part = (
        progress_part(work, run, f"/runs/{run.id}/comparison")
        if state in ("running", "stopped", "failed")
        else ""
    )
    table = next((table for table in workspace(request).tables() if table.id == run.settings["table"]), None)
    return page("comparison.html", run=run, table=table, settings=run.settings, state=state, part=part)


@screen
def begin(request: Request, form: Form) -> Response:
    """Compare, in a process of its own."""
    run = finished_run(request)
    work = run.comparison
    if not work.exists:
        work.describe({"work": "compare", "data": run.settings["data"]})
    work.start()
    return go(f"/runs/{run.id}/comparison")


@screen
def cancel(request: Request, form: Form) -> Response:
    """End the comparison."""
    run = finished_run(request)
    run.comparison.cancel()
    return go(f"/runs/{run.id}/comparison")


@screen
def confidential_page(request: Request, form: Form) -> Response:
    """The comparison itself, stamped."""
    path = finished_run(request).comparison.folder / PAGE
    if not path.exists():
        raise ParameterError("these records were not compared yet.", hint="start the comparison first.")
    return Response(
        path.read_bytes(), media_type="text/html", headers={"content-security-policy": REPORT_CONTENT}
    )


async def events(request: Request) -> Response:
    """What the comparison says as it goes."""
    run = workspace(request).run(request.path_params["run"])
    stream = told(run.comparison, run, f"/runs/{run.id}/comparison")
    return StreamingResponse(stream, media_type="text/event-stream")


ROUTES = [
    Route("/runs/{run}/comparison", comparison),
    Route("/runs/{run}/comparison", begin, methods=["POST"]),
    Route("/runs/{run}/comparison/resume", begin, methods=["POST"]),
    Route("/runs/{run}/comparison/cancel", cancel, methods=["POST"]),
    Route("/runs/{run}/comparison/events", events),
    Route("/runs/{run}/comparison/page", confidential_page),
]
