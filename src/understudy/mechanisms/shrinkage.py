"""Noisy marginals pulled towards what is already known, as far as their own noise suggests.

A marginal of many cells and few records is mostly noise: fitted as it is, it spoils what simpler ones got right.
Each noisy table is therefore replaced, before the fit, by the table `mu` that minimises

    |mu - noisy|^2 / (2 sigma^2)  +  strength * sum of mu log(mu / prior) - mu + prior

where the prior is what the field fitted so far says of the same columns. The strength of each table is the one
whose risk, by Stein's unbiased estimate, is least: near zero where the signal is strong, large where there is
none. All of it is post-processing of released numbers and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.mechanisms.one_way import Cells
from understudy.model import Field, estimate
from understudy.model.total import estimate_total

STRENGTHS = np.geomspace(1e-4, 3.0, 16)
_LEAST = 1e-3  # of a record: what a cell is thought to hold where the prior has none
_NEWTON = 30  # steps at most from one strength to the next; they start close, and a few suffice


def fit(domain: Domain, log: Sequence[Measurement], *, shrink: bool = True) -> Field:
    """The field of the measurements; with `shrink`, each table is first pulled towards the field of simpler ones.

    Pairs are pulled towards independence, triples towards what the pairs say, and so on. Measurements
    through a query and those of one column are fitted as they are.
    """
    if not shrink:
        return estimate(domain, log)
    total = estimate_total(domain, log)
    known = [m for m in log if len(m.clique) < 2 or m.query is not None or m.stddev.ndim]
    rest = [m for m in log if m not in known]
    field = estimate(domain, known, total=total)
    for order in sorted({len(m.clique) for m in rest}):
        known += [_shrunk(m, field) for m in rest if len(m.clique) == order]
        field = estimate(domain, known, total=total)
    return field


def _shrunk(measured: Measurement, prior: Field) -> Measurement:
    expected = np.asarray(prior.marginal(measured.clique).counts, dtype=np.float64).reshape(-1)
    best = least_risk(measured.values, expected, float(measured.stddev))
    return Measurement(measured.clique, best, measured.stddev)


def least_risk(noisy: Cells, prior: Cells, sigma: float) -> Cells:
    """The table of least estimated risk along the path from the noisy one to the prior."""
    base = np.log(np.maximum(prior, _LEAST))
    mu = np.maximum(noisy, _LEAST)
    best, least = mu, np.inf
    for strength in STRENGTHS:
        pull = strength * sigma**2
        mu = _minimum(noisy, base, pull, mu)
        # Stein: |mu - y|^2 - k sigma^2 + 2 sigma^2 sum d mu / d y, where d mu / d y = mu / (mu + pull).
        risk = float(((mu - noisy) ** 2).sum() + 2 * sigma**2 * (mu / (mu + pull)).sum())
        if risk < least:
            best, least = mu, risk
    return best


def _minimum(noisy: Cells, base: Cells, pull: float, start: Cells) -> Cells:
    """The minimiser at one strength, cell by cell: mu + pull log mu = noisy + pull base, by Newton in log mu."""
    log = np.log(start)
    for _ in range(_NEWTON):
        mu = np.exp(log)
        step: npt.NDArray[np.float64] = (mu - noisy + pull * (log - base)) / (mu + pull)
        log = log - np.clip(step, -2.0, 2.0)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    return np.asarray(np.exp(log))
