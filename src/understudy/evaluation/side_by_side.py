"""Pictures of two tables beside each other: columns, pairs of columns, and how strongly all columns go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from understudy.domain import Clique, Schema
from understudy.evaluation.breakdown import Gap
from understudy.evaluation.columns import Columns, pieces, rows_of, thin
from understudy.evaluation.correlation import Correlation
from understudy.evaluation.measures import REAL, SYNTHETIC
from understudy.report.code_groups import CodeGroup, Floats, grouped, in_groups
from understudy.report.plots.bar_rows import BarRow, TwoBars, bar_rows, paired_rows
from understudy.report.plots.heat_map import heat_map

BARS, CELLS = 24, 12
MOST_COLUMNS = 200  # of the matrices
MOST_VALUES = 2_000  # of a column without an order, that are kept though no record has them
LEAST_TOP = 0.2  # a difference that is shaded fully, at least
ROWS, LEVELS = 20_000, 12  # records and values of a column that the matrices look at

Tables = Mapping[str, Columns]  # codes of the real table and of the synthetic one


@dataclass(frozen=True)
class ColumnBeside:
    """A column of both tables, and how far apart they are."""

    gap: Gap
    picture: Markup
    rows: tuple[tuple[str, str, str], ...]
    unknown: float  # the share of synthetic values that the real table does not know


@dataclass(frozen=True)
class PairBeside:
    """A pair of columns of both tables, and the difference."""

    gap: Gap
    real: Markup
    synthetic: Markup
    difference: Markup


def column_beside(schema: Schema, tables: Tables, gap: Gap) -> ColumnBeside:
    """The shares of a column's values in both tables."""
    (name,) = gap.clique
    groups, shares = grouped_shares(schema, tables, name, BARS)
    mine, theirs = (shares[table].tolist() for table in (REAL, SYNTHETIC))
    bars = [
        TwoBars(group.text, one, other, f"real {one:.2%}, synthetic {other:.2%}")
        for group, one, other in zip(groups, mine, theirs, strict=True)
    ]
    worst = max(bars, key=lambda bar: abs(bar.first - bar.second))
    return ColumnBeside(
        gap,
        paired_rows(
            bars,
            title=f"Column {name}, real and synthetic",
            description=f"Farthest apart at {worst.text}: {worst.said}",
        ),
        tuple((bar.text, f"{bar.first:.2%}", f"{bar.second:.2%}") for bar in bars),
        1.0 - float(shares[SYNTHETIC].sum()),
    )


def gap_bars(gaps: Sequence[Gap]) -> Markup:
    """A bar a column, with a mark where a bootstrap of the real records would be."""
    return bar_rows(
        [
            BarRow(
                gap.clique[0],
                gap.synthetic,
                f"{gap.synthetic:.4f}, a bootstrap {gap.bootstrap:.4f}",
                mark=gap.bootstrap,
            )
            for gap in gaps
        ],
        title="How far apart columns are",
        description="; ".join(f"{gap.clique[0]} {gap.synthetic:.3f}" for gap in gaps[:5]),
        width=360,
        label=120,
        class_="narrow",
    )


def pair_beside(schema: Schema, tables: Tables, gap: Gap) -> PairBeside:
    """The shares of a pair's cells in both tables, shaded alike, and by how much they differ."""
    first, second = gap.clique
    groups = []
    for name in gap.clique:
        shares = {table: _shares(schema, tables[table], name) for table in (REAL, SYNTHETIC)}
        groups.append(_groups(schema, shares, name, CELLS))
    cells = {table: _cells(schema, tables[table], gap.clique, groups) for table in (REAL, SYNTHETIC)}
    top = max(float(found.max(initial=0.0)) for found in cells.values())
    off = cells[SYNTHETIC] - cells[REAL]
    rows, columns = ([group.text for group in some] for some in groups)

    def drawn(values: Floats, what: str, most: float, sign: str, said: str) -> Markup:
        return heat_map(
            100 * values,
            rows,
            columns,
            title=f"{first} by {second}, {what}",
            description=said,
            top=100 * most,
            unit="%",
            said=lambda value: f"{value:{sign}.2f}",
        )

    y, x = np.unravel_index(int(np.argmax(np.abs(off))), off.shape)
    said = f"Most different: {rows[y]} and {columns[x]}, {100 * off[y, x]:+.2f} per cent of records"
    return PairBeside(
        gap,
        drawn(cells[REAL], "real", top, "", ""),
        drawn(cells[SYNTHETIC], "synthetic", top, "", ""),
        drawn(off, "synthetic less real", float(np.abs(off).max(initial=0.0)), "+", said),
    )


@dataclass(frozen=True)
class Matrices:
    """How strongly all pairs of columns go together: both tables in one picture, and the difference in another."""

    both: Markup
    difference: Markup
    columns: int


def matrices(tables: Tables, seed: int) -> Matrices | None:
    """Cramér's V of every pair; the real table below the diagonal, the synthetic one above."""
    names = list(tables[REAL])[:MOST_COLUMNS]
    if len(names) < 2:
        return None
    rng = np.random.default_rng([seed, 7])
    thinned = {
        table: thin({name: tables[table][name] for name in names}, ROWS, rng) for table in (REAL, SYNTHETIC)
    }
    measure, pairs = Correlation("cramer", levels=LEVELS), list(combinations(names, 2))
    found = {table: measure.association(thinned[table], thinned[REAL], list(pairs)) for table in thinned}
    above = np.triu_indices(len(names), 1)
    both, off = np.full((2, len(names), len(names)), np.nan)
    both[above] = found[SYNTHETIC]
    both.T[above] = found[REAL]
    off[above] = off.T[above] = found[SYNTHETIC] - found[REAL]
    worst = pairs[int(np.argmax(np.abs(found[SYNTHETIC] - found[REAL])))]
    return Matrices(
        heat_map(
            both,
            names,
            names,
            title="How strongly columns go together",
            description="Real below the diagonal, synthetic above",
            top=1.0,
            said=lambda value: f"{value:.2f}",
            width=440,
            root=False,
        ),
        heat_map(
            off,
            names,
            names,
            title="Synthetic less real",
            description=f"Most different: {worst[0]} and {worst[1]}",
            top=max(LEAST_TOP, float(np.abs(found[SYNTHETIC] - found[REAL]).max())),
            said=lambda value: f"{value:+.2f}",
            width=440,
            root=False,
        ),
        len(names),
    )


def grouped_shares(
    schema: Schema, tables: Tables, name: str, most: int
) -> tuple[list[CodeGroup], dict[str, Floats]]:
    """A column's values in groups, and the share of each group in either table."""
    shares = {table: _shares(schema, tables[table], name) for table in (REAL, SYNTHETIC)}
    groups = _groups(schema, shares, name, most)
    return groups, {table: in_groups(groups, found) for table, found in shares.items()}


def _groups(schema: Schema, shares: Mapping[str, Floats], name: str, most: int) -> list[CodeGroup]:
    """Groups of a column's codes; of slots, and of very many values, those that hold records."""
    counts = shares[REAL] + shares[SYNTHETIC]
    column = schema.columns[name]
    few = column.ordered or len(counts) <= MOST_VALUES
    held = counts > 0
    held[: column.ranges if few else 0] = True
    return grouped(column, {code: [code] for code in np.flatnonzero(held).tolist()}, counts, most)


def _shares(schema: Schema, table: Columns, name: str) -> Floats:
    codes, size = table[name], schema.columns[name].size
    counts = np.zeros(size + 1, np.int64)  # the last for what is not known, whose code is -1
    for piece in pieces(len(codes)):
        counts += np.bincount(codes[piece].astype(np.int64) % (size + 1), minlength=size + 1)
    return np.asarray(counts[:size] / len(codes))


def _cells(schema: Schema, table: Columns, clique: Clique, groups: Sequence[Sequence[CodeGroup]]) -> Floats:
    """The share of records in every cell of two grouped columns; values that are not known are in none."""
    shape = tuple(len(some) + 1 for some in groups)  # the last for what is in no group
    where: list[npt.NDArray[np.int64]] = []
    for name, some in zip(clique, groups, strict=True):
        where.append(np.full(schema.columns[name].size + 1, len(some)))  # the last for what is not known
        for place, group in enumerate(some):
            where[-1][list(group.codes)] = place
    first, second = (table[name] for name in clique)
    counts = np.zeros(shape[0] * shape[1], np.int64)
    for piece in pieces(rows_of(table)):
        places = where[0][first[piece]] * shape[1] + where[1][second[piece]]
        counts += np.bincount(places, minlength=len(counts))
    return np.asarray(counts.reshape(shape)[:-1, :-1] / rows_of(table))
