"""What every screen needs: its form, its table, and pages from templates, in which every value is escaped."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from understudy.errors import ParameterError
from understudy.report.design.templates import environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from understudy.studio.workspace import ChosenTable, Workspace

MOST_FORM = 4 << 20  # bytes of a form: the text of a schema with very many values

Form = Mapping[str, str]
Screen = Callable[[Request, Form], Response]


@cache
def _environment() -> Environment:
    made = environment([Path(__file__).parent / "templates"])
    made.filters |= {
        "percent": percent,
        "megabytes": megabytes,
        "seconds": seconds,
        "when": when,
        "part": lambda text: float(Fraction(text)),
        "number": number,
    }
    return made


def rendered(template: str, **values: Any) -> str:
    """The text of a template."""
    return _environment().get_template(template).render(**values)


def page(
    template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> Response:
    """A page, or a part of one."""
    return HTMLResponse(rendered(template, **values), status, dict(headers or {}))


def go(address: str) -> Response:
    """Send the browser on after a form: a reload asks for the page, and not for the form again."""
    return RedirectResponse(address, 303)


def workspace(request: Request) -> Workspace:
    """The folder that this studio works in."""
    found: Workspace = request.app.state.workspace
    return found


def chosen_table(request: Request) -> ChosenTable:
    """The table that an address names."""
    return workspace(request).table(request.path_params["table"])


def screen(function: Screen) -> Callable[[Request], Any]:
    """An endpoint of a function that takes the request and the fields of its form, in a thread of its own."""

    @wraps(function)
    async def endpoint(request: Request) -> Response:
        form: Form = request.query_params
        if request.method == "POST":
            form = await _form(request)
        return await run_in_threadpool(function, request, form)

    return endpoint


async def _form(request: Request) -> Form:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_FORM:
            raise ParameterError("the form is too large.", hint="edit the schema's file instead.")
    fields = parse_qs(content.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1] for name, values in fields.items()}


def is_part(request: Request) -> bool:
    """Whether a page asks for a part of itself, and not the browser for a page."""
    return "hx-request" in request.headers


def figure(form: Form, name: str, what: str) -> float:
    """A number in a form, or a refusal that names it."""
    text = form.get(name, "").strip().replace(" ", "")
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"{what} {text!r} is not a number.", hint="write a plain number, such as 1 or 1e-9."
        ) from None


def percent(share: float | None) -> str:
    """A share as a person reads it."""
    if share is None:
        return "not known"
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" if share >= 0.001 else f"{share:.2%}"


def megabytes(amount: int) -> str:
    """A number of bytes as a person reads it."""
    return (
        f"{amount / 1e9:,.1f} GB"
        if amount >= 1e9
        else f"{amount / 1e6:,.0f} MB"
        if amount >= 1e6
        else f"{amount / 1e3:,.0f} kB"
    )


def seconds(span: float | None) -> str:
    """A time span as a person reads it."""
    if span is None:
        return "not known"
    if span < 90:
        return f"{max(span, 0):.0f} s"
    return f"{span / 60:.0f} min" if span < 5400 else f"{span / 3600:.1f} h"


def when(moment: float | str) -> str:
    """A moment, to the minute."""
    if isinstance(moment, str):
        return moment.replace("T", " ")[:16]
    return datetime.datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")


def number(value: float) -> str:
    """A number without digits that say nothing."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
