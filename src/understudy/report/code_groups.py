"""The codes of a column in groups that are few enough to look at, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Column

Floats = npt.NDArray[np.float64]
Behind = Mapping[int, Sequence[int]]  # a code -> the values of the column that it stands for, in order


@dataclass(frozen=True)
class CodeGroup:
    """Codes that share a bar or a row: what they are called, and how many values they stand for.

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


def grouped(column: Column, behind: Behind, counts: Floats, most: int) -> list[CodeGroup]:
    """At most so many groups: neighbours together in a column with an order, else the largest and all others.

    `counts` are those of the codes, and decide which are the largest.
    """
    texts = column.labels()
    ordered = column.ranges if column.ordered else 0
    lined = sorted(
        (code for code, old in behind.items() if _in_line(old, ordered)), key=lambda code: behind[code][0]
    )
    apart = set(lined)
    loose = [code for code in behind if code not in apart]
    if not ordered:
        return _largest([*lined, *loose], most, behind, counts, texts, column)
    room = max(most - min(len(loose), most // 2), 1)
    runs = np.array_split(np.array(lined, int), min(room, len(lined))) if lined else []
    found = [_group([behind[code] for code in run.tolist()], run.tolist(), texts, column) for run in runs]
    return found + _largest(loose, most - len(found), behind, counts, texts, column)


def in_groups(groups: Sequence[CodeGroup], counts: Floats, axis: int = 0) -> Floats:
    """Counts by code as counts by group, along one axis."""
    return np.stack([np.take(counts, group.codes, axis=axis).sum(axis=axis) for group in groups], axis=axis)


def _in_line(old: Sequence[int], ordered: int) -> bool:
    """Whether these values are neighbours in a column's order."""
    return old[-1] < ordered and old[-1] - old[0] + 1 == len(old)


def _largest(
    codes: Sequence[int], most: int, behind: Behind, counts: Floats, texts: Sequence[str], column: Column
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
