"""How `evaluate` tells a person what it found, and what only they may read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from understudy.cli.console import show_table
from understudy.cli.telling import tell_columns, tell_verdict

if TYPE_CHECKING:
    from understudy.evaluation.breakdown import Gap
    from understudy.evaluation.comparison import Comparison

NOTED = 3  # pairs that the terminal names


def write_confidential(path: str, text: str) -> None:
    """Write a file that this user alone can read, whole or not at all."""
    from understudy.data.files.atomic import whole_file

    with whole_file(path, confidential=True) as file:
        file.write(text.encode())


def tell_comparison(found: Comparison) -> None:
    """The comparison, for a person."""
    from understudy.evaluation.measures import CONFIDENTIAL

    evaluation = found.evaluation
    click.secho(CONFIDENTIAL, fg="red", bold=True)
    rows = evaluation.rows
    click.echo(
        f"{rows['real']:,} real and {rows['synthetic']:,} synthetic records, {len(found.columns)} columns"
    )
    short = found.short()
    tell_verdict(short)
    show_table(
        [
            [figure.name, figure.better, *(figure.shown(table) for table in evaluation.tables)]
            for figure in evaluation.figures
        ],
        ["measure", "better", *evaluation.tables],
    )
    tell_columns(short)
    _tell_gaps("pairs farthest apart", found.pairs[:NOTED])
    for line in found.notes():
        click.echo(line)


def _tell_gaps(what: str, gaps: Sequence[Gap]) -> None:
    if gaps:
        listed = (f"{' x '.join(gap.clique)} {gap.synthetic:.3f} ({gap.bootstrap:.3f})" for gap in gaps)
        click.echo(f"{what} (total variation, and a bootstrap's): {', '.join(listed)}")
