"""A release as one self-contained HTML page, safe to publish: nothing in it is not in the release."""

from __future__ import annotations

from html import escape

import numpy as np

from understudy.pipeline.certificate import spent_by_stage
from understudy.pipeline.release import Release, cliques_of
from understudy.report.graph import edges_of, graph_svg
from understudy.report.labels import labels_of

BARS = 24  # of a column's histogram; longer ones are shown by their largest

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #123; max-width: 960px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { margin-top: 2.2rem; font-size: 1.2rem }
table { border-collapse: collapse } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 1rem }
.card { border: 1px solid #d5dce8; border-radius: 8px; padding: .7rem .9rem }
.card h3 { margin: 0 0 .4rem; font-size: .95rem } .bar { fill: #5b7fc7 } .warn { color: #b00020; font-weight: 600 }
svg text { fill: #123 } footer { margin-top: 3rem; color: #567; font-size: .85rem }
"""


def page(release: Release) -> str:
    """The report of a release, as HTML."""
    name = escape(release.schema.name or "table")
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{name}: release report</title><style>{STYLE}</style>",
        f"<h1>{name}: what was released</h1>",
        *_privacy(release),
        "<h2>Which columns were measured together</h2>",
        graph_svg(release.domain.names, edges_of(cliques_of(release.measurements))),
        *_model(release),
        "<h2>Columns, as the release knows them</h2><div class='cards'>",
        *(_card(release, column) for column in release.domain),
        "</div>",
        "<footer>Everything on this page was computed from the release file alone.</footer></html>",
    ]
    return "\n".join(parts)


def _privacy(release: Release) -> list[str]:
    said = release.certificate
    verdict = release.verify()
    rows = [
        f"<tr><td>{escape(stage['stage'])}</td><td class='n'>{stage['questions']}</td>"
        f"<td class='n'>{stage['share']:.0%}</td></tr>"
        for stage in spent_by_stage(said)
    ]
    stamp = "" if release.private else "<p class='warn'>NOT PRIVATE: the noise came from a seed.</p>"
    checked = f"{verdict.epsilon:.6f}" if verdict.epsilon is not None else escape(verdict.why)
    return [
        stamp,
        f"<p>{escape(str(said['statement'])).capitalize()} Mechanism: {escape(said['mechanism']['name'])}. "
        f"Recomputed from the charges alone: epsilon {checked} at delta {said['delta']:g}.</p>",
        f"<p>About {release.rows:,} records, {len(release.domain)} columns, "
        f"{len(cliques_of(release.measurements))} marginals.</p>",
        "<table><tr><th>stage</th><th>questions</th><th>share of the budget</th></tr>",
        *rows,
        "</table>",
    ]


def _model(release: Release) -> list[str]:
    return ["<h2>The fitted field</h2>", f"<pre>{escape(str(release.field.summary()))}</pre>"]


def _card(release: Release, column: str) -> str:
    counts = np.asarray(release.marginal((column,)).counts, dtype=np.float64)
    texts = labels_of(release.schema.columns[column])
    shown = np.arange(len(counts))
    note = ""
    if len(counts) > BARS:
        shown = np.sort(np.argsort(-counts, kind="stable")[:BARS])
        note = f"<small>the {BARS} most frequent of {len(counts)} codes</small>"
    top = max(float(counts.max(initial=0.0)), 1e-9)
    bars = []
    for row, code in enumerate(shown):
        width = 150 * counts[code] / top
        bars.append(
            f"<text x='100' y='{12 * row + 10}' font-size='9' text-anchor='end'>{escape(texts[code][:20])}</text>"
            f"<rect class='bar' x='104' y='{12 * row + 3}' width='{width:.1f}' height='9'>"
            f"<title>{counts[code]:,.0f}</title></rect>"
        )
    height = 12 * len(shown) + 6
    return (
        f"<div class='card'><h3>{escape(column)}</h3>"
        f"<svg viewBox='0 0 260 {height}' width='100%' role='img'>{''.join(bars)}</svg>{note}</div>"
    )
