"""Where in a bin its records lie, as far as a finer histogram tells: numbers that begin pieces, and their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain.columns.parts.fields import ascending, finite, listed, refuse

Floats = npt.NDArray[np.float64]
Pieces = tuple[tuple[float, float], ...]
Smooth = Callable[
    [Floats, Floats, float], Floats
]  # noisy counts, what is expected, their noise: what is likely

MOST_PIECES = 5_000
_ALIKE = 0.1  # of each other: pieces whose weights differ by no more for their width are one


def checked_density(given: Any) -> Pieces:
    """Pieces in a plain form: `[[0, 12], [10, 3]]` has a weight of 12 from 0 to 10 and of 3 from there on."""
    pieces = []
    for piece in listed("density", given):
        pair = isinstance(piece, list | tuple) and len(piece) == 2
        start, weight = piece if pair else (None, None)
        pieces.append((finite("density", start), finite("density", weight)))
        if not pieces[-1][1] >= 0:
            refuse("density", weight, "is no weight.", "write pairs of a number and a weight of at least 0.")
    if len(pieces) > MOST_PIECES:
        refuse("density", len(pieces), "pieces are too many.", f"give {MOST_PIECES} at most.")
    ascending("density", tuple(start for start, _ in pieces))
    return tuple(pieces)


def density_of(places: Floats, weights: Floats, cuts: Sequence[float]) -> Pieces:
    """The cells between places as pieces, those alike joined unless a cut lies between; weights in three digits."""
    found: list[tuple[float, float, float]] = []
    fixed = set(cuts)
    for start, end, weight in zip(places.tolist(), places[1:].tolist(), weights.tolist(), strict=False):
        if found and start not in fixed:
            first, last, held = found[-1]
            thick, thin = held / (last - first), weight / (end - start)
            if abs(thick - thin) <= _ALIKE * max(thick, thin):
                found[-1] = first, end, held + weight
                continue
        found.append((start, end, weight))
    return tuple((start, float(f"{weight:.3g}")) for start, _, weight in found)


def sloping(places: Floats, cuts: Floats, counts: Floats) -> Floats:
    """What cells hold if each bin between cuts holds what it was counted, thicker towards thicker neighbours."""
    held = np.maximum(np.diff(np.interp(cuts, places, np.append(0.0, np.cumsum(counts)))), 1e-9)
    thick = held / np.diff(cuts)
    edges = np.concatenate([thick[:1], (thick[1:] + thick[:-1]) / 2, thick[-1:]])
    middles = np.clip((places[1:] + places[:-1]) / 2, cuts[0], cuts[-1])
    bins = np.clip(np.searchsorted(cuts, middles, side="right") - 1, 0, len(thick) - 1)
    # Up to the middle of a bin from one edge, from there to the other: its own thickness in the middle.
    knots = np.concatenate([cuts, (cuts[1:] + cuts[:-1]) / 2])
    order = np.argsort(knots)
    cells = np.interp(middles, knots[order], np.concatenate([edges, thick])[order]) * np.diff(places)
    whole: Floats = (
        cells * (held / np.maximum(np.bincount(bins, weights=cells, minlength=len(held)), 1e-300))[bins]
    )
    return whole


def place_within(pieces: Pieces, end: float, low: Floats, high: Floats, shares: Floats) -> Floats:
    """The number below which each share of the mass from `low` to `high` lies: evenly where there is none."""
    cuts = np.array([*(start for start, _ in pieces), max(end, np.nextafter(pieces[-1][0], np.inf))])
    mass = np.append(0.0, np.cumsum([weight for _, weight in pieces]))
    first, last = np.interp(low, cuts, mass), np.interp(high, cuts, mass)
    held = last > first
    even = low * (1 - shares) + high * shares
    found = np.interp(first + shares * (last - first), mass, cuts)
    return np.clip(np.where(held, found, even), low, high)
