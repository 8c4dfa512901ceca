"""The studio as an application: which screen answers which address."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from understudy.errors import UnderstudyError
from understudy.report.design.templates import stylesheet
from understudy.studio.gate import Gate, Locks
from understudy.studio.screen import is_part, page
from understudy.studio.screens import (
    choosing,
    comparing_privately,
    spending_chart,
    statement,
    synthetic_table,
    under_way,
    what_it_costs,
)
from understudy.studio.workspace import Workspace

STATIC = Path(__file__).parent / "static"


def application(workspace: Workspace, locks: Locks) -> Starlette:
    """The application on a folder, behind its locks."""
    app = Starlette(
        routes=[
            *choosing.ROUTES,
            *statement.ROUTES,
            *what_it_costs.ROUTES,
            *under_way.ROUTES,
            *synthetic_table.ROUTES,
            *comparing_privately.ROUTES,
            *spending_chart.ROUTES,
            Route("/style.css", _style),
            Route("/favicon.ico", lambda _: Response(status_code=204)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Gate, locks=locks, fault=_fault)],
        exception_handlers={  # whose types Starlette declares for exceptions of any kind
            UnderstudyError: _refused,  # type: ignore[dict-item]
            HTTPException: _not_there,  # type: ignore[dict-item]
        },
    )
    app.state.workspace = workspace
    return app


def _style(request: Request) -> Response:
    """The stylesheet of all pages, and what the studio adds to it."""
    own = (STATIC / "studio.css").read_text(encoding="utf-8")
    return Response(stylesheet() + own, media_type="text/css")


def _refused(request: Request, error: UnderstudyError) -> Response:
    """What was refused, and the way out: its words hold no value of a record."""
    if is_part(request):  # shown in the place of what was asked for
        return page("refused_part.html", message=error.message, hint=error.hint)
    return page("refused.html", status=400, message=error.message, hint=error.hint)


def _not_there(request: Request, error: HTTPException) -> Response:
    return page("refused.html", status=error.status_code, message="There is no such page.", hint="")


def _fault(error: Exception) -> Response:
    """An error that should not be; its words may quote a record, so they are not shown."""
    message = f"an error that should not be ({type(error).__name__})."
    return page("refused.html", status=500, message=message, hint="please report it.")
