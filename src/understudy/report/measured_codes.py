"""The codes of a column as they were measured, in groups that are few enough to look at.

Codes that were too rare were measured as one, and come back spread over all of them. A picture that drew each of them
would show detail that nobody measured: so a group has all the codes that one measured number stands for, or several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Column
from understudy.marginals import Measurement
from understudy.report.released import Released

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CodeGroup:
    """Codes of the model that share a bar or a row: what they are called, and how many values they stand for.

    `merged` are the values among them that were measured as one with others.
    """

    text: str
    codes: tuple[int, ...]
    values: int
    merged: int

    @property
    def spread(self) -> bool:
        """Whether most of what it stands for was never measured apart."""
        return self.merged * 2 > self.values


def code_groups(release: Released, name: str, most: int) -> list[CodeGroup]:
    """At most so many groups: neighbours together in a column with an order, else the largest and all others."""
    column, compression = release.schema.columns[name], release.compression
    texts, new = column.labels(), compression.maps[name]
    behind: dict[int, list[int]] = {}
    for old in sorted(compression.possible(name).tolist()):
        behind.setdefault(int(new[old]), []).append(old)
    ordered = column.ranges if column.ordered else 0
    counts = np.asarray(release.field.marginal((name,)).counts, np.float64)
    if column.layout.open_end:
        behind = _as_far_as_records_reach(behind, counts, ordered)
    lined = sorted(
        (code for code, old in behind.items() if _in_line(old, ordered)), key=lambda code: behind[code][0]
    )
    loose = [code for code in behind if code not in set(lined)]
    if ordered:
        room = max(most - min(len(loose), most // 2), 1)
        runs = np.array_split(np.array(lined, int), min(room, len(lined))) if lined else []
        found = [_group([behind[code] for code in run.tolist()], run.tolist(), texts, column) for run in runs]
        return found + _largest(loose, most - len(found), behind, counts, texts, column)
    return _largest([*lined, *loose], most, behind, counts, texts, column)


def _in_line(old: Sequence[int], ordered: int) -> bool:
    """Whether these codes are neighbours in a column's order."""
    return old[-1] < ordered and old[-1] - old[0] + 1 == len(old)


def _as_far_as_records_reach(
    behind: dict[int, list[int]], counts: Floats, ordered: int
) -> dict[int, list[int]]:
    """The codes up to the last that holds records, and the slots that hold some."""
    last = max((old[0] for code, old in behind.items() if old[0] < ordered and counts[code] > 0), default=0)
    return {
        code: old
        for code, old in behind.items()
        if old[0] <= last or (old[0] >= ordered and counts[code] > 0) or counts[code] >= 0.5
    }


def _largest(
    codes: Sequence[int],
    most: int,
    behind: dict[int, list[int]],
    counts: Floats,
    texts: Sequence[str],
    column: Column,
) -> list[CodeGroup]:
    """Each code on its own; where there are too many the largest, and the others in one group."""
    if len(codes) <= max(most, 1):
        return [_group([behind[code]], [code], texts, column) for code in codes]
    order = sorted(codes, key=lambda code: -counts[code])
    kept = sorted(order[: max(most - 1, 0)], key=lambda code: behind[code][0])
    rest = order[max(most - 1, 0) :]
    return [
        *(_group([behind[code]], [code], texts, column) for code in kept),
        _group([behind[code] for code in rest], rest, texts, column, others=True),
    ]


def _group(
    behind: Sequence[Sequence[int]],
    codes: Sequence[int],
    texts: Sequence[str],
    column: Column,
    *,
    others: bool = False,
) -> CodeGroup:
    old = sorted(code for some in behind for code in some)
    if len(old) == 1:
        text = texts[old[0]]
    elif column.ordered and _in_line(old, column.ranges):
        text = (
            f"{texts[old[0]].split(' to ', maxsplit=1)[0]} to {texts[old[-1]].rsplit(' to ', maxsplit=1)[-1]}"
        )
    elif len(codes) > 1 and column.ordered and old[-1] < column.ranges and not others:
        text = f"{texts[old[0]]} to {texts[old[-1]]}, {len(old):,} values"
    else:
        text = f"{len(old):,} {'other' if others else 'rare'} values"
    merged = sum(len(some) for some in behind if len(some) > 1)
    return CodeGroup(text, tuple(int(code) for code in codes), len(old), merged)


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts of a column or of several in the model's codes, and the standard deviation of each."""

    values: Floats
    stddev: Floats

    def grouped(self, axis: int, groups: Sequence[CodeGroup]) -> NoisyTable:
        """The same with an axis in groups: counts add up, and so do variances."""
        values, variance = (
            np.stack([np.take(array, group.codes, axis=axis).sum(axis=axis) for group in groups], axis=axis)
            for array in (self.values, self.stddev**2)
        )
        return NoisyTable(values, np.sqrt(variance))


def noisy_table(release: Released, clique: Sequence[str]) -> NoisyTable | None:
    """What was measured of these columns, from every measurement that has them all; None where there is none.

    Several are weighted by how exact they are. Measurements of anything but counts are left out.
    """
    weights: Floats | None = None
    total: Floats | None = None
    for measured in release.measurements:
        if measured.query is not None or not set(clique) <= set(measured.clique):
            continue
        values, variance = _projected(release, measured, clique)
        exact = 1.0 / variance
        weights = exact if weights is None else weights + exact
        total = values * exact if total is None else total + values * exact
    if weights is None or total is None:
        return None
    return NoisyTable(total / weights, 1.0 / np.sqrt(weights))


def _projected(release: Released, measured: Measurement, clique: Sequence[str]) -> tuple[Floats, Floats]:
    """A measurement's counts of fewer columns, and their variances; axes in the clique's order."""
    shape = tuple(release.field.domain[name] for name in measured.clique)
    away = tuple(axis for axis, name in enumerate(measured.clique) if name not in clique)
    left = [name for name in measured.clique if name in clique]
    order = [left.index(name) for name in clique]
    values = measured.values.reshape(shape).sum(axis=away)
    variance = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(shape).sum(axis=away)
    return np.transpose(values, order), np.transpose(variance, order)


def signal_to_noise(values: Floats, stddev: Floats, expected: Floats) -> float:
    """How far counts lie from those expected, beside what noise alone would do: 1 is as much again as noise.

    Noise makes any two tables differ by its variance in each cell; what is left over is signal.
    """
    off, noise = float(((values - expected) ** 2).sum()), float((stddev**2).sum())
    return math.sqrt(max(off - noise, 0.0) / noise) if noise > 0 else math.inf
