"""`understudy demo`: simulate a small town, synthesise it, show what came out."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from understudy.cli.console import show_table, stages
from understudy.cli.light_libraries import load_light
from understudy.cli.running import summary, tell, write_sample
from understudy.errors import FileError

FILES = {
    "town.csv": "the private table (here simulated)",
    "town.toml": "its schema: what is publicly known of it",
    "ledger.db": "what has been spent on it",
    "town.release": "all that was learned, safe to hand on",
    "synthetic.csv": "the synthetic records",
}
PAGES = {
    "report.html": "what was released, and what it promises: safe to publish",
    "confidential.html": "the synthetic records beside the private ones: keep it where they are",
}


@click.command("demo", short_help="Simulate a small town and synthesise it.")
@click.option(
    "-n", "--rows", type=click.IntRange(1, 10**7), default=50_000, show_default=True, help="How many people."
)
@click.option(
    "-o", "--output", type=click.Path(), default="demo", show_default=True, help="The folder to fill."
)
@click.option(
    "--epsilon",
    type=float,
    default=1.0,
    show_default=True,
    help="How much may be revealed of any one person.",
)
def command(rows: int, output: str, epsilon: float) -> None:
    """Simulate a small town of people who never lived, synthesise it at epsilon 1, and compare the two.

    \b
    Examples:
      understudy demo
      understudy demo --rows 5000 --epsilon 0.5 -o small
    """
    from understudy.data import write
    from understudy.domain import Schema
    from understudy.evaluation import evaluate
    from understudy.pipeline import fit
    from understudy.presets import town

    folder = Path(output)
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / name for name in (*FILES, *PAGES)}
    with stages() as stage:
        stage("simulating a town")
        load_light()
        people = town.simulate(rows, seed=1)
        write(people, files["town.csv"])
        files["town.toml"].write_text(town.SCHEMA)
        release = fit(
            files["town.csv"],
            Schema.from_toml(town.SCHEMA),
            epsilon=epsilon,
            delta=1e-9,
            ledger=files["ledger.db"],
            stage=stage,
        )
        release.save(files["town.release"])
        written = write_sample(release, None, str(files["synthetic.csv"]), stage)
        stage("writing the report")
        release.report(files["report.html"])
        stage("comparing")
        evaluate(files["town.csv"], files["synthetic.csv"], files["town.toml"]).report(
            files["confidential.html"]
        )
        rows_of_comparison = compare(people, release.with_kind("arrow").sample(seed=0))

    click.echo(f"A town of {rows:,} simulated people, and {written:,} synthetic ones who stand in for them.")
    click.echo("What leaves the town would be almost the same without any one person's record:")
    click.echo(
        f"no conclusion gets more than e^epsilon = {math.exp(epsilon):.3g} times likelier through it.\n"
    )
    tell(summary(release, files["ledger.db"]))
    click.echo("\nthe same questions asked of both tables (the town is simulated, so it may be shown)")
    show_table(rows_of_comparison, ["question", "town", "synthetic"])
    joined = ", ".join(" and ".join(c) for c in release.cliques if len(c) == 2)
    click.echo(f"\nkept together: {_wrapped(joined)}")
    click.echo("Other pairs of columns follow from these, which is where the two tables differ most.")
    click.echo("\nfiles")
    for name, what in FILES.items():
        click.echo(f"  {files[name]!s:<24} {what}")
    click.echo("\npages to look at")
    for name, what in PAGES.items():
        click.echo(f"  {files[name]!s:<24} {what}")
    click.echo("\nnext")
    for words, what in {
        f"sample {files['town.release']} -n 1000 -o more.csv": "more records, for free",
        f"verify {files['town.release']}": "epsilon, recomputed from the certificate",
        f"report {files['town.release']}": "the report in short, here",
        "studio --demo": "all of it in a browser (pip install 'understudy[studio]')",
    }.items():
        click.echo(f"  understudy {words:<50} {what}")


def _check_folder(folder: Path) -> None:
    """Refuse a folder that has files of these names and is not of an earlier demo: someone's town may be real."""
    from understudy.presets import town

    known = folder / "town.toml"
    if known.is_file() and known.read_text(errors="replace") == town.SCHEMA:
        return
    there = [name for name in (*FILES, *PAGES) if name != "ledger.db" and (folder / name).exists()]
    if there:
        raise FileError(
            f"folder {str(folder)!r} has a file {there[0]!r} that is not the demo's: it is left as it is.",
            hint="give another folder with -o.",
        )


def _wrapped(text: str) -> str:
    """A long list over several lines."""
    return "\n  ".join(textwrap.wrap(text, 100, initial_indent="               ")).strip()


def compare(town: Any, synthetic: Any) -> list[list[str]]:
    """A few questions that a person might ask, answered from both tables."""
    return [[question, answer(town), answer(synthetic)] for question, answer in _QUESTIONS.items()]


def _mean(column: str, is_: str | None = None, **where: str) -> Callable[[Any], str]:
    """The mean of a column, or the share of those who have this value in it, among the people described."""

    def answer(table: Any) -> str:
        import pyarrow.compute as pc

        for name, value in where.items():
            table = table.filter(pc.equal(table[name], value))
        values = table[column]
        if is_ is not None:
            values = pc.cast(pc.fill_null(pc.equal(values, is_), False), "float64")
        mean = pc.mean(values).as_py()
        return "" if mean is None else f"{mean:,.1f}" if is_ is None else f"{mean:.1%}"

    return answer


_QUESTIONS: dict[str, Callable[[Any], str]] = {
    "mean age": _mean("age"),
    "mean age of the widowed": _mean("age", marital="widowed"),
    "share who rent": _mean("home", "rented"),
    "share who rent, Harbour": _mean("home", "rented", district="Harbour"),
    "share of nurses who are women": _mean("sex", "female", job="nursing"),
    "mean income in a shop": _mean("income", job="shop"),
    "mean income in engineering": _mean("income", job="engineering"),
    "mean monthly rent": _mean("rent"),
}
