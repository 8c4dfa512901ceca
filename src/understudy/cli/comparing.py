"""What `evaluate` does between its options and its table: two files to one comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.console import show_table
from understudy.cli.running import check_output
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.evaluation.breakdown import Gap
    from understudy.evaluation.comparison import Comparison, ContestFile

MOST_RECORDS = 10_000_000  # of a table that is streamed
NOTED = 3  # columns that the terminal names


def compare_files(
    real: str, synthetic: str, settings: Mapping[str, Any], stage: Callable[[str], None]
) -> Comparison:
    """The comparison that the options ask for. Without a schema, the real file's columns and types make one."""
    import pyarrow as pa

    from understudy.domain import Schema
    from understudy.evaluation.coding import check_table, in_common
    from understudy.evaluation.comparison import compare
    from understudy.evaluation.completion import completed
    from understudy.pipeline.draft import first_look, schema_of_types
    from understudy.transforms.encode import reading_types

    contest = _contest(settings)
    given = Schema.load(settings["schema"]) if settings["schema"] else None
    how: dict[str, Any] = {"delimiter": settings["delimiter"], "most": MOST_RECORDS}
    stage("reading the real table")
    mine = first_look(real, types=reading_types(given) if given else None, **how)
    texts = [field.name for field in mine.schema if pa.types.is_string(field.type)]
    schema = given or schema_of_types(mine.schema, name=Path(real).name or "table", untyped=texts)
    check_table(mine, schema, "the real table")
    stage("looking at the real table")
    schema = completed(schema, mine)
    stage("reading the synthetic table")
    # By the types of the real one: 01 is not 1 where the real column is one of texts.
    theirs = first_look(synthetic, types=reading_types(schema), **how)
    for path, table in ((real, mine), (synthetic, theirs)):
        if table.num_rows == MOST_RECORDS:
            name = Path(path).name
            click.echo(f"understudy: warning: only the first {MOST_RECORDS:,} records of {name}.", err=True)
    return compare(
        mine,
        theirs,
        schema if given else in_common(schema, theirs),
        targets=settings["targets"],
        seed=settings["seed"],
        contest=contest,
        undescribed=given is None,
        stage=stage,
    )


def _contest(settings: Mapping[str, Any]) -> ContestFile | None:
    from understudy.evaluation.comparison import ContestFile
    from understudy.evaluation.contest.contest_measure import RoleNames

    roles = [settings[role] for role in ("sex", "city", "wage")]
    given = [role for role in roles if role is not None]
    if settings["contest_tests"] is None:
        if given:
            raise ParameterError(
                "--sex, --city and --wage are for the contest's scores.", hint="add --contest-tests FILE."
            )
        return None
    if given and len(given) < len(roles):
        raise ParameterError(
            "the contest's third score needs --sex, --city and --wage.",
            hint="give all three, or none for the other two scores.",
        )
    return ContestFile(Path(settings["contest_tests"]), RoleNames(*roles) if given else None)


def check_pages(inputs: Sequence[str], *outputs: str | None) -> None:
    """Refuse outputs that cannot be written, or that would replace a table."""
    for output in filter(None, outputs):
        check_output(output)
        if any(Path(output).resolve() == Path(table).resolve() for table in inputs):
            raise ParameterError(f"output {output!r} is one of the tables.", hint="name another file.")


def write_confidential(path: str, text: str) -> None:
    """Write a file that this user alone can read, whole or not at all."""
    from understudy.data.files.atomic import whole_file

    with whole_file(path, confidential=True) as file:
        file.write(text.encode())


def tell_comparison(found: Comparison) -> None:
    """The comparison, for a person."""
    from understudy.evaluation.comparison import CONFIDENTIAL

    evaluation = found.evaluation
    click.secho(CONFIDENTIAL, fg="red", bold=True)
    rows = evaluation.rows
    click.echo(
        f"{rows['real']:,} real and {rows['synthetic']:,} synthetic records, {len(found.columns)} columns"
    )
    show_table(
        [
            [figure.name, figure.better, *(figure.shown(table) for table in evaluation.tables)]
            for figure in evaluation.figures
        ],
        ["measure", "better", *evaluation.tables],
    )
    worst = sorted(found.columns, key=lambda gap: -gap.excess)[:NOTED]
    _tell_gaps("columns farthest apart", worst)
    _tell_gaps("pairs farthest apart", found.pairs[:NOTED])
    for line in found.notes():
        click.echo(line)


def _tell_gaps(what: str, gaps: Sequence[Gap]) -> None:
    if gaps:
        listed = (f"{' x '.join(gap.clique)} {gap.synthetic:.3f} ({gap.bootstrap:.3f})" for gap in gaps)
        click.echo(f"{what} (total variation, and a bootstrap's): {', '.join(listed)}")
