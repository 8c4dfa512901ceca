"""The command `understudy doctor`."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from understudy.cli import options
from understudy.cli.commands.doctor.surroundings import disk, ledger, memory, randomness, versions
from understudy.cli.commands.doctor.symptom import State, Symptom, looked
from understudy.cli.commands.doctor.ways_in import extras, plug_ins
from understudy.cli.console import show_json

MARKS = {State.FINE: ("ok", "green"), State.NOTE: ("note", "yellow"), State.FAULT: ("FAULT", "red")}


@click.command("doctor", short_help="Say whether this machine can run Understudy, and what to do if not.")
@click.option(
    "--ledger", "path", type=click.Path(), help="The ledger to look at. Default: the one of this user."
)
@options.as_json
def command(path: str | None, as_json: bool) -> None:
    """Say whether this machine can run Understudy, and what to do where it cannot.

    Looks at versions, the system's randomness, compiled kernels beside plain ones of NumPy, the ledger, memory, disk,
    and which engines are installed. Reads no table, spends nothing, and sends nothing anywhere.

    Leaves with 1 when something that every run needs is at fault.

    \b
    Examples:
      understudy doctor
      understudy doctor --json
      understudy doctor --ledger ledger.db
    """
    found = examined(path)
    healthy = all(symptom.state is not State.FAULT for symptom in found)
    if as_json:
        show_json({"healthy": healthy, "symptoms": [asdict(symptom) for symptom in found]})
    else:
        for symptom in found:
            _tell(symptom)
        click.echo(
            "all that every run needs is here" if healthy else "mend what is marked FAULT before a run"
        )
    if not healthy:
        sys.exit(1)


def examined(path: str | None) -> list[Symptom]:
    """Every symptom; kernels are looked at only where the libraries that compile them could be loaded."""
    found = looked("versions", versions)
    if any(symptom.state is State.FAULT for symptom in found):
        return found
    from understudy.cli.commands.doctor.kernel_twins import kernels

    return [
        *found,
        *looked("randomness", randomness),
        *looked("kernels", kernels),
        *looked("ledger", lambda: ledger(path)),
        *looked("memory", memory),
        *looked("temporary files", disk),
        *looked("kinds", plug_ins),
        *looked("engines", extras),
    ]


def _tell(symptom: Symptom) -> None:
    mark, colour = MARKS[symptom.state]
    click.echo(f"{click.style(f'{mark:<6}', fg=colour)} {symptom.what:<16} {symptom.said}")
    if symptom.todo:
        click.echo(f"{'':<7}{'':<16} -> {symptom.todo}")
