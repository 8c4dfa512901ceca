"""The seventh screen: the ledger. Every table, every job, limits, and a chart of what was spent when."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import understudy as us
from understudy.errors import ParameterError
from understudy.studio.screen import Form, figure, go, page, screen, workspace
from understudy.studio.workspace import Workspace


@dataclass(frozen=True)
class SpendingBar:
    """One job in a chart: where its bar begins, how long it is, in percent of the chart's width."""

    begins: float
    length: float
    epsilon: float
    opened: str
    finished: bool


@dataclass(frozen=True)
class Spending:
    """What was spent on one table."""

    ledger: Path
    name: str
    epsilon: float
    delta: float
    limit: tuple[float, float] | None
    left: tuple[float, float] | None
    jobs: list[dict[str, object]]
    bars: list[SpendingBar]
    limit_at: float | None  # in percent of the chart's width


def ledgers(here: Workspace) -> tuple[dict[us.Ledger, list[str]], list[us.UnderstudyError]]:
    """The user's ledger and those of the chosen tables, each with all names it knows or will; and what is amiss."""
    wanted: dict[str | None, set[str]] = {here.ledger_path: set()}
    for table in here.tables():
        wanted.setdefault(table.ledger_path, set()).add(table.name)
    found, amiss = {}, []
    for path, names in wanted.items():
        try:
            ledger = us.Ledger(path, create=bool(names))
        except us.UnderstudyError as error:
            amiss.append(error)
        else:
            found[ledger] = sorted({*ledger.names(), *names})
    return found, amiss


def spending(ledger: us.Ledger, name: str) -> Spending:
    """One account, with the lengths of its chart's bars."""
    account = ledger.account(name)
    spent, limit = (float(account.spent[0]), float(account.spent[1])), account.limit
    whole = max(spent[0], limit[0] if limit else 0.0, 1e-12)
    bars, at = [], 0.0
    for job in account.jobs.values():
        length = 100 * job.epsilon / whole
        bars.append(SpendingBar(at, length, job.epsilon, job.opened, job.finished is not None))
        at += length
    left = None if account.left is None else (float(account.left[0]), float(account.left[1]))
    return Spending(
        ledger.path,
        name,
        *spent,
        limit,
        left,
        account.to_dict()["jobs"],
        bars,
        None if limit is None else 100 * limit[0] / whole,
    )


@screen
def ledger_page(request: Request, form: Form) -> Response:
    """Every table that anything was spent on, or may be."""
    found, amiss = ledgers(workspace(request))
    tables = [spending(ledger, name) for ledger, names in found.items() for name in names]
    return page("ledger.html", tables=tables, amiss=amiss)


@screen
def set_limit(request: Request, form: Form) -> Response:
    """Set, for good, the most that may be spent on a table."""
    if form.get("agreed") != "yes":
        raise ParameterError(
            "the limit was not confirmed: nothing was changed.", hint="tick the box beside it."
        )
    found, _ = ledgers(workspace(request))
    known = [ledger for ledger, names in found.items() if form.get("name") in names]
    chosen = next((ledger for ledger in known if str(ledger.path) == form.get("ledger")), None)
    if chosen is None:
        raise ParameterError("there is no such table in the ledger.", hint="reload the page.")
    limit = us.Budget(
        figure(form, "epsilon", "epsilon"), figure(form, "delta", "delta"), allow_large_epsilon=True
    )
    chosen.set_limit(form["name"], limit.epsilon, limit.delta)
    return go("/ledger")


ROUTES = [
    Route("/ledger", ledger_page),
    Route("/ledger/limit", set_limit, methods=["POST"]),
]
