"""The bars of a column's histogram: few enough to look at, whatever the number of codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.domain import Column

Counts = npt.NDArray[np.float64]

BARS = 24  # of a column's histogram at most


def ordered_codes(column: Column) -> int:
    """How many of a column's first codes have an order: neighbours among them may share a bar."""
    return column.ranges if column.ordered else 0


def bars_of(counts: Counts, texts: list[str], ordered: int) -> tuple[list[tuple[str, float]], str]:
    """A text and a count for each bar, and a note where some values have none."""
    groups, note = groups_of(counts, texts, ordered)
    return [(text, float(counts[codes].sum())) for text, codes in groups], note


def groups_of(counts: Counts, texts: list[str], ordered: int) -> tuple[list[tuple[str, slice]], str]:
    """A text and the codes for each bar: neighbouring values taken together, or, without an order, the largest.

    The first `ordered` codes have an order; those after them are slots, shown on their own.
    """
    if len(counts) <= BARS:
        return [(text, slice(code, code + 1)) for code, text in enumerate(texts)], ""
    if not ordered:
        shown = np.sort(np.argsort(-counts, kind="stable")[:BARS]).tolist()
        note = f"<p class='small'>the {BARS} most frequent of {len(counts):,} values</p>"
        return [(texts[code], slice(code, code + 1)) for code in shown], note
    slots = min(len(counts) - ordered, BARS // 2)
    starts = np.unique(np.linspace(0, ordered, BARS - slots, endpoint=False).astype(int)).tolist()
    groups = []
    for first, end in zip(starts, [*starts[1:], ordered], strict=True):
        text = texts[first] if end - first == 1 else f"{_first(texts[first])} to {_last(texts[end - 1])}"
        groups.append((text, slice(first, end)))
    return groups + [(texts[code], slice(code, code + 1)) for code in range(ordered, ordered + slots)], ""


def shortened(text: str) -> str:
    """The text, or as much of it as fits beside a bar."""
    return text if len(text) <= 24 else text[:23] + "\N{HORIZONTAL ELLIPSIS}"


def _first(text: str) -> str:
    return text.split(" to ", maxsplit=1)[0]


def _last(text: str) -> str:
    return text.rsplit(" to ", maxsplit=1)[-1]
