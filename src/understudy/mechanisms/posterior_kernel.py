"""What cells hold, given noisy counts and what was expected of them, in compiled code.

A cell's count is taken to be one of a few things: nothing at all; what was expected, exactly or about; or anything of
that order (exponential laws of several means). Each has a posterior mean in closed form under normal noise.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]

_WIDTHS = np.array([0.0, 0.15, 0.5])  # of "what was expected, or about", beside what was expected
_MEANS = np.array([0.25, 1.0, 4.0])  # of "anything", beside what was expected
BELIEVED = np.array([0.4, 4.0, 0.2, 0.2, 0.05, 0.05, 0.05])  # cells of each law, before any is looked at
LAWS = 1 + len(_WIDTHS) + len(_MEANS)
_NOTHING = (
    1e-3  # of what was expected: a cell that holds nothing is given so much, as no logarithm is of zero
)
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@njit(cache=True, nogil=True)
def _log_below(z: float) -> float:
    """The logarithm of the chance that a standard normal is below z."""
    if z > -6.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    inverse = 1.0 / (z * z)
    return -0.5 * z * z - math.log(-z) - _LOG_ROOT + math.log1p(-inverse + 3.0 * inverse * inverse)


@njit(cache=True, nogil=True)
def _laws(noisy: float, prior: float, sigma: float, logs: Floats, means: Floats) -> None:
    """The log-likelihood of one noisy count under every law, and the mean of the count behind it."""
    logs[0] = -0.5 * (noisy / sigma) ** 2 - math.log(sigma) - _LOG_ROOT
    means[0] = 0.0
    at = 1
    for i in range(_WIDTHS.size):
        spread = (_WIDTHS[i] * prior) ** 2
        variance = sigma * sigma + spread
        logs[at] = -0.5 * (noisy - prior) ** 2 / variance - 0.5 * math.log(variance) - _LOG_ROOT
        means[at] = max(prior + spread / variance * (noisy - prior), 0.0)
        at += 1
    for i in range(_MEANS.size):
        mean = _MEANS[i] * prior
        z = noisy / sigma - sigma / mean
        below = _log_below(z)
        logs[at] = -math.log(mean) - noisy / mean + 0.5 * (sigma / mean) ** 2 + below
        means[at] = max(sigma * (z + math.exp(-0.5 * z * z - _LOG_ROOT - below)), 0.0)
        at += 1


@njit(cache=True, nogil=True)
def shares(noisy: Floats, prior: Floats, sigma: Floats, believed: Floats, rounds: int) -> Floats:
    """How common each law is among the cells, by so many rounds of expectation and maximisation.

    `believed` are cells of each law that are taken to have been seen already.
    """
    cells = noisy.size
    chances = np.empty((cells, LAWS))
    means = np.empty(LAWS)
    for cell in range(cells):
        _laws(noisy[cell], prior[cell], sigma[cell], chances[cell], means)
        chances[cell] = np.exp(chances[cell] - chances[cell].max())
    found: Floats = believed / believed.sum()
    for _ in range(rounds):
        seen = believed.copy()
        for cell in range(cells):
            joint = found * chances[cell]
            seen += joint / joint.sum()
        found = seen / seen.sum()
    return found


@njit(cache=True, nogil=True)
def expected(noisy: Floats, prior: Floats, sigma: Floats, common: Floats) -> Floats:
    """The mean of what each cell holds, when the laws are so common."""
    found = np.empty(noisy.size)
    logs, means = np.empty(LAWS), np.empty(LAWS)
    for cell in range(noisy.size):
        _laws(noisy[cell], prior[cell], sigma[cell], logs, means)
        chances = common * np.exp(logs - logs.max())
        held = (chances * means).sum() / chances.sum()
        found[cell] = max(held, _NOTHING * prior[cell])
    return found
