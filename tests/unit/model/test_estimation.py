"""Odd measurements must not break an estimate, and what cannot be estimated is refused by name."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.marginals import Measurement
from understudy.marginals.query import Binned
from understudy.model import estimate

DOMAIN = Domain({"a": 3, "b": 4, "c": 2, "u": 5, "one": 1})


def noisy(clique, seed, total=1_000.0, stddev=10.0):
    random = np.random.default_rng(seed)
    cells = DOMAIN.size(clique)
    return Measurement(
        clique, random.dirichlet(np.ones(cells)) * total + stddev * random.normal(size=cells), stddev
    )


CYCLE = [noisy(("a", "b"), 1), noisy(("b", "c"), 2), noisy(("c", "a"), 3)]


def test_without_measurements_every_record_is_equally_likely():
    field = estimate(DOMAIN, [])
    np.testing.assert_allclose(field.marginal(("a", "u")).counts, 1 / 15)
    assert estimate(DOMAIN, [], total=30).marginal(("a",)).counts == pytest.approx([10, 10, 10])


def test_a_column_never_measured_is_uniform_and_independent():
    field = estimate(DOMAIN, CYCLE)
    table = field.marginal(("a", "u")).counts
    np.testing.assert_allclose(table, np.repeat(table.sum(axis=1, keepdims=True) / 5, 5, axis=1), rtol=1e-9)


def test_a_domain_without_columns_still_has_a_total():
    assert estimate(Domain({}), [Measurement((), [5.0], 1.0)]).total == 5.0


def test_the_total_is_the_inverse_variance_mean_of_the_sums():
    one, two = Measurement("a", [100, 100, 100], 1.0), Measurement("c", [200, 200], [1.0, 2.0])
    expected = (300 / 3 + 400 / 5) / (1 / 3 + 1 / 5)
    assert estimate(DOMAIN, [one, two]).total == pytest.approx(expected)
    assert estimate(DOMAIN, [one, two], total=7).marginal(("a",)).counts.sum() == pytest.approx(7)


@pytest.mark.parametrize(
    "query",
    [
        np.eye(12) * 2,
        sparse.csr_matrix(np.eye(12) * 2),
        sparse.csr_array(np.eye(12) * 2),
        (lambda cells: 2 * cells, lambda answers: 2 * answers),
    ],
)
def test_every_way_to_write_a_query_gives_the_same_field(query):
    exact = np.random.default_rng(0).dirichlet(np.ones(12)) * 500
    plain = estimate(DOMAIN, [Measurement(("b", "a"), exact, 1.0)])
    field = estimate(DOMAIN, [Measurement(("b", "a"), 2 * exact, 2.0, query)])
    assert field.total == pytest.approx(plain.total)
    np.testing.assert_allclose(
        field.marginal(("b", "a")).counts, plain.marginal(("b", "a")).counts, atol=0.01
    )


def test_answers_that_do_not_tell_the_total_leave_it_to_those_that_do():
    query = np.array([[-1.0, -1, 0, 0, 2, 0, 2, 0], [1, -1, 0, -1, 1, 1, -1, 0]])
    domain = Domain({"a": 2, "b": 2, "c": 2})
    silent = Measurement(("a", "b", "c"), [-3.9, -2.5], 1.0, query)
    assert estimate(domain, [silent, Measurement((), [10.0], 1.0)]).total == 10.0


def test_binned_answers_determine_the_total_and_are_spread_evenly_within_bins():
    bins = Binned((np.array([0, 1, 2]), np.array([0, 0, 1, 1])))
    values = np.array([10.0, 20, 30, 40, 50, 60])
    field = estimate(DOMAIN, [Measurement(("a", "b"), values, 1.0, bins)])
    assert field.total == pytest.approx(210)
    np.testing.assert_allclose(
        field.marginal(("a", "b")).counts, np.repeat(values.reshape(3, 2) / 2, 2, axis=1), atol=0.01
    )


def test_prefix_sums_are_a_query_like_any_other():
    exact = np.array([5.0, 10, 15, 20, 50])
    prefix = np.tril(np.ones((5, 5)))
    field = estimate(DOMAIN, [Measurement("u", prefix @ exact, 1.0, prefix)])
    np.testing.assert_allclose(field.marginal("u").counts, exact, atol=0.1)


def test_one_clique_measured_twice_is_its_inverse_variance_mean():
    values = np.arange(12.0) + 1
    both = [
        Measurement(("a", "b"), values, 1.0),
        Measurement(("b", "a"), (values * 2).reshape(3, 4).T, 2.0),
    ]
    field = estimate(DOMAIN, both, total=float(values.sum() * 1.2))
    np.testing.assert_allclose(field.marginal(("a", "b")).counts.reshape(-1), values * 1.2, atol=1e-3)
    assert field.fit.loss == pytest.approx(
        0.5 * np.sum((0.2 * values) ** 2 + (0.8 * values / 2) ** 2), rel=1e-6
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e12])
@pytest.mark.parametrize("stddev", [1e-6, 1.0, 1e6])
def test_totals_and_scales_of_any_size_converge(scale, stddev):
    random = np.random.default_rng(4)
    cliques = [("a", "b"), ("b", "c"), ("u",)]
    measured = []
    for clique in cliques:
        share = random.dirichlet(np.ones(DOMAIN.size(clique)))
        measured.append(
            Measurement(
                clique, share * scale + scale * stddev * random.normal(size=share.size), scale * stddev
            )
        )
    field = estimate(DOMAIN, measured)
    assert field.fit.converged
    assert all(np.isfinite(field.marginal(clique).counts).all() for clique in cliques)


@pytest.mark.parametrize("values", [np.zeros(12), np.full(12, -100.0), np.r_[-1e6, np.zeros(11)]])
def test_nothing_but_noise_still_gives_a_distribution(values):
    field = estimate(DOMAIN, [Measurement(("a", "b"), values, 5.0), noisy(("b", "c"), 5, total=0.0)])
    counts = field.marginal(("a", "b")).counts
    assert field.total > 0
    assert (counts >= 0).all()
    assert counts.sum() == pytest.approx(field.total)


def test_inconsistent_measurements_meet_in_between():
    field = estimate(DOMAIN, [Measurement("c", [100, 0], 1.0), Measurement("c", [0, 100], 1.0)])
    assert field.marginal("c").counts == pytest.approx([50, 50])


def test_a_hundred_columns_and_very_unequal_noise_are_stable():
    domain = Domain({f"c{i}": 6 for i in range(100)})
    random = np.random.default_rng(6)
    columns = [random.integers(0, 6, size=3_000)]
    for _ in range(99):  # a chain: each column mostly repeats the one before it
        columns.append(np.where(random.random(3_000) < 0.7, columns[-1], random.integers(0, 4, size=3_000)))
    measured = []
    for i in range(1, 100):
        pair = np.bincount(columns[i] * 6 + columns[i - 1], minlength=36)
        measured.append(Measurement((f"c{i}", f"c{i - 1}"), pair + 20 * random.normal(size=36), 20.0))
    for i in range(100):
        scale = 10.0 ** (i % 4)
        measured.append(
            Measurement(f"c{i}", np.bincount(columns[i], minlength=6) + scale * random.normal(size=6), scale)
        )
    field = estimate(domain, measured)
    assert field.fit.converged
    assert field.fit.gap <= 0.01 * field.fit.measured_cells
    assert field.marginal(("c99", "c3")).counts.sum() == pytest.approx(field.total)


def test_the_same_measurements_give_the_same_field_to_the_last_bit():
    one, two = estimate(DOMAIN, CYCLE), estimate(DOMAIN, CYCLE)
    np.testing.assert_array_equal(one.marginal(("a", "b", "c")).counts, two.marginal(("a", "b", "c")).counts)


def test_a_warm_start_ends_where_a_cold_one_does_whatever_its_tree():
    more = [*CYCLE, noisy(("u", "a"), 8)]
    early = estimate(DOMAIN, CYCLE)
    warm, cold = estimate(DOMAIN, more, warm_start=early), estimate(DOMAIN, more)
    assert warm.fit.loss == pytest.approx(cold.fit.loss, abs=1e-4)
    for clique in (("a", "b"), ("u", "a"), ("c",)):
        np.testing.assert_allclose(warm.marginal(clique).counts, cold.marginal(clique).counts, atol=0.1)


def test_the_callback_sees_the_gap_close():
    seen = []
    field = estimate(DOMAIN, [noisy(("a", "b"), 1, stddev=80.0), noisy(("b", "c"), 2)], callback=seen.append)
    assert seen
    assert seen[-1].gap == field.fit.gap
    assert all(later.loss <= earlier.loss for earlier, later in pairwise(seen))


def test_absolute_errors_follow_the_majority_not_the_outlier():
    votes = [Measurement("c", pair, 1.0) for pair in ([50, 50], [51, 49], [50, 50], [0, 100], [50, 50])]
    assert estimate(DOMAIN, votes, loss="l1").marginal("c").counts == pytest.approx([50, 50], abs=0.2)
    assert estimate(DOMAIN, votes, loss="l2").marginal("c").counts[0] < 42


class Huber:
    """Squares near the value, absolute errors far from it."""

    def value(self, answers, values, stddev):
        far = np.abs(answers - values) / stddev
        return float(np.sum(np.where(far < 1, far**2 / 2, far - 0.5)))

    def gradient(self, answers, values, stddev):
        return np.clip((answers - values) / stddev, -1, 1) / stddev


def test_a_loss_of_ones_own_is_minimised_and_squares_written_so_agree_with_the_default():
    def squares(answers, values, stddev):
        return 0.5 * np.sum(((answers - values) / stddev) ** 2), (answers - values) / stddev**2

    field, same = estimate(DOMAIN, CYCLE), estimate(DOMAIN, CYCLE, loss=squares, tolerance=1e-3)
    assert same.fit.loss == pytest.approx(field.fit.loss, abs=1e-3 * 26)
    robust = estimate(DOMAIN, CYCLE, loss=Huber())
    assert robust.fit.converged
    assert robust.fit.loss <= field.fit.loss


def test_a_model_with_no_possible_record_is_refused():
    with pytest.raises(ParameterError, match="no possible record"):
        estimate(DOMAIN, [], zeros={("a",): np.ones(3, bool)})


def test_zeros_of_two_cliques_hold_together_and_in_any_axis_order():
    first, second = np.zeros((4, 3), bool), np.zeros((2, 4), bool)
    first[0], second[:, 1] = True, True
    field = estimate(DOMAIN, CYCLE, zeros={("b", "a"): first, ("c", "b"): second})
    assert field.marginal(("b",)).counts[:2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"measurements": [Measurement("z", [1.0], 1.0)]}, DomainError, "'z'"),
        ({"measurements": [Measurement("a", [1.0, 2.0], 1.0)]}, ParameterError, "2 values"),
        ({"measurements": [Measurement("a", [1.0], 1.0, np.ones((1, 4)))]}, ParameterError, "3 cells"),
        ({"measurements": [Measurement("a", [1.0], 1.0, np.ones((2, 3)))]}, ParameterError, "1 values"),
        ({"total": -5}, ParameterError, "total -5"),
        ({"total": math.nan}, ParameterError, "total nan"),
        ({"tolerance": -1}, ParameterError, "tolerance"),
        ({"max_steps": -1}, ParameterError, "max_steps"),
        ({"work": -1}, ParameterError, "work -1"),
        ({"work": math.nan}, ParameterError, "work nan"),
        ({"loss": "l3"}, ParameterError, "'l3'"),
        ({"zeros": {("a",): np.ones(2, bool)}}, ParameterError, "3 booleans"),
        ({"zeros": {("a",): np.ones(3)}}, ParameterError, "float64"),
        ({"limit_cells": 10}, SizeError, "limit_cells=10"),
    ],
)
def test_what_cannot_be_estimated_is_refused_by_name(arguments, error, named):
    measurements = arguments.pop("measurements", CYCLE)
    with pytest.raises(error, match=named):
        estimate(DOMAIN, measurements, **arguments)


def test_threads_change_nothing_not_even_the_last_bit(monkeypatch):
    measured = [
        noisy(("a", "b"), 1, stddev=60.0),
        noisy(("b", "c"), 2, stddev=60.0),
        noisy(("b", "u"), 3),
        *CYCLE,
    ]
    monkeypatch.setattr("understudy.model.fitting.dual.clique_marginals._LARGE", 1)
    alone = estimate(DOMAIN, measured)
    monkeypatch.setattr("understudy.model.fitting.dual.dual_hessian._LARGE", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    shared = estimate(DOMAIN, measured)
    np.testing.assert_array_equal(
        alone.marginal(("a", "b", "c")).counts, shared.marginal(("a", "b", "c")).counts
    )


def test_a_repeated_fit_does_not_depend_on_what_was_fitted_before():
    first = estimate(DOMAIN, CYCLE).marginal(("a", "b", "c")).counts
    estimate(DOMAIN, [noisy(("a", "u"), 9)])
    np.testing.assert_array_equal(first, estimate(DOMAIN, CYCLE).marginal(("a", "b", "c")).counts)


def test_work_is_a_limit_that_larger_models_reach_in_fewer_steps_and_that_gives_the_same_field_again():
    measured = [noisy(("a", "b", "u"), 1, stddev=60.0), noisy(("b", "c", "u"), 2), noisy(("a", "c", "u"), 3)]
    cells = estimate(DOMAIN, measured).tree.cells
    short = [estimate(DOMAIN, measured, work=8 * (cells + 1_500), tolerance=0.0) for _ in range(2)]
    assert short[0].fit.steps <= 8 + 60
    np.testing.assert_array_equal(short[0].marginal(("a", "b")).counts, short[1].marginal(("a", "b")).counts)
    assert not short[0].fit.converged
    assert short[0].fit.claim.startswith("not certified: its loss, ")
    assert estimate(DOMAIN, measured, work=1e9).fit.claim.startswith("certified: its loss, ")


def test_few_steps_are_kept_to_and_what_they_reached_is_still_certified():
    measured = [noisy(("a", "b"), 1, stddev=60.0), *CYCLE]
    best = estimate(DOMAIN, measured).fit.loss
    for steps in (0, 1, 5, 20):
        fit = estimate(DOMAIN, measured, max_steps=steps, tolerance=0.0).fit
        assert fit.steps <= steps + 60  # a step under way, and the last look at the entropy, are finished
        assert fit.loss - fit.gap <= best + 1e-9 <= fit.loss + 2e-9
