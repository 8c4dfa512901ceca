"""Edges that a person would write: steps of 1, 2 and 5, and digits no finer than they need to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

LADDER = [factor * 10**power for power in range(19) for factor in (1, 2, 5)]
FRACTIONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def ladder(steps: Sequence[float], low: float | None, high: float | None) -> list[float]:
    """These steps between the bounds that are known, from zero and from each bound."""
    known = [end for end in (low, high) if end is not None]
    edges: set[float] = {*(-step for step in steps), 0, *steps, *known}
    for end in known:  # steps that a large bound can be told from
        edges |= {end + side * step * size for step in steps for side in (-1, 1) for size in (1, abs(end))}
    return [e for e in edges if (low is None or e >= low) and (high is None or e <= high)]


def cut(low: float, high: float, parts: int) -> npt.NDArray[np.float64]:
    """The lower edges of so many parts, about equal: rounded to digits that a person would write."""
    edges = np.linspace(low, high, parts, endpoint=False)
    rounded = np.round(edges, digits((high - low) / parts) + 1)
    return np.where((rounded >= low) & (rounded < high), rounded, edges)


def digits(width: float) -> int:
    """How many decimals tell numbers so far apart from each other (negative: whole tens, hundreds, ...)."""
    return int(np.clip(np.ceil(-np.log10(width)), -300, 300))


def tail(edges: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Places of edges that keep every bin of a long tail within a step of the ladder, however few records it holds.

    Records are taken to lie evenly in a bin: in one from 100 thousand to a million they would be far too rich.
    """
    furthest = float(np.abs(edges).max())
    steps = np.array([step for step in (*FRACTIONS, *LADDER) if step >= furthest / 1000])
    steps = np.concatenate([-steps[::-1], steps])
    return np.asarray(np.searchsorted(edges, steps[(steps > edges[0]) & (steps < edges[-1])]), np.int64)


def tops(cuts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest float of each bin between cuts: only the last one holds its upper edge."""
    return np.append(np.nextafter(cuts[1:-1], -np.inf), cuts[-1])
