"""A comparison in a few lines, for terminals and notebooks: the verdict, and the worst columns as bars of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.domain import Schema
from understudy.evaluation.breakdown import Gap
from understudy.evaluation.columns import Columns
from understudy.evaluation.measures import REAL, SYNTHETIC, Evaluation
from understudy.evaluation.side_by_side import grouped_shares
from understudy.evaluation.standing import Judgement, verdict
from understudy.report.plots.line_plot import spark_text

SPARKS = 16  # bars of text that a column has at most


@dataclass(frozen=True)
class ShortComparison:
    """The verdict; the columns farthest apart, each with bars of both tables, its distance and a bootstrap's."""

    verdict: Judgement
    columns: tuple[tuple[str, str, str, str, str], ...]


def short_comparison(
    evaluation: Evaluation, schema: Schema, tables: Mapping[str, Columns], gaps: Sequence[Gap], most: int
) -> ShortComparison:
    """The short version of a comparison's page; as confidential as the records."""
    worst = sorted(gaps, key=lambda gap: -gap.excess)[:most]
    return ShortComparison(verdict(evaluation), tuple(_column(schema, tables, gap) for gap in worst))


def _column(schema: Schema, tables: Mapping[str, Columns], gap: Gap) -> tuple[str, str, str, str, str]:
    (name,) = gap.clique
    _, shares = grouped_shares(schema, tables, name, SPARKS)
    top = max(float(np.max(found, initial=0.0)) for found in shares.values())
    real, synthetic = (spark_text([*shares[table].tolist(), top])[:-1] for table in (REAL, SYNTHETIC))
    return name, real, synthetic, f"{gap.synthetic:.3f}", f"{gap.bootstrap:.3f}"
