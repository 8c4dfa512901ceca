"""A release as one self-contained HTML page, safe to publish: nothing in it is not in the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

import numpy as np

from understudy.domain import Clique, Domain, Schema
from understudy.marginals import Marginal
from understudy.report.graph import edges_of, graph_svg
from understudy.report.histogram_bars import bars_of, ordered_codes, shortened

MOST_PAIRS = 20  # whose errors are listed
STROKES_MEAN = {"tree": "measured as a pair", "extra": "only in a larger set of columns"}

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #123; max-width: 960px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { margin-top: 2.2rem; font-size: 1.2rem }
table { border-collapse: collapse } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 1rem }
.card { border: 1px solid #d5dce8; border-radius: 8px; padding: .7rem .9rem }
.card h3 { margin: 0 0 .4rem; font-size: .95rem } .bar { fill: #5b7fc7 } .warn { color: #b00020; font-weight: 600 }
.small { margin: 0; color: #567; font-size: .8rem }
svg text { fill: #123 } footer { margin-top: 3rem; color: #567; font-size: .85rem }
"""


class Released(Protocol):
    """What the page shows of a release: all of it is in the release's own file."""

    @property
    def schema(self) -> Schema: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def certificate(self) -> Mapping[str, Any]: ...
    @property
    def field(self) -> Any: ...
    @property
    def cliques(self) -> Sequence[Clique]: ...
    @property
    def rows(self) -> int: ...
    @property
    def private(self) -> bool: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def spent(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def fit_claim(self) -> str: ...

    @property
    def errors(self) -> Any: ...

    def verify(self) -> Any: ...
    def expected_error(self) -> Any: ...
    def marginal(self, columns: Sequence[str] | str) -> Marginal: ...


def release_page(release: Released) -> str:
    """The report of a release, as HTML."""
    name = escape(release.schema.name or "table")
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{name}: release report</title><style>{STYLE}</style>",
        f"<h1>{name}: what was released</h1>",
        *_privacy(release),
        "<h2>Which columns were measured together</h2>",
        graph_svg(release.domain.names, edges_of(release.cliques), legend=STROKES_MEAN),
        *_errors(release),
        *_model(release),
        "<h2>Columns, as the release knows them</h2><div class='cards'>",
        *(_card(release, column) for column in release.domain),
        "</div>",
        *_made(release.schema),
        "<footer>Everything on this page was computed from the release file alone.</footer></html>",
    ]
    return "\n".join(parts)


def _privacy(release: Released) -> list[str]:
    said = release.certificate
    verdict = release.verify()
    rows = [
        f"<tr><td>{escape(stage['stage'])}</td><td class='n'>{stage['questions']}</td>"
        f"<td class='n'>{stage['share']:.0%}</td></tr>"
        for stage in release.spent
    ]
    warnings = [] if release.private else ["NOT PRIVATE: the noise came from a seed."]
    warnings += [] if verdict.holds else [f"The claim does not hold: {verdict.why}"]
    warnings += said.get("warnings", [])
    stamp = "".join(f"<p class='warn'>{escape(str(warning))}</p>" for warning in warnings)
    checked = f"{verdict.epsilon:.6f}" if verdict.epsilon is not None else escape(verdict.why)
    mechanism = escape(release.mechanism or "not named")
    statement = escape(str(said.get("statement", "no statement."))).capitalize()
    return [
        stamp,
        f"<p>{statement} Mechanism: {mechanism}. "
        f"Recomputed from the charges alone: epsilon {checked} at delta {said['delta']:g}.</p>",
        f"<p>About {release.rows:,} records, {len(release.domain)} columns, "
        f"{len(release.cliques)} marginals.</p>",
        "<p>Whoever reads this page or any sample of the release learns almost the same whether or not any one "
        "person's data was in the table: the odds of any conclusion change by a factor of e<sup>epsilon</sup> at "
        f"most, {_factor(said['epsilon'])}, but for a chance of about {said['delta']:g}.</p>",
        "<table><tr><th>stage</th><th>questions</th><th>share of the budget</th></tr>",
        *rows,
        "</table>",
        *_constraints(said.get("constraints", [])),
    ]


def _made(schema: Schema) -> list[str]:
    """The columns that no record had a part in."""
    names = ", ".join(f"{name} ({column.type})" for name, column in schema.made.items())
    return [f"<p>Made up, and never read: {escape(names)}.</p>"] if names else []


def _constraints(said: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"<li>{escape(constraint_text(rule))}</li>" for rule in said]
    return ["<h2>What every record holds</h2><ul>", *lines, "</ul>"] if lines else []


SURE = 2.0  # standard deviations above which a count of records is more than noise


def constraint_text(said: Mapping[str, Any]) -> str:
    """A constraint of a certificate in words: which way it is held, and how many real records broke it."""
    text = f"{said['rule']}: held by {said['held']}"
    if "broken" not in said:
        return text
    if not said["broken"] > SURE * said["stddev"]:
        return (
            f"{text}; real records that break it: none that could be told from noise of {said['stddev']:,.0f}"
        )
    return f"{text}; real records that break it: {said['broken']:,}, give or take {said['stddev']:,.0f}"


def _factor(epsilon: float) -> str:
    return f"about {math.exp(epsilon):,.3g}" if epsilon < 50 else "which is no bound at all"


def _errors(release: Released) -> list[str]:
    """How far off the model is, by the run's own check, and the pairs that are likely off most."""
    if release.errors is None:
        return []
    worst = release.errors.worst(release.field.total, MOST_PAIRS)
    rows = [
        f"<tr><td>{escape(' and '.join(pair))}</td><td class='n'>{found.value:.1%}</td>"
        f"<td class='n'>{found.low:.1%} to {found.high:.1%}</td></tr>"
        for pair, found in worst
    ]
    said = escape(str(release.expected_error()))
    return [
        "<h2>How far off it is</h2>",
        f"<p>By a noisy check against the real records: {said}. The error of a pair is the share of records that "
        "would have to be moved for the model's table of the two columns to be the real one. The intervals hold "
        "whatever the model is; synthetic records are off by a little more, as they are a sample of it.</p>",
        f"<table><tr><th>off most, of {len(release.errors.pairs):,} pairs</th><th>share of records</th>"
        "<th>95% interval</th></tr>",
        *rows,
        "</table>",
    ]


def _model(release: Released) -> list[str]:
    claim = f"<p>The fit of the model is {escape(release.fit_claim)}.</p>" if release.fit_claim else ""
    return [
        "<h2>What records are drawn from</h2>",
        claim,
        f"<pre>{escape(str(release.field.summary()))}</pre>",
    ]


def _card(release: Released, column: str) -> str:
    """A column's histogram, as wide as its card."""
    described = release.schema.columns[column]
    counts = np.asarray(release.marginal((column,)).counts, dtype=np.float64)
    labels, ordered = described.labels(), ordered_codes(described)
    if described.layout.open_end:  # as far as records reach, and the slots that some are in
        held = np.flatnonzero(counts > 0)
        ordered = int(held[held < ordered].max(initial=0)) + 1
        kept = [*range(ordered), *held[held >= described.ranges].tolist()]
        counts, labels = counts[kept], [labels[code] for code in kept]
    bars, note = bars_of(counts, labels, ordered)
    top = max([count for _, count in bars], default=0.0) or 1.0
    rows = [
        f"<text x='112' y='{12 * row + 10}' font-size='9' text-anchor='end'>{escape(shortened(text))}</text>"
        f"<rect class='bar' x='116' y='{12 * row + 3}' width='{140 * count / top:.1f}' height='9'>"
        f"<title>{escape(text)}: about {count:,.0f}</title></rect>"
        for row, (text, count) in enumerate(bars)
    ]
    about = f"<p class='small'>{escape(described.description)}</p>" if described.description else ""
    return (
        f"<div class='card'><h3>{escape(column)}</h3>{about}"
        f"<svg viewBox='0 0 260 {12 * len(bars) + 6}' width='100%' role='img'>{''.join(rows)}</svg>{note}</div>"
    )
