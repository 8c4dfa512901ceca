"""The fourth screen: a run while it is under way, stage by stage; it can be left, cancelled and gone on with."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

import understudy as us
from understudy.studio.screen import Form, go, page, rendered, screen, workspace
from understudy.studio.work_folder import Stage, State, WorkFolder
from understudy.studio.workspace import Run

OFTEN = 0.25  # seconds between two looks at what a run has said
_FIGURES = re.compile(r"[0-9][0-9,]*")


@dataclass(frozen=True)
class ProgressLine:
    """Stages that say the same but for a number, as one line: its last words, how long, whether it is over."""

    words: str
    seconds: float
    over: bool


def steps(stages: list[Stage], state: State) -> list[ProgressLine]:
    """What was said, a line for each kind of step; the last goes on while the work does."""
    found: list[tuple[str, float, float]] = []
    now = time.time()
    for number, stage in enumerate(stages):
        last = number + 1 == len(stages)
        ends = stages[number + 1].began if not last else now if state == "running" else stage.began
        if found and _FIGURES.sub("", found[-1][0]) == _FIGURES.sub("", stage.words):
            found[-1] = (stage.words, found[-1][1], ends)
        else:
            found.append((stage.words, stage.began, ends))
    lines = [ProgressLine(words, ends - began, True) for words, began, ends in found]
    if lines and state != "done":
        lines[-1] = ProgressLine(lines[-1].words, lines[-1].seconds, False)
    return lines


@dataclass(frozen=True)
class Charged:
    """What the ledger has written down for a run."""

    jobs: int
    epsilon: float
    delta: float


def charged(run: Run) -> Charged:
    """The jobs on the run's table that came after it was asked for, with its budget, as the ledger has them."""
    said = run.settings
    account = us.Ledger(said["ledger"]).account(said["name"])
    new = [
        job
        for key, job in account.jobs.items()
        if key not in said["before"] and (job.epsilon, job.delta) == (said["epsilon"], said["delta"])
    ]
    return Charged(len(new), sum(job.epsilon for job in new), sum(job.delta for job in new))


def progress_part(work: WorkFolder, run: Run, address: str) -> str:
    """How far the work is, as a part of a page."""
    state = work.state
    return rendered(
        "progress_part.html",
        run=run,
        address=address,
        settings=run.settings,
        state=state,
        outcome=work.outcome or {},
        steps=steps(work.stages, state),
        comparing=work.folder != run.folder,
        charged=charged(run),
    )


@screen
def run_page(request: Request, form: Form) -> Response:
    """A run: how far it is; once it is done, what came of it."""
    here = workspace(request)
    run = here.run(request.path_params["run"])
    if run.state == "done":
        return go(f"/runs/{run.id}/result")
    table = next((table for table in here.tables() if table.id == run.settings["table"]), None)
    part = progress_part(run, run, f"/runs/{run.id}")
    return page("under_way.html", run=run, table=table, settings=run.settings, part=part, state=run.state)


@screen
def cancel(request: Request, form: Form) -> Response:
    """End the run's process. What was charged stays charged, and covers going on."""
    run = workspace(request).run(request.path_params["run"])
    run.cancel()
    return go(f"/runs/{run.id}")


@screen
def resume(request: Request, form: Form) -> Response:
    """Go on with a run that stopped: the same job, so nothing more is charged."""
    run = workspace(request).run(request.path_params["run"])
    run.start()
    return go(f"/runs/{run.id}")


async def events(request: Request) -> Response:
    """What a run says, as it says it, for as long as somebody listens."""
    run = workspace(request).run(request.path_params["run"])
    return StreamingResponse(told(run, run, f"/runs/{run.id}"), media_type="text/event-stream")


async def told(work: WorkFolder, run: Run, address: str) -> AsyncIterator[str]:
    """Parts of a page as server-sent events, each time there is something new, until the work is not running."""
    before: object = None
    while True:
        seen = (work.state, len(work.stages), int(time.time()))
        if seen != before:
            before = seen
            part = await run_in_threadpool(progress_part, work, run, address)
            yield event("progress", part)
        if seen[0] != "running":
            yield event("over", "")
            return
        await asyncio.sleep(OFTEN)


def event(name: str, text: str) -> str:
    """One server-sent event."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


ROUTES = [
    Route("/runs/{run}", run_page),
    Route("/runs/{run}/events", events),
    Route("/runs/{run}/cancel", cancel, methods=["POST"]),
    Route("/runs/{run}/resume", resume, methods=["POST"]),
]
