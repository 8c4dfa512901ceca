"""The third screen, the plan while epsilon slides, and the question before anything is spent."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import understudy as us
from understudy.errors import ParameterError
from understudy.mechanisms.registry import DEFAULT, kinds
from understudy.report.release_words import STAGES
from understudy.studio.promise_words import EPSILONS, BudgetPromise, slider_place
from understudy.studio.screen import Form, chosen_table, figure, go, is_part, page, screen, workspace
from understudy.studio.workspace import ChosenTable, new_id

START = {"epsilon": "1", "delta": "1e-9", "mechanism": DEFAULT}
SHOWN = 60  # columns and pairs in a list


def mechanisms() -> dict[str, str]:
    """What may be measured, in a few words: every mechanism that needs to be told nothing but the table."""
    able = [kind for kind in kinds() if not any(setting.required for setting in kind.settings)]
    return {kind.name: kind.summary + " (recommended)" * (kind.name == DEFAULT) for kind in able}


@dataclass(frozen=True)
class AskedRun:
    """What the form asks for."""

    epsilon: float
    delta: float
    mechanism: str

    @classmethod
    def of(cls, form: Form) -> AskedRun:
        """What a form says, over where it starts."""
        said = {**START, **{field: value for field, value in form.items() if value.strip()}}
        if said["mechanism"] not in mechanisms():
            raise ParameterError("that is not one of the ways to measure.", hint="choose one of the list.")
        asked = cls(figure(said, "epsilon", "epsilon"), figure(said, "delta", "delta"), said["mechanism"])
        us.Budget(asked.epsilon, asked.delta)  # refuses what cannot be spent
        return asked


@dataclass(frozen=True)
class Purse:
    """What was spent on a table, and what is left of its limit."""

    spent: float
    jobs: int
    limit: float | None
    left: float | None

    @classmethod
    def of(cls, table: ChosenTable) -> Purse:
        """What the ledger says."""
        account = table.ledger.account(table.name)
        limit = None if account.limit is None else account.limit[0]
        left = None if account.left is None else float(account.left[0])
        return cls(float(account.spent[0]), len(account.jobs), limit, left)

    def after(self, epsilon: float) -> float:
        """What will have been spent in all."""
        return self.spent + epsilon

    def lasts(self, epsilon: float) -> int | None:
        """How many such runs the limit allows; None where there is no limit."""
        return None if self.left is None else math.floor(self.left / epsilon + 1e-9)


def _forecast(table: ChosenTable, asked: AskedRun) -> us.Forecast:
    return us.plan(table.schema, epsilon=asked.epsilon, delta=asked.delta, mechanism=asked.mechanism)


@screen
def plan(request: Request, form: Form) -> Response:
    """The plan, or while a person moves the slider, the part of it that changes."""
    table = chosen_table(request)
    asked = AskedRun.of(form)
    found = _forecast(table, asked)
    alone = sorted((m for m in found.marginals if len(m.clique) == 1), key=lambda m: -(m.expected or 0))
    joint = sorted((m for m in found.marginals if len(m.clique) > 1), key=lambda m: -(m.expected or 0))
    return page(
        "plan_part.html" if is_part(request) else "plan.html",
        table=table,
        asked=asked,
        promise=BudgetPromise(asked.epsilon, asked.delta),
        forecast=found,
        alone=alone[:SHOWN],
        joint=joint[:SHOWN],
        purse=Purse.of(table),
        mechanisms=mechanisms(),
        stages=STAGES,
        epsilons=EPSILONS,
        place=slider_place(asked.epsilon),
    )


@screen
def spend(request: Request, form: Form) -> Response:
    """What a run would cost, in words, before it is started."""
    table = chosen_table(request)
    _check_read(table)
    asked = AskedRun.of(form)
    return page(
        "spend.html",
        table=table,
        asked=asked,
        promise=BudgetPromise(asked.epsilon, asked.delta),
        forecast=_forecast(table, asked),
        purse=Purse.of(table),
        mechanisms=mechanisms(),
        run=new_id(),  # the form may be sent twice: it is the same run
    )


@screen
def start(request: Request, form: Form) -> Response:
    """Start the run that was confirmed; the same form again leads to the same run."""
    table = chosen_table(request)
    _check_read(table)
    asked = AskedRun.of(form)
    if form.get("agreed") != "yes":
        raise ParameterError(
            "the cost was not confirmed: nothing was spent.", hint="tick the box that states it."
        )
    here = workspace(request)
    account = table.ledger.account(table.name)
    run = here.open_run(
        form.get("run", ""),
        table,
        {
            "data": table.data,
            "ledger": table.ledger_path,
            "name": table.name,
            "epsilon": asked.epsilon,
            "delta": asked.delta,
            "mechanism": asked.mechanism,
            "seed": secrets.randbelow(2**31),  # of the sample, which is free
            "before": list(account.jobs),
        },
    )
    run.start()
    return go(f"/runs/{run.id}")


def _check_read(table: ChosenTable) -> None:
    if table.unread:
        raise ParameterError(
            "the statement was drafted from the records, and nobody has said that they read it.",
            hint="go back to it, strike what is not public knowledge, and tick the box at its end.",
        )


ROUTES = [
    Route("/tables/{table}/plan", plan),
    Route("/tables/{table}/spend", spend),
    Route("/tables/{table}/spend", start, methods=["POST"]),
]
