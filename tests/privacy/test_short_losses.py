"""Sums of losses that have too many values to list are kept as shorter ones: no less likely, and hardly more."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.privacy.accounting import gaussian
from understudy.privacy.accounting.discrete_gaussian_curve import Lattice
from understudy.privacy.accounting.pure_dp import Atoms


def delta(losses: np.ndarray, masses: np.ndarray, epsilon: float) -> float:
    """The delta at an epsilon of a loss with these values."""
    finite = np.isfinite(losses)
    beyond = -np.expm1(np.minimum(0.0, epsilon - losses[finite]))
    return float((masses[finite] * beyond).sum() + masses[~finite].sum())


@pytest.mark.parametrize(("first", "second", "count"), [(0.02, 0.0313, 400), (5.0, 5.3, 46)])
def test_many_pure_answers_cost_what_their_exact_sum_does(first: float, second: float, count: int) -> None:
    """So many answers at one loss and as many at another: each sum of losses listed here."""
    short = Atoms.of([(first, count), (second, count)])
    singles = [Atoms.of([(epsilon, count)]) for epsilon in (first, second)]
    losses = np.add.outer(singles[0].losses, singles[1].losses).ravel()
    masses = np.multiply.outer(singles[0].masses, singles[1].masses).ravel()
    assert len(short.losses) < len(losses), "nothing was made shorter"
    for world in (np.zeros_like(short.losses), -short.losses):  # both worlds keep their mass
        assert float((short.masses * np.exp(world)).sum()) == pytest.approx(1.0, abs=1e-8)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 0.9 * losses.max(), losses.max() - 0.1):
        exact, found = delta(losses, masses, epsilon), delta(short.losses, short.masses, epsilon)
        assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-3) + 1e-15


@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_a_lattice_too_fine_to_list_costs_what_continuous_noise_does(mu: float) -> None:
    fine = Lattice(1e-4 * mu * mu, 10**4)
    losses, masses = fine.atoms()
    assert len(losses) < 51 * mu / fine.spacing, "every value was listed"
    assert float(masses.sum()) == pytest.approx(1.0, abs=1e-5)
    for epsilon in (0.0, 0.5 * mu, 2 * mu, 4 * mu):
        due = gaussian.delta(mu, epsilon)
        assert due * (1 - 1e-9) <= delta(losses, masses, epsilon) <= due * (1 + 5e-3)
