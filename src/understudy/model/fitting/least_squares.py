"""The closed-form start: weighted least squares over all consistent answers, by residuals.

Every marginal splits into one residual for each subset of its columns (the ANOVA decomposition). Residuals of
the same columns from different measurements estimate the same thing, and those of different columns are independent,
so combining each by inverse variance is the exact least-squares answer when every measurement has one scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from understudy.domain import Clique, Domain
from understudy.model.tree.tree_layout import Floats

MAX_ORDER = 8  # a clique of k columns has 2^k residuals; beyond this it stands for itself


def consistent(
    domain: Domain, direct: Mapping[Clique, tuple[Floats, float]], total: float
) -> dict[Clique, Floats]:
    """For every clique, the least-squares marginal: consistent with all others, possibly negative.

    `direct` holds, for each clique (in the domain's order), its noisy cells and their variance.
    """
    sums: dict[Clique, Floats] = {}
    weights: dict[Clique, float] = {}
    for clique, (values, variance) in direct.items():
        if len(clique) > MAX_ORDER:
            continue
        for subset, residual in _residuals(domain, clique, values):
            weight = domain.size(subset) / (variance * domain.size(clique))
            sums[subset] = sums.get(subset, 0.0) + residual * weight
            weights[subset] = weights.get(subset, 0.0) + weight
    residuals = {subset: sums[subset] / weights[subset] for subset in sums}
    residuals[()] = np.array(total)
    return {
        clique: values.reshape(domain.shape(clique))
        if len(clique) > MAX_ORDER
        else _rebuild(domain, clique, residuals)
        for clique, (values, _) in direct.items()
    }


def _residuals(domain: Domain, clique: Clique, values: Floats) -> Iterator[tuple[Clique, Floats]]:
    """Every subset of the clique with its residual: summed over the other axes, centred along its own."""
    parts: list[tuple[Clique, Floats]] = [((), values.reshape(domain.shape(clique)))]
    for name in clique:  # the axis of `name` is always the first one not yet treated
        split: list[tuple[Clique, Floats]] = []
        for subset, table in parts:
            axis = len(subset)
            summed = table.sum(axis=axis)
            split.append((subset, summed))
            if domain[name] > 1:
                centred = table - np.expand_dims(summed, axis) / domain[name]
                split.append(((*subset, name), centred))
        parts = split
    yield from parts


def _rebuild(domain: Domain, clique: Clique, residuals: Mapping[Clique, Floats]) -> Floats:
    """The marginal whose residuals these are; one never measured counts as zero."""
    table = np.zeros(domain.shape(clique))
    subsets: list[Clique] = [()]
    for name in clique:
        subsets += [(*subset, name) for subset in subsets if domain[name] > 1]
    for subset in subsets:
        if subset in residuals:
            shape = [domain[name] if name in subset else 1 for name in clique]
            table += residuals[subset].reshape(shape) * (domain.size(subset) / domain.size(clique))
    return table


def on_simplex(values: Floats, total: float, floor: float) -> Floats:
    """The nearest cells to `values` that sum to `total` and are at least `floor`."""
    lowest = min(floor, 0.5 * total / values.size)
    shifted = values.reshape(-1) - lowest
    mass = total - lowest * values.size
    ordered = np.sort(shifted)[::-1]
    excess = (np.cumsum(ordered) - mass) / np.arange(1, ordered.size + 1)
    kept = int(np.count_nonzero(ordered > excess))
    projected: Floats = np.maximum(shifted - excess[max(kept, 1) - 1], 0.0) + lowest
    return projected
