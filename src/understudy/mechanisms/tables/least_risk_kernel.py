"""The shrinkage path, cell by cell in compiled code: each cell stops when it has converged."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit

Floats = npt.NDArray[np.float64]

_STEPS = 60  # at most from one strength to the next; they start close, and a few suffice
_CLOSE = 1e-6


@njit(cache=True, nogil=True)
def _minimum(noisy: float, base: float, pull: float, log: float) -> float:
    """The logarithm of the mu with mu + pull log mu = noisy + pull base, by Newton in log mu."""
    for _ in range(_STEPS):
        mu = math.exp(log)
        step = (mu - noisy + pull * (log - base)) / (mu + pull)
        log -= min(max(step, -2.0), 2.0)
        if abs(step) < _CLOSE:
            break
    return log


@njit(cache=True, nogil=True)
def risks(noisy: Floats, base: Floats, sigma: Floats, strengths: Floats, least: float) -> Floats:
    """Stein's estimate of the risk at each strength, up to a constant, in units of the noise."""
    found = np.zeros(strengths.size)
    for cell in range(noisy.size):
        log = math.log(max(noisy[cell], least))
        variance = sigma[cell] ** 2
        for i in range(strengths.size):
            pull = strengths[i] * variance
            log = _minimum(noisy[cell], base[cell], pull, log)
            mu = math.exp(log)
            # |mu - y|^2 / sigma^2 - k + 2 sum d mu / d y, where d mu / d y = mu / (mu + pull).
            found[i] += (mu - noisy[cell]) ** 2 / variance + 2.0 * mu / (mu + pull)
    return found


@njit(cache=True, nogil=True)
def shrunk(noisy: Floats, base: Floats, sigma: Floats, strength: float, least: float) -> Floats:
    """The minimiser at one strength."""
    mu = np.empty(noisy.size)
    for cell in range(noisy.size):
        start = math.log(max(noisy[cell], least))
        mu[cell] = math.exp(_minimum(noisy[cell], base[cell], strength * sigma[cell] ** 2, start))
    return mu
