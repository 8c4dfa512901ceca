"""Noise is pulled towards what is known; signal is left alone."""

import numpy as np

from understudy.data import Table
from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.mechanisms.shrinkage import coarse_to_fine, fit

RNG = np.random.default_rng(5)
SIGMA = 30.0


def noisy(table: np.ndarray, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)  # anew for every table: tests may run in any order
    return table + np.rint(rng.normal(0, SIGMA, table.shape))


def test_a_table_that_is_all_noise_falls_back_to_the_prior() -> None:
    prior = np.full((40, 40), 10.0)
    shrunk = coarse_to_fine(noisy(prior), prior, SIGMA)
    assert np.abs(shrunk - prior).mean() < 3.0  # the noise alone would move a cell by 24


def test_a_strong_table_stays_as_it_was_measured() -> None:
    truth = np.diag(np.full(6, 5000.0)) + 50.0
    measured = noisy(truth)
    prior = np.outer(truth.sum(1), truth.sum(0)) / truth.sum()
    assert (
        np.abs(coarse_to_fine(measured, prior, SIGMA) - truth).mean() < 1.3 * np.abs(measured - truth).mean()
    )


def test_what_is_true_of_blocks_survives_even_where_cells_are_drowned() -> None:
    # Old codes go with column 1, young ones with column 0: each cell holds 15 records under noise of 30.
    truth = np.zeros((80, 2))
    truth[:40, 0] = truth[40:, 1] = 15.0
    prior = np.full((80, 2), 7.5)
    shrunk = [coarse_to_fine(noisy(truth, s), prior, SIGMA, alone=[SIGMA, SIGMA]) for s in range(30)]
    assert np.mean([table[:40, 0].sum() / table[:, 0].sum() for table in shrunk]) > 0.75  # the prior says 0.5


def test_shrinking_halves_the_error_of_a_pair_that_is_mostly_noise() -> None:
    domain = Domain({"a": 50, "b": 50})
    table = Table(domain, {"a": RNG.integers(0, 50, 20_000), "b": RNG.integers(0, 50, 20_000)})
    a, b, pair = table.count([("a",), ("b",), ("a", "b")])
    log = [Measurement(m.clique, noisy(m.counts), SIGMA) for m in (a, b, pair)]
    errors = [
        np.abs(fit(domain, log, shrink=shrink).marginal(("a", "b")).counts - pair.counts).sum()
        for shrink in (True, False)
    ]
    assert errors[0] < 0.5 * errors[1]


def test_missing_values_of_one_column_are_told_from_the_other_without_a_remainder() -> None:
    # Of the young, in three of nineteen runs, a value is always missing (the last code); of the others it never is.
    truth = np.outer(np.full(19, 400.0), [0.5, 0.05, 0.05, 0.1, 0.1, 0.2, 0.0])
    truth[:3] = [0, 0, 0, 0, 0, 0, 400]
    prior = np.outer(truth.sum(1), truth.sum(0)) / truth.sum()
    shares = []
    for seed in range(20):
        shrunk = coarse_to_fine(noisy(truth, seed), prior, SIGMA, values=[19, 6], alone=[SIGMA, SIGMA])
        shares.append(1 - shrunk[:3, 6].sum() / shrunk[:3].sum())
    assert np.mean(shares) < 0.02  # of the noisy table, negative counts cut off: a sixth


def test_a_column_is_known_from_its_pairs_as_well() -> None:
    domain = Domain({"a": 30, "b": 2})
    counts = RNG.integers(50, 500, 30).astype(float)
    both = np.outer(counts, [0.5, 0.5])
    alone, joint = [], []
    for seed in range(8):
        log = [Measurement("a", noisy(counts, seed), 10 * SIGMA), Measurement("b", noisy(both.sum(0)), SIGMA)]
        alone.append(np.abs(log[0].values - counts).mean())
        log.append(Measurement(("a", "b"), noisy(both, 100 + seed), SIGMA))
        joint.append(np.abs(fit(domain, log).marginal(("a",)).counts - counts).mean())
    assert np.mean(joint) < 2 * np.mean(alone)  # the pair's noise, not ten times as much
