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
_SETTLED = 1e-7  # a share of the cells: where no law's moved further, another round is not worth its time
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
def posterior_means(
    noisy: Floats, prior: Floats, sigma: Floats, believed: Floats, rounds: int, step: int
) -> Floats:
    """The mean of what each cell holds, when the laws are as common as the cells themselves say.

    How common they are is learned from every `step`-th cell, by at most so many rounds of expectation and
    maximisation. `believed` are cells of each law that are taken to have been seen already.
    """
    looked_at = (noisy.size + step - 1) // step
    chances, logs, means = np.empty((looked_at, LAWS)), np.empty(LAWS), np.empty((looked_at, LAWS))
    for place in range(looked_at):
        cell = place * step
        _laws(noisy[cell], prior[cell], sigma[cell], logs, means[place])
        _scaled(logs, chances[place])
    common = _common(chances, believed, rounds)
    found = np.empty(noisy.size)
    for cell in range(noisy.size):
        if cell % step == 0:
            held = _mean(common, chances[cell // step], means[cell // step])
        else:
            _laws(noisy[cell], prior[cell], sigma[cell], logs, means[0])
            _scaled(logs, chances[0])
            held = _mean(common, chances[0], means[0])
        found[cell] = max(held, _NOTHING * prior[cell])
    return found


@njit(cache=True, nogil=True)
def _scaled(logs: Floats, chances: Floats) -> None:
    """Likelihoods of the laws, the largest being one."""
    largest = logs[0]
    for law in range(1, LAWS):
        largest = max(largest, logs[law])
    for law in range(LAWS):
        chances[law] = math.exp(logs[law] - largest)


@njit(cache=True, nogil=True)
def _common(chances: Floats, believed: Floats, rounds: int) -> Floats:
    """How common each law is among the cells, until a round changes nothing worth another."""
    total = 0.0
    for law in range(LAWS):
        total += believed[law]
    found, seen = np.empty(LAWS), np.empty(LAWS)
    for law in range(LAWS):
        found[law] = believed[law] / total
    total += chances.shape[0]
    for _ in range(rounds):
        for law in range(LAWS):
            seen[law] = believed[law]
        for cell in range(chances.shape[0]):
            whole = 0.0
            for law in range(LAWS):
                whole += found[law] * chances[cell, law]
            whole = 1.0 / whole
            for law in range(LAWS):
                seen[law] += found[law] * chances[cell, law] * whole
        moved = 0.0
        for law in range(LAWS):
            share = seen[law] / total
            moved = max(moved, abs(share - found[law]))
            found[law] = share
        if moved < _SETTLED:
            break
    return found


@njit(cache=True, nogil=True)
def _mean(common: Floats, chances: Floats, means: Floats) -> float:
    held, whole = 0.0, 0.0
    for law in range(LAWS):
        chance = common[law] * chances[law]
        held += chance * means[law]
        whole += chance
    return held / whole
