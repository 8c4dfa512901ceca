"""Checks of noise and choice that raise AssertionError: for the product, and for bugs planted in it."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
from scipy import special, stats

ALPHA = 1e-9
Sampler = Callable[[float, int], np.ndarray]


def weights_of(power: int, scale: float, numbers: np.ndarray) -> np.ndarray:
    """Unnormalised probabilities of integers, in floats good to 1e-12 or so."""
    k = np.abs(numbers).astype(float)
    return np.exp(-(k**2) / (2 * scale**2)) if power == 2 else np.exp(-k / scale)


def cell_probabilities(power: int, scale: float, edges: np.ndarray) -> np.ndarray:
    """Exact probabilities of a draw below edges[0], in [edges[i], edges[i+1]), ..., at or above the last."""
    if power == 2 and scale > 2000:  # sums are midpoint rules of the integral, to 1 part in 24 scale^2
        cumulative = special.ndtr((edges - 0.5) / scale)
    elif power == 1 and scale > 500:
        q = math.exp(-1 / scale)
        cumulative = np.where(edges <= 0, q ** (1.0 - edges), 1 + q - q ** np.maximum(edges, 0.0)) / (1 + q)
    else:
        reach = math.ceil((14 if power == 2 else 50) * scale) + 30
        numbers = np.arange(-reach, reach + 1)
        sums = np.concatenate([[0.0], np.cumsum(weights_of(power, scale, numbers))])
        cumulative = sums[np.clip(edges + reach, 0, sums.size - 1)] / sums[-1]
    return np.diff(np.concatenate([[0.0], cumulative, [1.0]]))


def chi_square(power: int, scale: float, drawn: np.ndarray) -> float:
    """The p-value of draws against the exact law, in at most 20 cells of 50 expected draws or more."""
    spread = scale if power == 2 else 1.5 * scale
    edges = np.unique(np.round(np.linspace(-2.6, 2.6, 19) * spread).astype(np.int64) + (drawn.size > 0))
    if edges.size < 10:
        edges = np.arange(-6, 8)
    expected = cell_probabilities(power, scale, edges) * drawn.size
    seen = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=edges.size + 1).astype(float)
    return p_value(expected, seen)


def p_value(expected: np.ndarray, seen: np.ndarray) -> float:
    """The p-value of frequencies against expected ones, cells merged until 50 are expected in each."""
    while expected.size > 1 and expected.min() < 50:  # merge a thin cell into its thinner neighbour
        i = int(expected.argmin())
        j = i + 1 if i == 0 or (i + 1 < expected.size and expected[i + 1] < expected[i - 1]) else i - 1
        expected[j] += expected[i]
        seen[j] += seen[i]
        expected, seen = np.delete(expected, i), np.delete(seen, i)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, max(expected.size - 1, 1)))


def check_law(power: int, scale: float, sampler: Sampler, draws: int = 1_000_000) -> None:
    """Draws follow the exact law of the scale."""
    assert chi_square(power, scale, sampler(scale, draws)) > ALPHA, f"scale {scale}: the law is another"


def check_integers(scale: float, sampler: Sampler) -> None:
    """Every draw is an int64, so sums with counts are exact and every neighbour reaches every output."""
    drawn = sampler(scale, 10_000)
    assert drawn.dtype == np.int64, f"noise of type {drawn.dtype} is not exact"


def unreachable(outputs: np.ndarray, count: float = 1.0) -> int:
    """How many outputs of `0 + noise` no float noise could have made of a neighbouring count.

    An output y is reached from the count c only if some float z has c + z == y after rounding.
    """
    floats = np.asarray(outputs, dtype=np.float64)
    z = floats - count
    near = [z, np.nextafter(z, -np.inf), np.nextafter(z, np.inf)]
    return int((~np.any([count + candidate == floats for candidate in near], axis=0)).sum())


def check_support(scale: float, sampler: Sampler) -> None:
    """Of 10^6 outputs none is impossible under a neighbour."""
    assert unreachable(sampler(scale, 1_000_000)) == 0, "some outputs give a count away"


def check_tails(power: int, scale: float, sampler: Sampler) -> None:
    """Draws far out come as often as the law says (a cut tail tells neighbours apart)."""
    draws = 4_000_000
    edge = math.ceil((4.4 if power == 2 else 10) * scale)
    chance = 2 * cell_probabilities(power, scale, np.array([edge]))[-1]
    seen = int((np.abs(sampler(scale, draws)) >= edge).sum())
    # Two-sided exact binomial test at 1e-9.
    low, high = stats.binom.cdf(seen, draws, chance), stats.binom.sf(seen - 1, draws, chance)
    assert min(low, high) > ALPHA, f"{seen} draws beyond {edge}, expected {chance * draws:.1f}"


def softmax(scores: list[int], epsilon: float, sensitivity: int) -> list[mpmath.mpf]:
    """The exponential mechanism's exact probabilities, to 60 digits."""
    with mpmath.workdps(60):
        factor = mpmath.mpf(epsilon) / (2 * sensitivity)
        best = max(scores)
        weights = [mpmath.exp(factor * (score - best)) for score in scores]
        total = mpmath.fsum(weights)
        return [weight / total for weight in weights]


def check_choice_law(
    choose: Callable[[np.ndarray, float, int], int],
    scores: list[int],
    epsilon: float,
    sensitivity: int = 1,
    draws: int = 10_000,
) -> None:
    """Choices follow exp(epsilon score / (2 sensitivity)), by chi-square at 1e-9."""
    array = np.array(scores, dtype=np.int64)
    picked = [choose(array, epsilon, sensitivity) for _ in range(draws)]
    seen = np.bincount(picked, minlength=array.size).astype(float)
    expected = np.array([float(p) for p in softmax(scores, epsilon, sensitivity)]) * draws
    thin = expected < 20
    seen = np.append(seen[~thin], seen[thin].sum())
    expected = np.append(expected[~thin], expected[thin].sum())
    if expected[-1] < 20:  # too rare for chi-square: at most a few may be seen at all
        assert stats.poisson.sf(seen[-1] - 1, expected[-1] + 1e-30) > ALPHA or seen[-1] == 0
        seen, expected = seen[:-1], expected[:-1]
    statistic = float(((seen - expected) ** 2 / expected).sum())
    assert stats.chi2.sf(statistic, max(expected.size - 1, 1)) > ALPHA, "the choice follows another law"
