"""What `synth`, `fit`, `sample` and `demo` share: parameters to a run, a run to a summary."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from understudy.cli.console import say, show_table
from understudy.cli.outputs import check_apart, check_no_address, is_folder, there_already
from understudy.errors import FileError, ParameterError

if TYPE_CHECKING:
    from understudy.domain import Schema
    from understudy.domain.dialect import Dialect
    from understudy.marginals import Counter
    from understudy.mechanisms import Mechanism
    from understudy.pipeline import Release
    from understudy.privacy import Budget


_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def number(name: str, text: str) -> float:
    """A parameter as a number, or a refusal that names it."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"{name} {text!r} is not a number.", hint="give a plain number, such as 1 or 1e-9."
        ) from None


def row_figure(text: str | None) -> int | None:
    """A number of rows: 50000 or 1e6."""
    if text is None:
        return None
    value = number("rows", text)
    if not (value >= 0 and value == int(min(value, 2**62))):
        raise ParameterError(
            f"rows {text!r} is not a whole number of at least 0.", hint="write 50000 or 1e6."
        )
    return int(value)


def byte_figure(text: str) -> int:
    """A number of bytes: 500MB, 2GB, or a plain number."""
    scale = next((scale for unit, scale in _UNITS.items() if text.upper().endswith(unit)), 1)
    value = number("memory", text.upper().rstrip("BKMGT") if scale > 1 else text) * scale
    if not 0 < value < 2**62:
        raise ParameterError(f"memory {text!r} is not an amount above 0.", hint="write 500MB or 2GB.")
    return int(value)


def budget_of(settings: Mapping[str, Any]) -> Budget:
    """The budget that the options ask for."""
    from understudy.privacy import Budget

    epsilon, delta = number("epsilon", settings["epsilon"]), number("delta", settings["delta"])
    return Budget(epsilon, delta, allow_large_epsilon=settings["allow_large_epsilon"])


def mechanism_from(settings: Mapping[str, Any], schema: Schema | None) -> Mechanism:
    """The mechanism that the options ask for."""
    from understudy.mechanisms import registry

    given = mechanism_settings(settings)
    chosen = registry.mechanism_kind(settings["mechanism"])
    chosen.check(given)  # before a table is read for it
    for option, takers in registry.settings().items():
        if takers[0][1].kind == "table" and given[option]:
            given[option] = _public(given[option], schema)
    return chosen.make(**given)


def mechanism_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the options tell a mechanism, by option name; a table is still the name of its file."""
    from understudy.mechanisms import registry

    given = {}
    for option, takers in registry.settings().items():
        value = settings.get(option)
        if takers[0][1].kind == "cliques":
            value = tuple(tuple(map(str.strip, text.split(","))) for text in value or ())
        elif takers[0][1].kind == "workload":
            value = _workload(value or ())
        given[option] = value
    return given


def _workload(words: Sequence[str]) -> Any:
    """What was said of a workload: nothing, a number of columns, or sets of columns with their weights."""
    from understudy.mechanisms.workload.written_workload import written_workload

    lines: list[str] = []
    for word in words:
        if Path(word).is_file():
            try:
                lines += Path(word).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeError) as fault:
                raise FileError(f"workload {word!r} cannot be read ({type(fault).__name__}).") from None
        else:
            lines.append(word)
    return written_workload(lines) if words else None


def _public(file: str, schema: Schema | None) -> Counter:
    """A public table, coded as the private one will be."""
    from understudy.pipeline import table

    if schema is None or schema.unlearned:
        raise ParameterError(
            "a public table needs a complete schema: both are to have the same codes.",
            hint="describe every column with --schema, and give bounds and values that would be learned"
            + (f": {', '.join(schema.unlearned)}." if schema else "."),
        )
    return table(file, schema)


def check_output(
    output: str,
    rows: str | None = None,
    *,
    folder: bool = False,
    new: bool = False,
    spreadsheet: bool = False,
) -> int | None:
    """The rows to generate, once the output can be written: refused before anything is spent.

    `folder` says whether a folder of parts will do, and `new` that none may be in it yet, but for those of a sample
    that was broken off (see `begun`); `spreadsheet` that the output is made safe for one, which only a text file
    needs.
    """
    from understudy.cli.second_half import begun, not_empty
    from understudy.data import check_writable
    from understudy.data.files.writing import check_format, is_text

    check_no_address("the output", output)
    if spreadsheet and (is_folder(output) or not is_text(output)):
        raise ParameterError(
            f"--safe-for-spreadsheets is for text files, and {output!r} is none.",
            hint="end the output in .csv, .csv.gz or .tsv, or leave the option out: other kinds say what is text.",
        )
    wanted = row_figure(rows)
    if wanted is not None and wanted > 10**10:
        raise ParameterError(f"rows {rows} is more than 10 billion.", hint="sample in several files.")
    if folder and is_folder(output):
        place = Path(output)
        check_writable(place / "part" if place.is_dir() else place)
        if new and place.is_dir() and any(place.iterdir()) and not begun(output):
            raise not_empty(output)
    else:
        check_writable(output)
        if folder:
            check_format(output)
    return wanted


def check_run(
    data: str,
    settings: Mapping[str, Any],
    outputs: Mapping[str, str | None],
    *,
    staying: Sequence[str] = (),
) -> None:
    """Refuse outputs of `fit` and `synth` that would replace what the run reads, its ledger, or a file unasked.

    The files of the options in `staying` are not written, and may be there.
    """
    from understudy.mechanisms import registry
    from understudy.privacy import default_ledger_path

    tables = [
        settings[option]
        for option, takers in registry.settings().items()
        if takers[0][1].kind == "table" and settings.get(option)
    ]
    workload = {
        f"the workload {word!r}": word for word in settings.get("workload") or () if Path(word).is_file()
    }
    check_apart(
        outputs,
        tables=(data, *tables),
        files={"the schema": settings["schema"], "the key": settings.get("key"), **workload},
        ledger=settings["ledger"] or default_ledger_path(),
        overwrite=settings["overwrite"],
        staying=staying,
    )


def run_fit(
    data: str,
    settings: dict[str, Any],
    stage: Callable[[str], None],
    *,
    left: str | None = None,
    folder: str | None = None,
) -> tuple[Release, Path, Callable[[], None]]:
    """A release from the options of `fit` and `synth`, the ledger that it was charged to, and what finishes its job.

    That is to be called once what the job was for is written: then the same command goes on until there is something.

    `left` is a file that an earlier run of the same job left, with its release, and that stays as it is, `folder` one
    with parts of its sample: then nothing is charged, and whatever is no release of this job is refused.
    """
    from understudy.cli.second_half import FinishedJobs, check_own, left_release, not_empty
    from understudy.domain import Schema
    from understudy.pipeline import MisfitWarning, fit
    from understudy.privacy import Seeded, default_ledger_path
    from understudy.privacy.ledger.settled_later import SettledLater

    budget = budget_of(settings)
    schema = Schema.load(settings["schema"]) if settings["schema"] else None
    mechanism = mechanism_from(settings, schema)
    kept = Path(settings["ledger"] or default_ledger_path()).resolve()
    seed = settings["insecure_seed"]
    found = None if left is None else left_release(left)
    refusal = there_already(left) if left is not None else None if folder is None else not_empty(folder)
    ledger: FinishedJobs | SettledLater
    ledger = SettledLater(kept) if refusal is None else FinishedJobs(kept, refusal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)  # said below, with the rest
        release = fit(
            data,
            schema,
            epsilon=budget.epsilon,
            delta=budget.delta,
            allow_large_epsilon=settings["allow_large_epsilon"],
            mechanism=mechanism,
            ledger=ledger,
            stage=stage,
            memory=byte_figure(settings["memory"]),
            source=None if seed is None else Seeded(seed),
            **{
                key: settings[key]
                for key in ("name", "job", "unit", "max_records_per_unit", "neighbours", "check", "delimiter")
            },
        )
    if found is not None and left is not None:
        check_own(found, release, left)
    if settings["verbose"]:
        _tell_measured(data, release)
    for warning in release.certificate["warnings"]:
        say(f"warning: {warning}")
    return release, kept, ledger.settle


class Only(TypedDict, total=False):
    """Which records are wanted, as `release.sample` asks."""

    where: str | None
    balance: str | None


def _tell_measured(data: str, release: Release) -> None:
    """How the records were read, and every noisy measurement: names, sizes and noise, never a count."""
    from understudy.pipeline.sources.registry import kind_of

    said = f"{kind_of(data).name}, {release.kind}" if release.kind != "arrow" else kind_of(data).name
    codes = sum(release.domain[name] for name in release.domain)
    say(f"read as: {said}; {len(release.domain)} columns, {codes:,} codes; mechanism {release.mechanism}")
    for measured in release.measurements:
        name = " x ".join(measured.clique)
        say(f"measured {name}: {measured.values.size:,} counts, noise of {measured.stddev.max():.4g} each")


def write_sample(
    release: Release,
    rows: int | None,
    output: str,
    stage: Callable[[str], None],
    seed: int | None = None,
    *,
    spreadsheet: bool = False,
    dialect: Dialect | None = None,
    only: Only = {},  # noqa: B006 - never changed
    given: str | None = None,
) -> int:
    """Stream so many records to a file, or to a folder of parts; the number written.

    `only` says which records (`where`, `balance`); `given` is a file of partial ones to complete.

    A text file is written as the private one was, unless `dialect` says otherwise.

    What is drawn from a release of a test is said to be NOT PRIVATE, beside the output and not in it.
    """
    from understudy.pipeline.drawing.sample_file import sample_to_file
    from understudy.pipeline.drawing.sample_folder import sample_to_folder
    from understudy.pipeline.drawing.samples import NOT_PRIVATE, NotPrivateWarning

    if not release.private:
        click.secho(f"understudy: {NOT_PRIVATE}", fg="red", bold=True, err=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)  # said above
        stage("generating records")
        if not is_folder(output):
            return sample_to_file(
                release,
                output,
                rows,
                seed=seed,
                spreadsheet=spreadsheet,
                dialect=dialect,
                given=given,
                stage=stage,
                **only,
            )
        if given is not None:
            raise ParameterError("--given completes records in one file.", hint="give a file to write.")
        return sample_to_folder(release, output, rows, seed=seed, **only)


def summary(release: Release, ledger: Path) -> dict[str, Any]:
    """What a run did: what it spent by stage, what it measured, where it is written down."""
    certificate = release.certificate
    orders = collections.Counter(f"{len(clique)}-way" for clique in sorted(release.cliques, key=len))
    return {
        "epsilon": certificate["epsilon"],
        "delta": certificate["delta"],
        "private": release.private,
        "mechanism": release.mechanism,
        "decisions": certificate.get("decisions", []),
        "spent": release.spent,
        "marginals": dict(orders),
        "fit": release.fit_claim,
        "estimated_rows": release.rows,
        "expected_errors": None if release.errors is None else release.expected_error().to_dict(),
        "dropped_columns": certificate.get("dropped", []),
        "constraints": certificate.get("constraints", []),
        "ledger": str(ledger),
        "warnings": certificate.get("warnings", []),
    }


def tell(said: Mapping[str, Any]) -> None:
    """The summary, for a person."""
    from understudy.report.release_words import constraint_text

    if not said["private"]:
        click.secho("NOT PRIVATE: the noise came from a seed. For tests only.", fg="red", bold=True)
    click.echo(f"epsilon {said['epsilon']:g}, delta {said['delta']:g}, mechanism {said['mechanism']}")
    show_table(
        [
            [s["stage"], f"{s['questions']}", f"{s['share']:.0%}", f"{s['epsilon']:.3f}"]
            for s in said["spent"]
        ],
        ["stage", "questions", "share", "epsilon"],
    )
    measured = ", ".join(f"{count} {order}" for order, count in said["marginals"].items())
    click.echo(f"marginals measured: {measured}; about {said['estimated_rows']:,} records")
    for decision in said["decisions"]:
        click.echo(decision)
    if said["expected_errors"]:
        click.echo(said["expected_errors"]["said"])
    if said["fit"].startswith("not"):
        click.echo(f"the fit of the model is {said['fit']}")
    if said["dropped_columns"]:
        click.echo(f"not in the schema, dropped: {', '.join(said['dropped_columns'])}")
    for rule in said["constraints"]:
        click.echo(f"constraint {constraint_text(rule)}")
    for what in ("synthetic", "release", "ledger"):
        if said.get(what):
            rows = f" ({said['rows']:,} records)" if what == "synthetic" else ""
            click.echo(f"{what + ':':<11}{said[what]}{rows}")
