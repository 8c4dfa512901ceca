"""Everything there is to say of a synthetic table beside its real one, from two tables of values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.data.files.atomic import whole_file
from understudy.display import html_table
from understudy.domain import Schema
from understudy.domain.ordered_differences import in_values
from understudy.errors import ParameterError
from understudy.evaluation.breakdown import Gap, column_gaps_and_worst_pairs
from understudy.evaluation.coding import Coding, check_table
from understudy.evaluation.columns import Codebook, Columns, rows_of
from understudy.evaluation.comparison_page import comparison_page
from understudy.evaluation.contest.contest_measure import ContestMeasure, ContestTables
from understudy.evaluation.contest.contest_tests import ContestTests
from understudy.evaluation.contest.income import Roles
from understudy.evaluation.learners.prediction import LEARNERS, SCIKIT, Learning
from understudy.evaluation.measures import (
    CONFIDENTIAL,
    REAL,
    SYNTHETIC,
    Evaluation,
    default_measures,
    evaluate_codes,
)
from understudy.evaluation.short_comparison import ShortComparison, short_comparison

Stage = Callable[[str], None]

UNIQUE = 0.9  # distinct values a record above which a column says who, not what
FEW_RECORDS = 20
FARTHEST = 8  # columns that a short version names


@dataclass(frozen=True)
class ContestFile:
    """A file of the contest's tests, and which columns hold sex, city and wage where a person says so.

    A file that does not exist yet is written, with tests drawn from the real table.
    """

    path: Path
    roles: Roles | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was found; it was read from real records and is as confidential as they are.

    Attributes:
        evaluation: every measure, of the synthetic table and of the baselines.
        columns: how far off each column is, the farthest first.
        pairs: the same of the pairs that are farthest off.
        strangers: a table -> how many of its records have a value that the schema does not know.
        left_out: a table -> its columns that were not compared.
        remarks: what a reader should know of how it was done.
        schema: what the columns mean.
        codes: a table -> its coded columns.
        names: what the two tables are called on a page.
    """

    evaluation: Evaluation
    columns: tuple[Gap, ...]
    pairs: tuple[Gap, ...]
    strangers: Mapping[str, int]
    left_out: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...]
    schema: Schema = field(repr=False)
    codes: Mapping[str, Columns] = field(repr=False)
    names: Mapping[str, str] = field(
        default_factory=lambda: {REAL: "the real table", SYNTHETIC: "the synthetic table"}
    )

    def _repr_html_(self) -> str:
        """The verdict, the measures and the worst columns, for a notebook: as confidential as the records."""
        evaluation, rows, short = self.evaluation, self.evaluation.rows, self.short()
        farthest = html_table(
            "Columns, farthest apart first",
            ["column", "real", "synthetic", "total variation", "bootstrap"],
            short.columns,
        )
        measures = html_table(
            f"How well {self.names[SYNTHETIC]} stands in for {self.names[REAL]}: {short.verdict.headline}",
            ["measure", "better", *evaluation.tables],
            [
                [f.name, f.better, *(f.shown(table) for table in evaluation.tables)]
                for f in evaluation.figures
            ],
            [
                short.verdict.sentence,
                f"{rows[REAL]:,} real and {rows[SYNTHETIC]:,} synthetic records, {len(self.columns)} columns.",
                *self.notes(),
            ],
            warning=CONFIDENTIAL,
        )
        return f"<div>{measures}{farthest}</div>"

    def short(self, columns: int = FARTHEST) -> ShortComparison:
        """The verdict, and so many columns that are farthest apart, as texts: as confidential as the records."""
        return short_comparison(self.evaluation, self.schema, self.codes, self.columns, columns)

    def notes(self) -> list[str]:
        """What a reader should know of how the tables were compared, as sentences."""
        lines = [
            f"{count:,} {table} record{'s hold' if count > 1 else ' holds'} a value unknown to the "
            "schema or to the real table: it matches nothing."
            for table, count in self.strangers.items()
            if count
        ]
        lines += [
            f"Not compared, of the {table} table: {', '.join(names)}."
            for table, names in self.left_out.items()
            if names
        ]
        return [*lines, *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """Every figure, in plain types."""
        return {
            "confidential": CONFIDENTIAL,
            **self.evaluation.to_dict(),
            "columns": [_gap(gap) for gap in self.columns],
            "worst_pairs": [_gap(gap) for gap in self.pairs],
            "records_with_unknown_values": dict(self.strangers),
            "columns_left_out": {table: list(names) for table, names in self.left_out.items()},
            "remarks": list(self.remarks),
        }

    def to_json(self) -> str:
        """Every figure, as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the comparison as one HTML page that this user alone can read: it shows private data.

        Parameters:
            path: where the page goes; what is there is replaced, whole or not at all, unless it is a ledger.

        Raises:
            FileError: the file cannot be written.
        """
        page = comparison_page(self, real=self.names[REAL], synthetic=self.names[SYNTHETIC])
        with whole_file(path, confidential=True) as file:
            file.write(page.encode())


def _gap(gap: Gap) -> dict[str, Any]:
    return {"columns": list(gap.clique), "total_variation": gap.synthetic, "bootstrap": gap.bootstrap}


def compare(
    real: pa.Table,
    synthetic: pa.Table,
    schema: Schema,
    *,
    targets: Sequence[str] = (),
    seed: int = 0,
    contest: ContestFile | None = None,
    undescribed: bool = False,
    stage: Stage = lambda _: None,
) -> Comparison:
    """The synthetic table beside the real one, both tables of values, by the columns of one schema.

    What the schema leaves out is read from the real records. `targets` are columns to learn. `undescribed` says
    that nobody wrote the schema: then a real table of whole numbers may be taken for codes by the contest.
    """
    check_table(real, schema, "the real table")
    check_table(synthetic, schema, "the synthetic table")
    check_targets(targets, schema)
    stage("coding the records")
    coding = Coding.of(in_values(schema), real)
    theirs = coding.synthetic([synthetic])
    scored = (
        ContestTables.of(real, synthetic, coding, theirs, contest.roles, undescribed=undescribed)
        if contest
        else None
    )
    names = {REAL: real.column_names, SYNTHETIC: synthetic.column_names}
    return compare_codes(
        coding, theirs, names, targets=targets, seed=seed, contest=contest, scored=scored, stage=stage
    )


def check_targets(targets: Sequence[str], schema: Schema) -> None:
    """Refuse to learn what is not compared."""
    for target in targets:
        if target not in schema.synthesised:
            raise ParameterError(
                f"target {target!r} is not among the columns compared.", hint="correct its name."
            )


def compare_codes(
    coding: Coding,
    theirs: Columns,
    names: Mapping[str, Sequence[str]],
    *,
    targets: Sequence[str],
    seed: int,
    contest: ContestFile | None,
    scored: ContestTables | None,
    stage: Stage,
) -> Comparison:
    """The same of tables that are codes already, so that nobody has to hold their values any more.

    `theirs` are the codes of the synthetic table, `names` the columns that either table had, and `scored` the tables
    as the contest reads them, where its scores are asked for.
    """
    mine = coding.real
    measures, remarks = _measures(len(mine), targets)
    measure = None
    if contest and scored:  # before anything is measured: its tests may be refused
        measure, remark = _ask(contest, scored, seed)
        remarks += (remark,)
    found = evaluate_codes(mine, theirs, measures=measures, seed=seed, stage=stage)
    if scored and measure:
        stage("the contest's scores")
        scores = evaluate_codes(scored.real, scored.synthetic, measures=[measure], seed=seed)
        found = replace(found, figures=(*found.figures, *scores.figures))
    stage("columns and pairs")
    return Comparison(
        found,
        *column_gaps_and_worst_pairs(mine, theirs, seed),
        {REAL: coding.strangers(mine), SYNTHETIC: coding.strangers(theirs)},
        {what: tuple(name for name in had if name not in mine) for what, had in names.items()},
        (*_unique(mine), *remarks),
        coding.schema,
        {REAL: mine, SYNTHETIC: theirs},
    )


def _unique(real: Columns) -> tuple[str, ...]:
    """A remark on the columns that tell every record from every other, which no table can stand in for."""
    rows = rows_of(real)
    names = [name for name, column in real.items() if Codebook.of(column).absent > UNIQUE * rows]
    if rows < FEW_RECORDS or not names:
        return ()
    return (
        f"Nearly every record has a value of its own in {', '.join(names)}: such columns blur every measure. "
        "Leave them out with a schema that does not describe them.",
    )


def _measures(columns: int, targets: Sequence[str]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The usual measures, with every learner that is installed, and a remark where some are not."""
    usual = default_measures(columns)
    if not targets:
        return usual, ()
    there = find_spec("sklearn") is not None
    learners = (*LEARNERS, *SCIKIT) if there else tuple(LEARNERS)
    remark = f"Left out: the learners {', '.join(SCIKIT)}. They need scikit-learn: pip install understudy[evaluate]"
    return (*usual, *(Learning(target, learners=learners) for target in targets)), () if there else (remark,)


def _ask(contest: ContestFile, tables: ContestTables, seed: int) -> tuple[ContestMeasure, str]:
    """The contest's measure, by the tests in the file or by new ones that are then written to it; and a remark."""
    if contest.path.exists():
        tests, remark = ContestTests.load(contest.path), f"Scored by the tests in {contest.path}."
    else:
        tests = tables.draw(seed)
        tests.save(contest.path)
        remark = (
            f"Drew the contest's tests from the real table and wrote them to {contest.path}: "
            "as confidential as its records."
        )
    return ContestMeasure.of(tables.real, tests, tables.roles), remark
