"""A comparison of a synthetic table with the real one as one self-contained HTML page. It shows private data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from markupsafe import Markup

from understudy.domain import Schema
from understudy.evaluation.breakdown import Gap
from understudy.evaluation.closeness import NO_PROOF, closeness
from understudy.evaluation.columns import Columns
from understudy.evaluation.measures import CONFIDENTIAL, REAL, SYNTHETIC, TABLES, Evaluation, Figure
from understudy.evaluation.side_by_side import column_beside, gap_bars, matrices, pair_beside
from understudy.evaluation.standing import Judgement, figure_names, verdict
from understudy.report.design.templates import page
from understudy.report.plots.lanes import Lane, lanes

# What a measure's figure means, by how its name begins.
MEANINGS = {
    "1-way": "how far apart the columns are, one by one: 0 equal, 1 nothing in common",
    "2-way": "the same of pairs of columns",
    "3-way": "the same of three columns at a time",
    "NIST": "the same, as NIST scores it: 1000 equal, 0 nothing in common",
    "Pearson": "how differently pairs go together, codes taken as numbers",
    "Cram": "how differently pairs go together, codes taken as categories",
    "mutual": "the same, in nats of information",
    "pMSE (logistic), ratio": "the same beside what a perfect synthetic table would have: near 1 is good",
    "pMSE": "how well a model tells synthetic records from real ones: 0 not at all",
    "contest": "the 2018 contest's score: 1,000,000 is perfect",
}


class Compared(Protocol):
    """What the page shows of a comparison."""

    @property
    def evaluation(self) -> Evaluation: ...
    @property
    def columns(self) -> Sequence[Gap]: ...
    @property
    def pairs(self) -> Sequence[Gap]: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def codes(self) -> Mapping[str, Columns]: ...

    def notes(self) -> list[str]: ...


def comparison_page(found: Compared, *, real: str, synthetic: str) -> str:
    """The page, as HTML; `real` and `synthetic` are what the tables are called."""
    evaluation, tables = found.evaluation, found.codes
    worst = sorted(found.columns, key=lambda gap: -gap.excess)
    judged = verdict(evaluation)
    return page(
        "comparison.html",
        stamp=CONFIDENTIAL,
        real=real,
        synthetic=synthetic,
        rows=evaluation.rows,
        seed=evaluation.seed,
        notes=found.notes(),
        verdict=judged,
        scale=_scale(judged),
        overview=gap_bars(worst),
        columns=[column_beside(found.schema, tables, gap) for gap in worst],
        pairs=[pair_beside(found.schema, tables, gap) for gap in found.pairs],
        matrices=matrices(tables, evaluation.seed),
        telling=[_row(figure, evaluation.tables) for figure in figure_names(evaluation, "pMSE")],
        learning=[
            _row(figure, evaluation.tables) for figure in evaluation.figures if REAL in figure.by_table
        ],
        closeness=closeness(tables[REAL], tables[SYNTHETIC], evaluation.seed),
        no_proof=NO_PROOF,
        measures=[_row(figure, evaluation.tables) for figure in evaluation.figures],
        tables=[(table, TABLES.get(table, "")) for table in evaluation.tables],
    )


def _scale(judged: Judgement) -> Markup | None:
    """Every measure between the two ends."""
    rows = [
        Lane(one.figure.name, one.at, f"{one.figure.shown(SYNTHETIC)} ({_place(one.at)})")
        for one in judged.scale
    ]
    if not rows:
        return None
    left = "uniform values" if judged.scale[0].figure.name.startswith("1-way") else "independent columns"
    said = "; ".join(f"{row.text} {_place(row.at)}" for row in rows)
    return lanes(rows, left, "bootstrap", title="From independent columns to a bootstrap", description=said)


def _place(at: float) -> str:
    return "below the scale" if at < 0 else "beyond the scale" if at > 1 else f"{at:.0%}"


def _row(figure: Figure, tables: Sequence[str]) -> dict[str, Any]:
    meaning = next((text for start, text in MEANINGS.items() if figure.name.startswith(start)), "")
    return {
        "name": figure.name,
        "better": figure.better,
        "meaning": meaning,
        "cells": [(table, figure.shown(table)) for table in tables],
    }
