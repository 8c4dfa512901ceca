"""A comparison of a synthetic table with the real one as one self-contained HTML page. It shows private data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

import numpy as np

from understudy.domain import Schema
from understudy.evaluation.breakdown import Gap
from understudy.evaluation.columns import Columns
from understudy.evaluation.measures import CONFIDENTIAL, REAL, SYNTHETIC, TABLES, Evaluation, Figure
from understudy.report.histogram_bars import Counts, groups_of, ordered_codes, shortened

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
MORE_STYLE = """
.stamp { border: 3px solid #b00020; color: #b00020; border-radius: 8px; padding: .6rem 1rem; font-weight: 600 }
th.n { text-align: right } td.us { font-weight: 600 } .real { fill: #b9c4d6 }
.tick { stroke: #b00020; stroke-width: 2 }
.wide { overflow-x: auto }
"""
TIMES = " \N{MULTIPLICATION SIGN} "
BAR, LABEL = 420, 190  # widths, in the units of the picture of columns

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
    rows = found.evaluation.rows
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>CONFIDENTIAL: {escape(synthetic)}</title><style>{STYLE}{MORE_STYLE}</style></head><body>",
        f"<p class='stamp'>{escape(CONFIDENTIAL)} Unlike synthetic data or a release's report, this page has no "
        "privacy guarantee: do not publish it.</p>",
        f"<h1>How well {escape(synthetic)} stands in for {escape(real)}</h1>",
        f"<p>{rows[REAL]:,} real and {rows[SYNTHETIC]:,} synthetic records, {len(found.columns)} columns compared. "
        f"Seed {found.evaluation.seed}.</p>",
        *(f"<p>{escape(note)}</p>" for note in found.notes()),
        *_measures(found),
        "<h2>Columns, farthest apart first</h2>",
        "<p>Bars: the total variation between the synthetic column and the real one, the share of records that would "
        "have to change. Red mark: what a bootstrap of the real records has.</p>",
        _columns(sorted(found.columns, key=lambda gap: -gap.excess)),
        *_pairs(found.pairs),
        "<h2>Values</h2><p>Share of records: real above in grey, synthetic below in blue.</p><div class='cards'>",
        *(_card(found, gap.clique[0]) for gap in found.columns),
        "</div>",
        f"<footer>{escape(CONFIDENTIAL)}</footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _measures(found: Compared) -> list[str]:
    tables, figures = found.evaluation.tables, found.evaluation.figures
    said = [_meaning(figure) for figure in figures]
    rows = [  # what several figures in a row mean is said once
        _row(figure, tables, meaning if meaning != before else "")
        for figure, meaning, before in zip(figures, said, ["", *said], strict=False)
    ]
    heads = "".join(f"<th class='n'>{escape(table)}</th>" for table in tables)
    explained = "".join(
        f"<tr><td>{escape(table)}</td><td>{escape(TABLES[table])}</td></tr>" for table in tables
    )
    return [
        "<h2>Measures</h2><p>A figure says little alone: read it between the bootstrap's, which is as good as a "
        "table of this size need be, and that of independent columns.</p>",
        f"<div class='wide'><table><tr><th>measure</th><th>better</th>{heads}</tr>",
        *rows,
        f"</table></div><table class='small'>{explained}</table>",
    ]


def _meaning(figure: Figure) -> str:
    return next((text for start, text in MEANINGS.items() if figure.name.startswith(start)), "")


def _row(figure: Figure, tables: Sequence[str], meaning: str) -> str:
    cells = "".join(
        f"<td class='n{' us' if table == SYNTHETIC else ''}'>{figure.shown(table)}</td>" for table in tables
    )
    about = f"<div class='small'>{escape(meaning)}</div>" if meaning else ""
    return f"<tr><td>{escape(figure.name)}{about}</td><td>{escape(figure.better)}</td>{cells}</tr>"


def _columns(gaps: Sequence[Gap]) -> str:
    """One bar a column, with a mark where a bootstrap's would end."""
    top = max([*(gap.synthetic for gap in gaps), *(gap.bootstrap for gap in gaps)]) or 1.0
    rows = []
    for number, gap in enumerate(gaps):
        y, name = 18 * number, gap.clique[0]
        length, limit = BAR * gap.synthetic / top, LABEL + BAR * gap.bootstrap / top
        rows.append(
            f"<g><title>{escape(name)}: {gap.synthetic:.4f}, a bootstrap {gap.bootstrap:.4f}</title>"
            f"<text x='{LABEL - 6}' y='{y + 13}' font-size='12' text-anchor='end'>{escape(shortened(name))}</text>"
            f"<rect class='bar' x='{LABEL}' y='{y + 3}' width='{length:.1f}' height='12'/>"
            f"<line class='tick' x1='{limit:.1f}' y1='{y + 1}' x2='{limit:.1f}' y2='{y + 17}'/>"
            f"<text x='{LABEL + BAR + 10}' y='{y + 13}' font-size='12'>{gap.synthetic:.4f}</text></g>"
        )
    height = 18 * len(gaps) + 4
    return f"<svg viewBox='0 0 {LABEL + BAR + 70} {height}' width='100%' role='img'>{''.join(rows)}</svg>"


def _pairs(gaps: Sequence[Gap]) -> list[str]:
    if not gaps:
        return []
    rows = [
        f"<tr><td>{escape(TIMES.join(gap.clique))}</td><td class='n us'>{gap.synthetic:.4f}</td>"
        f"<td class='n'>{gap.bootstrap:.4f}</td></tr>"
        for gap in gaps
    ]
    return [
        "<h2>Pairs of columns, farthest apart first</h2>",
        "<table><tr><th>pair</th><th class='n'>total variation</th><th class='n'>bootstrap</th></tr>",
        *rows,
        "</table>",
    ]


def _card(found: Compared, name: str) -> str:
    """A column's two histograms, one above the other in every row."""
    column = found.schema.columns[name]
    real, synthetic = (_shares(found, table, name) for table in (REAL, SYNTHETIC))
    groups, note = groups_of(real + synthetic, column.labels(), ordered_codes(column))
    bars = [(text, float(real[codes].sum()), float(synthetic[codes].sum())) for text, codes in groups]
    top = max([share for _, *shares in bars for share in shares], default=0.0) or 1.0
    rows = [
        f"<g><title>{escape(text)}: real {mine:.2%}, synthetic {theirs:.2%}</title>"
        f"<text x='112' y='{14 * row + 10}' font-size='9' text-anchor='end'>{escape(shortened(text))}</text>"
        f"<rect class='real' x='116' y='{14 * row + 2}' width='{140 * mine / top:.1f}' height='5'/>"
        f"<rect class='bar' x='116' y='{14 * row + 7}' width='{140 * theirs / top:.1f}' height='5'/></g>"
        for row, (text, mine, theirs) in enumerate(bars)
    ]
    strange = 1.0 - float(synthetic.sum())
    note += (
        f"<p class='small'>{strange:.2%} of the synthetic values are not known</p>" if strange > 1e-9 else ""
    )
    return (
        f"<div class='card'><h3>{escape(name)}</h3>"
        f"<svg viewBox='0 0 260 {14 * len(bars) + 6}' width='100%' role='img'>{''.join(rows)}</svg>{note}</div>"
    )


def _shares(found: Compared, table: str, name: str) -> Counts:
    codes = found.codes[table][name]
    known = codes[codes >= 0].astype(np.int64)
    return np.bincount(known, minlength=found.schema.columns[name].size) / len(codes)
