"""`understudy ledger`: what was spent on a table, on what, when, and what is left."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.console import show_json, show_table
from understudy.errors import BudgetError, ParameterError

if TYPE_CHECKING:
    from understudy.privacy.ledger.accounts import Account, JobRecord
    from understudy.privacy.ledger.ledger import Ledger


@click.command("ledger", short_help="Show what has been spent on a table.")
@click.argument("name", required=False)
@click.option("--ledger", "path", type=click.Path(), help="The ledger's file. Default: the one of this user.")
@click.option("--limit-epsilon", type=float, help="Set, for good, the most epsilon that all jobs may spend.")
@click.option("--limit-delta", type=float, help="Set, for good, the most delta that all jobs may spend.")
@options.as_json
def command(
    name: str | None,
    path: str | None,
    *,
    limit_epsilon: float | None,
    limit_delta: float | None,
    as_json: bool,
) -> None:
    """Show what has been spent on the table NAME, or at that address; without NAME, list all tables.

    \b
    Examples:
      understudy ledger
      understudy ledger people
      understudy ledger people --limit-epsilon 4 --limit-delta 1e-8
      understudy ledger people --json
      understudy ledger duckdb:town.db?table=people
    """
    from understudy.privacy.accounting.budget import Budget
    from understudy.privacy.ledger.ledger import Ledger

    asked, name = name, _plain(name)
    limits = (limit_epsilon, limit_delta)
    if limits == (None, None):
        ledger = Ledger(path, create=False)
    elif name is None or limit_epsilon is None or limit_delta is None:
        raise BudgetError(
            "a limit needs a table's NAME, --limit-epsilon and --limit-delta.",
            hint="understudy ledger people --limit-epsilon 4 --limit-delta 1e-8",
        )
    else:
        limit = Budget(limit_epsilon, limit_delta, allow_large_epsilon=True)  # refused before a file is made
        ledger = Ledger(path)
        name = _charged(ledger, name)
        ledger.set_limit(name, limit.epsilon, limit.delta)
    if name is None:
        _show_all(ledger, as_json)
    else:
        _show(ledger.account(asked if asked in ledger.names() else _known(ledger, name)), ledger, as_json)


def _plain(name: str | None) -> str | None:
    """The name as it was given, or the name of the table at an address, whose rest may hold a password."""
    from understudy.pipeline.sources.registry import is_address, name_of

    return (name_of(name) or "table") if is_address(name) else name


def _charged(ledger: Ledger, name: str) -> str:
    """The account that a run on this table charges: of a file, or of what is called like one, the table's name."""
    from understudy.data.files.file_set import is_table_name
    from understudy.pipeline.sources.registry import name_of

    is_file = is_table_name(name) or Path(name).exists()
    return (name_of(name) or name) if is_file and name not in ledger.names() else name


def _known(ledger: Ledger, name: str) -> str:
    """The table's name as the ledger knows it; `people.csv` finds `people`."""
    names = ledger.names()
    for candidate in (name, _charged(ledger, name), Path(name).name, Path(name).stem):
        if candidate in names:
            return candidate
    raise ParameterError(
        f"the ledger has no table {name!r}.",
        hint=f"it knows {', '.join(map(repr, names[:10]))}." if names else "nothing was spent on any table.",
    )


def _show_all(ledger: Ledger, as_json: bool) -> None:
    accounts = [ledger.account(name) for name in ledger.names()]
    if as_json:
        show_json({"ledger": str(ledger.path), "tables": [_brief(account) for account in accounts]})
        return
    click.echo(f"ledger  {ledger.path}")
    rows = [
        (account.name, _pair(account.spent), _pair(account.left), str(len(account.jobs)))
        for account in accounts
    ]
    show_table(rows, ("table", "spent (epsilon, delta)", "left", "jobs"))


def _brief(account: Account) -> dict[str, Any]:
    whole = account.to_dict()
    return {key: whole[key] for key in ("name", "limit", "spent", "left")} | {"jobs": len(account.jobs)}


def _show(account: Account, ledger: Ledger, as_json: bool) -> None:
    if as_json:
        show_json({"ledger": str(ledger.path), **account.to_dict()})
        return
    click.echo(f"table   {account.name}")
    click.echo(f"ledger  {ledger.path}")
    click.echo(f"spent   {_pair(account.spent)} in {len(account.jobs)} jobs")
    click.echo(f"limit   {_pair(account.limit)}" + (f", set {account.limited}" if account.limited else ""))
    click.echo(f"left    {_pair(account.left)}")
    for job in account.jobs.values():
        click.echo("")
        _show_job(job)


def _show_job(job: JobRecord) -> None:
    state = f"finished {job.finished}" if job.finished else "not finished: it can be resumed"
    click.echo(f"job {job.key[:12]} {job.title or '(untitled)'}: {_pair((job.epsilon, job.delta))}")
    click.echo(f"  opened {job.opened}, {state}" + ("" if job.private else "; SEEDED: NOT PRIVATE"))
    rows = [
        (charge.time, charge.question.get("question", "?"), _cost(charge.question), _subject(charge.question))
        for charge in job.charges
    ]
    show_table(_joined(rows))


def _cost(question: dict[str, Any]) -> str:
    scales = question.get("scales")
    if not scales:
        return f"epsilon {question.get('epsilon', 0.0):.4g}"
    low, high = min(scales), max(scales)
    return f"scale {low:.4g}" if low == high else f"scale {low:.4g} to {high:.4g}"


def _subject(question: dict[str, Any]) -> str:
    if "cliques" in question:
        cliques = [" x ".join(clique) for clique in question["cliques"]]
        return ", ".join(cliques[:4]) + (f" and {len(cliques) - 4} more" if len(cliques) > 4 else "")
    if "summed" in question:
        return f"how far off {sum(question['summed']):,} sets of columns are"
    if "candidates" in question:
        return f"one of {question['candidates']:,} cliques"
    return str(question.get("column", ""))


def _joined(rows: list[tuple[str, str, str, str]]) -> list[tuple[str, ...]]:
    """Rows in which a run of choices at one cost is told once: a selection may ask a hundred times."""
    joined: list[tuple[str, ...]] = []
    runs = groupby(enumerate(rows), lambda row: row[1][1:3] if row[1][1] == "choose" else row[0])
    for _, run in runs:
        (_, (time, kind, cost, subject)), *more = run
        joined.append((time, kind, cost, f"{subject} or fewer, {len(more) + 1} times" if more else subject))
    return joined


def _pair(pair: tuple[Any, Any] | None) -> str:
    return "no limit" if pair is None else f"({float(pair[0]):.6g}, {float(pair[1]):.6g})"
