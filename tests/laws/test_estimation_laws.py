"""An estimate is the optimum over all tables, of maximum entropy among its equals, and its certificate holds."""

import numpy as np
import pytest
from brute_force import design, optimum
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.model import estimate


def projected(domain, table, clique):
    kept = [name for name in domain if name in clique]
    gone = tuple(i for i, name in enumerate(domain) if name not in clique)
    return table.reshape(domain.shape()).sum(axis=gone).transpose([kept.index(n) for n in clique]).reshape(-1)


@st.composite
def problems(draw, queries=True):
    names = [f"c{i}" for i in range(draw(st.integers(1, 4)))]
    domain = Domain({name: draw(st.integers(1, 4)) for name in names})
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    total = 10.0 ** draw(st.integers(1, 5))
    truth = random.dirichlet(np.full(domain.size(), 0.5)) * total
    measurements = []
    for _ in range(draw(st.integers(1, 5))):
        clique = tuple(draw(st.lists(st.sampled_from(names), unique=True, max_size=3)))
        exact = projected(domain, truth, clique)
        noise = draw(st.sampled_from([1.0, 10.0, 100.0]))
        matrix = None
        if queries and draw(st.integers(0, 3)) == 0:
            matrix = random.integers(-1, 3, size=(draw(st.integers(1, 5)), exact.size)).astype(float)
            exact = matrix @ exact
        stddev = noise if draw(st.booleans()) else noise * random.uniform(0.5, 2.0, exact.size)
        measurements.append(
            Measurement(clique, exact + stddev * random.normal(size=exact.size), stddev, matrix)
        )
    return domain, measurements, random


@settings(max_examples=many(200))
@given(problems())
def test_the_loss_is_that_of_the_best_table_and_the_gap_bounds_what_is_left(problem):
    domain, measurements, _ = problem
    field = estimate(domain, measurements)
    best, _ = optimum(domain, measurements, field.total)
    matrix, values = design(domain, measurements)
    table = field.marginal(domain.names).counts.reshape(-1)
    loss = 0.5 * float(np.sum((matrix @ table - values) ** 2))
    slack = 1e-6 * max(1.0, best)
    assert loss == pytest.approx(field.fit.loss, abs=slack)
    assert loss >= best - slack
    assert loss - best <= field.fit.gap + slack
    assert field.fit.converged
    assert table.sum() == pytest.approx(field.total, rel=1e-9)


@settings(max_examples=many(150))
@given(problems(queries=False))
def test_direct_measurements_are_fitted_to_the_sixth_digit(problem):
    domain, measurements, _ = problem
    field = estimate(domain, measurements, tolerance=1e-10, max_steps=20_000)
    best, table = optimum(domain, measurements, field.total)
    assert field.fit.loss - best <= 1e-6 * max(1.0, best)
    matrix, _ = design(domain, measurements)
    mine = matrix @ field.marginal(domain.names).counts.reshape(-1)
    np.testing.assert_allclose(mine, matrix @ table, atol=3e-3)  # in units of noise; the optimum is flat


@settings(max_examples=many(150))
@given(problems())
def test_the_field_has_maximum_entropy_among_all_that_fit_as_well(problem):
    domain, measurements, _ = problem
    field = estimate(domain, measurements)
    table = field.marginal(domain.names).counts.reshape(-1) / field.total
    if table.min() < 1e-9:
        return  # on the border of the simplex the logarithm says nothing
    matrix, _ = design(domain, measurements)
    basis = np.concatenate([matrix, np.ones((1, table.size))])
    logs = np.log(table)
    explained = basis.T @ np.linalg.lstsq(basis.T, logs, rcond=None)[0]
    np.testing.assert_allclose(explained, logs, atol=1e-6)  # a sum of functions of measured marginals


@settings(max_examples=many(75))
@given(problems(queries=False), st.data())
def test_neither_the_order_of_measurements_nor_of_axes_matters(problem, data):
    domain, measurements, _ = problem
    turned = []
    for m in data.draw(st.permutations(measurements)):
        clique = tuple(data.draw(st.permutations(m.clique)))
        axes = [m.clique.index(name) for name in clique]
        shape = domain.shape(m.clique)
        scale = np.broadcast_to(m.stddev, m.values.shape)
        turned.append(
            Measurement(clique, m.values.reshape(shape).transpose(axes), scale.reshape(shape).transpose(axes))
        )
    one, two = (estimate(domain, given, tolerance=1e-10) for given in (measurements, turned))
    assert one.total == pytest.approx(two.total, rel=1e-9)
    assert one.fit.loss == pytest.approx(two.fit.loss, rel=1e-6, abs=1e-6)
    for m in measurements:
        apart = one.marginal(m.clique).counts - two.marginal(m.clique).counts
        assert np.abs(apart.reshape(-1) / m.stddev).max() < 1e-2


@settings(max_examples=many(100))
@given(problems(queries=False), st.data())
def test_structural_zeros_are_exact_and_the_rest_is_still_optimal(problem, data):
    domain, measurements, random = problem
    clique = domain.order(measurements[0].clique)
    mask = np.array(random.random(domain.shape(clique)) < 0.4)
    mask[(0,) * mask.ndim] = False
    field = estimate(domain, measurements, zeros={clique: mask})
    assert not np.asarray(field.marginal(clique).counts)[mask].any()
    shape = [domain[name] if name in clique else 1 for name in domain]
    possible = np.broadcast_to(~mask.reshape(shape), domain.shape())
    best, _ = optimum(domain, measurements, field.total, possible)
    assert field.fit.loss - field.fit.gap <= best + 1e-6 * max(1.0, best)
    assert field.fit.loss >= best - 1e-6 * max(1.0, best)
    assert field.fit.converged
