"""The report of a release in a few lines, for terminals and notebooks: bars of text, and no picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.report.code_groups import in_groups
from understudy.report.column_cards import WIDTH
from understudy.report.measured_codes import code_groups, noisy_table
from understudy.report.measured_pairs import measured_pairs
from understudy.report.plots.line_plot import spark_text
from understudy.report.release_words import promise, stage_words, trust
from understudy.report.released import Released, warnings_by_column

SPARKS = 16  # bars of text that a column has at most
COLUMNS, PAIRS = 40, 5  # that are listed


@dataclass(frozen=True)
class ShortRelease:
    """What the report's first screen says, and a line for each stage, column and strong pair."""

    title: str
    promise: str
    holds: bool
    good: tuple[str, ...]
    bad: tuple[str, ...]
    budget: tuple[tuple[str, str, str], ...]  # what for, questions, share
    columns: tuple[tuple[str, str, str, str], ...]  # name, bars, noise in records, what to know
    more_columns: int
    pairs: tuple[tuple[str, str, str], ...]  # pair, signal to noise, in words


def short_release(release: Released) -> ShortRelease:
    """The short version of a release's report."""
    said, found = release.certificate, promise(release)
    pairs = measured_pairs(release)
    merged = [name for name in release.domain if int(release.compression.behind(name).max(initial=1)) > 1]
    trusted = trust(release, pairs, merged)
    warned, _ = warnings_by_column(release)
    names = list(release.domain)
    growth = f"; a suspicion of 50% grows to {found.suspicion} at worst" if release.private else ""
    return ShortRelease(
        f"{release.schema.name or 'table'}: epsilon {said['epsilon']:g}, delta {said['delta']:g}, about "
        f"{release.rows:,} records, {len(names)} columns",
        f"Protected is {found.who}{growth}. {found.checked}",
        found.holds,
        trusted.good,
        trusted.bad,
        tuple((stage_words(s["stage"]), f"{s['questions']:,}", f"{s['share']:.0%}") for s in release.spent),
        tuple(
            _column(release, name, merged=name in merged, warned=name in warned) for name in names[:COLUMNS]
        ),
        max(len(names) - COLUMNS, 0),
        tuple((f"{pair.first} and {pair.second}", pair.figure, pair.word) for pair in pairs[:PAIRS]),
    )


def _column(release: Released, name: str, *, merged: bool, warned: bool) -> tuple[str, str, str, str]:
    groups = code_groups(release, name, SPARKS)
    counts = in_groups(groups, np.asarray(release.field.marginal((name,)).counts, np.float64))
    measured = noisy_table(release, (name,))
    noise = "" if measured is None else f"\N{PLUS-MINUS SIGN}{WIDTH * float(np.median(measured.stddev)):,.0f}"
    known = [*(["merged values"] if merged else []), *(["warning"] if warned else [])]
    return name, spark_text(counts.tolist()), noise, ", ".join(known)
