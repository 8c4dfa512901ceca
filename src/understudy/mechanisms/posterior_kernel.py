"""What cells hold, given noisy counts and what was expected of them, in compiled code.

A cell's count is taken to be one of a few things: nothing at all; what was expected, exactly or about; or anything of
that order (exponential laws of several means). Each has a posterior mean in closed form under normal noise.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit

Floats = npt.NDArray[np.float64]

_WIDTHS = np.array([0.0, 0.15, 0.5])  # of "what was expected, or about", beside what was expected
_MEANS = np.array([0.25, 1.0, 4.0])  # of "anything", beside what was expected
_LOG_MEANS = np.log(_MEANS)
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
def _laws(noisy: float, prior: float, sigma: float, chances: Floats, means: Floats) -> None:
    """How likely one noisy count is under every law, the likeliest being one, and the mean of the count behind it."""
    log_sigma, log_prior = math.log(sigma), math.log(prior)
    chances[0] = -0.5 * (noisy / sigma) ** 2 - log_sigma - _LOG_ROOT
    means[0] = 0.0
    at = 1
    for i in range(_WIDTHS.size):
        spread = (_WIDTHS[i] * prior) ** 2
        variance = sigma * sigma + spread
        log_variance = math.log(variance) if spread > 0.0 else 2.0 * log_sigma
        chances[at] = -0.5 * (noisy - prior) ** 2 / variance - 0.5 * log_variance - _LOG_ROOT
        means[at] = max(prior + spread / variance * (noisy - prior), 0.0)
        at += 1
    for i in range(_MEANS.size):
        mean = _MEANS[i] * prior
        z = noisy / sigma - sigma / mean
        below = _log_below(z)
        chances[at] = -log_prior - _LOG_MEANS[i] - noisy / mean + 0.5 * (sigma / mean) ** 2 + below
        means[at] = max(sigma * (z + math.exp(-0.5 * z * z - _LOG_ROOT - below)), 0.0)
        at += 1
    largest = chances[0]
    for law in range(1, LAWS):
        largest = max(largest, chances[law])
    for law in range(LAWS):
        chances[law] = math.exp(chances[law] - largest)


def posterior_means(
    noisy: Floats, prior: Floats, sigma: Floats, believed: Floats, rounds: int, step: int
) -> Floats:
    """The mean of what each cell holds, when the laws are as common as the cells themselves say.

    How common they are is learned from every `step`-th cell, by at most so many rounds of expectation and
    maximisation. `believed` are cells of each law that are taken to have been seen already.
    """
    some = [np.ascontiguousarray(part[::step]) for part in (noisy, prior, sigma)]
    judged = _judged(*some)
    common = believed / believed.sum()
    _learn(judged[0], believed, rounds, np.empty(some[0].size), common)
    if step == 1:
        return _weighed(*judged, common, prior)
    blocks = [slice(first, first + some[0].size) for first in range(0, noisy.size, some[0].size)]
    return np.concatenate(
        [_weighed(*_judged(noisy[b], prior[b], sigma[b]), common, prior[b]) for b in blocks]
    )


def _judged(noisy: Floats, prior: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """`_laws` of every cell: chances and means, a row a law."""
    chances, means = np.empty((2, LAWS, noisy.size))
    _judge(noisy, prior, sigma, np.empty((2, LAWS)), chances, means)
    return chances, means


def _weighed(chances: Floats, means: Floats, common: Floats, prior: Floats) -> Floats:
    weights = common[:, None] * chances
    held: Floats = (weights * means).sum(axis=0) / weights.sum(axis=0)
    return np.maximum(held, _NOTHING * prior)


# Kernels make no arrays, which would take longer to compile than all else in them.


@njit(cache=True, nogil=True)
def _judge(
    noisy: Floats, prior: Floats, sigma: Floats, spare: Floats, chances: Floats, means: Floats
) -> None:
    """`_judged`, into arrays that are there."""
    for cell in range(noisy.size):
        _laws(noisy[cell], prior[cell], sigma[cell], spare[0], spare[1])
        for law in range(LAWS):
            chances[law, cell], means[law, cell] = spare[0, law], spare[1, law]


@njit(
    cache=True, nogil=True, fastmath={"reassoc", "contract"}
)  # so that sums over cells are taken many at a time
def _learn(chances: Floats, believed: Floats, rounds: int, rest: Floats, found: Floats) -> None:
    """How common each law is among the cells, until a round changes nothing worth another."""
    cells = chances.shape[1]
    total = float(cells)
    for law in range(LAWS):
        total += believed[law]
    for _ in range(rounds):
        for cell in range(cells):
            rest[cell] = found[0] * chances[0, cell]
        for law in range(1, LAWS):
            share = found[law]
            for cell in range(cells):
                rest[cell] += share * chances[law, cell]
        for cell in range(cells):
            rest[cell] = 1.0 / rest[cell]
        moved = 0.0
        for law in range(LAWS):
            seen = 0.0
            for cell in range(cells):
                seen += chances[law, cell] * rest[cell]
            share = (believed[law] + found[law] * seen) / total
            moved = max(moved, abs(share - found[law]))
            found[law] = share
        if moved < _SETTLED:
            break
