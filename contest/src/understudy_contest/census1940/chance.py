"""Seeded draws for whole columns at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Chance:
    """A source of draws, every method returning one value a record."""

    generator: np.random.Generator

    def coin(self, probability: Any, count: int | None = None) -> Mask:
        """True with the given probability, one for all or one a record."""
        size = np.shape(probability) if count is None else (count,)
        return np.asarray(self.generator.random(size) < probability)

    def pick(self, weights: Any, count: int) -> Ints:
        """Positions 0..k-1, in proportion to k weights."""
        edges = np.cumsum(np.asarray(weights, dtype=np.float64))
        return np.searchsorted(edges / edges[-1], self.generator.random(count), side="right")

    def pick_by(self, groups: npt.NDArray[Any], weights: Any) -> Ints:
        """Positions 0..k-1, record i by the weights in row groups[i]."""
        table = np.asarray(weights, dtype=np.float64)
        edges = np.cumsum(table, axis=1)
        edges /= edges[:, -1:]
        # Row g occupies the interval (g, g + 1], so that one search serves every group.
        flat = (edges + np.arange(len(table))[:, None]).ravel()
        place = np.searchsorted(flat, groups + self.generator.random(len(groups)), side="right")
        drawn: Ints = np.minimum(place - groups * table.shape[1], table.shape[1] - 1)
        return drawn

    def normal(self, count: int) -> Floats:
        """Standard normal deviates."""
        return self.generator.standard_normal(count)


def zipf(count: int, exponent: float) -> Floats:
    """Weights 1, 2^-s, 3^-s, ..."""
    return np.arange(1, count + 1, dtype=np.float64) ** -exponent


def crossed(*codes_and_sizes: tuple[npt.NDArray[Any], int]) -> Ints:
    """One group number a record for a crossing of small columns, the last varying fastest."""
    group = np.zeros(len(codes_and_sizes[0][0]), np.int64)
    for codes, size in codes_and_sizes:
        group = group * size + codes
    return group


def scattered(count: int, where: npt.NDArray[Any], values: Any, otherwise: int) -> Ints:
    """A column that holds `values` at the positions `where` and `otherwise` elsewhere."""
    column = np.full(count, otherwise, np.int64)
    column[where] = values
    return column


def log_linear(base: Any, *tilts: tuple[Any, npt.NDArray[Any]]) -> Floats:
    """Weights exp(base + sum of slope * direction): one row for each combination of the slopes.

    Each tilt is (slopes of its levels, direction over the categories); the last tilt varies fastest, as
    in `crossed`.
    """
    rows = np.log(np.asarray(base, dtype=np.float64))[None, :]
    for slopes, direction in tilts:
        step = np.asarray(slopes, dtype=np.float64)[:, None] * np.asarray(direction)[None, :]
        rows = (rows[:, None, :] + step[None, :, :]).reshape(-1, rows.shape[1])
    weights: Floats = np.exp(rows)
    return weights
