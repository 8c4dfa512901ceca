"""Whether columns are found to depend on each other by more than chance and noise, before any pair is chosen.

A forecast knows the noise, and not how much there is to learn: of so many records, noise hides all pairs of columns
that hardly depend on each other, and not those of columns that do. Where it lies between, one noisy number is asked,
over all pairs: how far they are from what the columns say alone. What chance and noise do to it is known, as both can
be drawn again. Where it is little more than that, what is left of the budget is worth most in the columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.mechanisms.field_estimates import FieldEstimates
from understudy.mechanisms.tables.noise_price import Cells
from understudy.model import MarkovField
from understudy.privacy import Curator, Gaussian

DOUBTFUL = 0.5  # of what pairs tell: where noise is forecast to hide less, they are worth measuring
SHARE = Fraction(2, 100)  # of what measures, for the number
UNCLEAR = 0.5  # of what chance does: where the number's noise is more, it is not asked,
UNLIKELY = 0.7  # and pairs are left where noise is forecast to hide more of them than this
DEVIATIONS, ENOUGH = 1.0, 0.2  # of noise, and of the distance, that has to be more than chance
PAIRS, MOST_CELLS = 300, 40_000  # that are looked at, and of each of them
DRAWS = 2  # of what chance and noise do


@dataclass(frozen=True)
class Doubt:
    """Whether pairs are worth measuring, and what part of a loss it took to find out."""

    worth: bool
    spent: Fraction


def doubted(
    curator: Curator,
    field: MarkovField,
    alone: Sequence[Measurement],
    pool: Gaussian,
    hidden: float,
    matters: Callable[[Clique], float] | None = None,
) -> Doubt:
    """Whether pairs are worth measuring that noise is forecast to hide such a part of.

    Parameters:
        curator: who answers, with the codes of the field.
        field: what is known of the columns, none of which goes with another.
        alone: what is known of each column, with its noise.
        pool: the loss of which a portion may be spent.
        hidden: what part of pairs noise would hide, as far as can be told beforehand.
        matters: how much a clique does; all alike by default.
    """
    pairs = _some(
        [p for p in itertools.combinations(field.domain, 2) if matters is None or matters(p) > 0], field
    )
    if hidden <= DOUBTFUL or not pairs:
        return Doubt(True, Fraction(0))
    estimates = FieldEstimates(field)
    estimates.expect(pairs)
    noise = {m.clique[0]: np.asarray(m.stddev, np.float64) for m in alone}
    chance = _by_chance(field, noise, estimates, pairs)
    portion = pool.portion(SHARE)
    if portion.batch(None, curator.neighbours).sigma * curator.neighbours.l1 > UNCLEAR * chance:
        return Doubt(hidden <= UNLIKELY, Fraction(0))
    found = curator.distances([pairs], estimates, portion)
    distance, stddev = (float(told[0]) / len(pairs) for told in (found.values, found.stddev))
    more = distance - chance
    return Doubt(more >= DEVIATIONS * stddev and more >= ENOUGH * distance, SHARE)


def _by_chance(
    field: MarkovField, noise: Mapping[str, Cells], estimates: FieldEstimates, pairs: Sequence[Clique]
) -> float:
    """How far pairs of independent columns would be from the field in the mean: by chance, and by their noise."""
    rng = np.random.default_rng(0)
    total = max(field.total, 1.0)
    columns = {name: np.asarray(field.marginal((name,)).counts, np.float64) for name in field.domain}
    found = 0.0
    for _ in range(DRAWS):
        true = {name: _moved(held, noise[name], total, rng) for name, held in columns.items()}
        found += sum(
            float(np.abs(rng.poisson(np.outer(true[a], true[b]) / total) - estimates((a, b))).sum())
            for a, b in pairs
        )
    return found / DRAWS / len(pairs)


def _moved(held: Cells, noise: Cells, total: float, rng: np.random.Generator) -> Cells:
    """A column as it may be where it is known with such noise, as far as codes hold records at all."""
    moved = np.maximum(held + np.minimum(noise, held) * rng.standard_normal(held.size), 0.0)
    whole = float(moved.sum())
    return np.asarray(moved * (total / whole) if whole > 0 else np.full(held.size, total / held.size))


def _some(pairs: Sequence[Clique], field: MarkovField) -> list[Clique]:
    """The pairs that are looked at: decided by the public sizes of columns, and what is known of them."""
    small = [pair for pair in pairs if field.domain.size(pair) <= MOST_CELLS]
    if len(small) <= PAIRS:
        return small
    places = np.random.default_rng(0).choice(len(small), PAIRS, replace=False)
    return [small[place] for place in sorted(places.tolist())]
