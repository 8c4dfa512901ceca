"""An attacker who proves more than the claim proves the product wrong; one who proves far less, the audit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from audit_bounds import epsilon_proved, gaussian_delta, gaussian_epsilon, least, most, mu_proved
from audit_worlds import COLUMNS, Audit, audit, plan
from rows_engine import base_and_target

from understudy.mechanisms import MST
from understudy.privacy import Budget, Choice, Curator, Neighbours, calibrate
from understudy.privacy.noise.randomness import Seeded

# What MST's measurements alone give away when two thirds of the zCDP rho go to them.
CEILINGS = [(1.0, 1e-5, 0.733), (8.0, 1e-9, 6.096)]


def check_audit(result: Audit) -> None:
    """The attack comes within a tenth of the most it could prove, and never beyond the claim."""
    assert result.proved >= 0.9 * result.ceiling
    assert result.proved <= result.claim
    assert result.proved_by_definition <= result.claim
    assert result.ceiling <= result.claim


@pytest.mark.parametrize(("epsilon", "delta", "ceiling"), CEILINGS)
def test_measurements_give_away_what_was_claimed_and_no_more(epsilon, delta, ceiling):
    result = audit(Budget(epsilon, delta))
    check_audit(result)
    assert result.ceiling >= ceiling - 1e-3  # at least as tight as zCDP: no budget is left unused
    assert result.proved >= 0.9 * ceiling


OTHERS = [Neighbours("replace"), Neighbours(records=3), Neighbours("replace", 2)]


@pytest.mark.parametrize("neighbours", OTHERS)
def test_other_neighbours_are_protected_as_much(neighbours):
    check_audit(audit(Budget(1.0, 1e-5), neighbours))


def test_weights_move_noise_between_marginals_and_never_the_total():
    check_audit(audit(Budget(1.0, 1e-5), weights=[1.0, 2.0, 3.0, 0.5, 8.0]))


def test_the_designs_ceilings_are_those_of_two_thirds_of_rho():
    for epsilon, delta, ceiling in CEILINGS:
        mu = math.sqrt(2 * Budget(epsilon, delta).rho * 2 / 3)
        assert gaussian_epsilon(delta, mu) == pytest.approx(ceiling, abs=1e-3)
        losses = calibrate(Budget(epsilon, delta), plan(COLUMNS)).losses
        assert (
            gaussian_epsilon(delta, math.sqrt(2 * (losses["columns"].rho + losses["pairs"].rho)))
            >= ceiling - 1e-3
        )


def test_the_target_has_a_cell_to_itself_in_every_marginal():
    base, with_target = base_and_target(COLUMNS)
    cliques = [("c0",), ("c1",), ("c0", "c1"), ("c2", "c4"), ("c0", "c1", "c2", "c3", "c4")]
    for before, after in zip(base.count(cliques), with_target.count(cliques), strict=True):
        moved = after.counts - before.counts
        assert moved.sum() == 1
        assert np.abs(moved).sum() == 1
        assert before.counts[moved > 0] == 0


def test_a_whole_mechanism_gives_away_what_was_claimed_and_no_more():
    """MST from end to end, selection included: its log tells the worlds apart by as much as its scales say."""
    runs, budget = 60, Budget(8.0, 1e-9)
    statistics, mu = [], 0.0
    for world in base_and_target(4):
        for _ in range(runs):
            curator = Curator(world, budget)
            log = MST(threshold=0.0)(curator, world.domain, budget).measurements
            precision = [1 / float(np.max(m.stddev)) ** 2 for m in log]
            mu = math.sqrt(sum(precision))
            # The target's cell is the last of every marginal: its codes are all ones.
            statistics.append(sum(p * (m.values[-1] - 0.5) for p, m in zip(precision, log, strict=True)) / mu)
            assert gaussian_epsilon(budget.delta, mu) <= budget.epsilon
    without, with_ = np.array(statistics[:runs]), np.array(statistics[runs:])
    assert abs(with_.mean() - without.mean() - mu) < 6 * math.sqrt(2 / runs)
    assert abs(with_.mean() + without.mean()) < 6 * math.sqrt(2 / runs)
    assert gaussian_epsilon(budget.delta, mu_proved(without, with_, 1e-4)) <= budget.epsilon


def test_a_choice_gives_away_what_was_claimed_and_no_more():
    """The target lifts one candidate's misfit and lowers all others': the worst that neighbours can do."""
    runs, others, epsilon, alpha = 2000, 4, 2.0, 1e-4
    hits = []
    for world in base_and_target(1 + others):
        curator = Curator(world, Budget(1e6, 0.5, allow_large_epsilon=True), source=Seeded(len(hits)))
        candidates = [(name,) for name in world.domain]
        picks = [curator.choose(candidates, _one_up_others_down, Choice(epsilon)) for _ in range(runs)]
        hits.append(picks.count(0))
    proved = math.log(least(hits[1], runs, alpha / 2) / most(hits[0], runs, alpha / 2))
    lifted = math.exp(epsilon / 2)
    ceiling = math.log(lifted * (1 + others * lifted) / (lifted + others))
    assert 0.6 * ceiling <= proved <= epsilon
    assert abs(math.log(hits[1] / hits[0]) - ceiling) < 0.4  # the ratio itself is the one that theory says


def _one_up_others_down(clique):
    return np.array([3.0, 0.0 if clique == ("c0",) else 1.0])


def test_the_audits_own_bounds_hold():
    rng = np.random.default_rng(0)
    for mu in (0.2, 1.0, 3.0):
        out, in_ = rng.normal(-mu / 2, 1, 200_000), rng.normal(mu / 2, 1, 200_000)
        assert 0.8 * mu < mu_proved(out, in_, 1e-4) < mu
        for delta in (1e-5, 1e-2):
            epsilon = gaussian_epsilon(delta, mu)
            assert gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-6)
            assert epsilon_proved(out, in_, delta, 1e-4) < epsilon
    assert least(0, 10, 0.01) == 0
    assert most(10, 10, 0.01) == 1
    assert least(5, 10, 0.01) < 0.5 < most(5, 10, 0.01)


def test_an_audit_is_repeatable_from_a_seed():
    first, second = (audit(Budget(1.0, 1e-5), source=Seeded(1), runs=1000, repeats=1) for _ in range(2))
    assert first == second
