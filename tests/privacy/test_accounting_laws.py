"""Laws that any honest accountant keeps: over some 2,000 cases by day, over more than 10,000 by night."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.errors import BudgetError
from understudy.privacy import (
    Approximate,
    Budget,
    Choice,
    Gaussian,
    Group,
    Laplace,
    Neighbours,
    Slack,
    calibrate,
    compose,
    loss_from_dict,
)
from understudy.privacy.accounting import zcdp

deltas = st.floats(-300, -1.5).map(lambda power: 10.0**power)
usual = st.floats(-15, -3).map(lambda power: 10.0**power)
sigmas = st.floats(-0.5, 3).map(lambda power: 10.0**power)
weights = st.one_of(
    st.none(),
    st.integers(1, 120).map(lambda count: (1.0,) * count),
    st.lists(st.floats(0.05, 10), min_size=1, max_size=6).map(tuple),
)
relations = st.builds(Neighbours, st.sampled_from(["add-remove", "replace"]), st.integers(1, 4))
gaussians = st.builds(Gaussian, sigmas, weights, relations)
# batches whose lattices are known, and batches for which the worst is assumed
known = st.builds(
    Gaussian, sigmas, weights.filter(bool), st.builds(Neighbours, st.sampled_from(["add-remove", "replace"]))
)
assumed = st.builds(Gaussian, sigmas, st.none(), relations)
pure = st.builds(Laplace, st.floats(0.001, 2), st.integers(1, 4))
approximate = st.builds(Approximate, st.floats(0, 1), st.just(1e-18))
choices = st.builds(Choice, st.floats(0.01, 1), st.integers(1, 4))
linear = st.lists(st.one_of(gaussians, gaussians, pure, approximate), min_size=1, max_size=4)
mixed = st.tuples(
    st.lists(st.builds(Gaussian, st.floats(1.5, 30)), max_size=2),
    st.lists(choices, min_size=1, max_size=2),
    st.lists(st.builds(Gaussian, st.floats(1.5, 30)), max_size=1),
).map(lambda parts: [*parts[0], *parts[1], *parts[2]])

quick = settings(max_examples=many(1200))
cheap = settings(max_examples=many(2500))
slow = settings(max_examples=many(60))


def paper_epsilon(rho: float, delta: float) -> float:
    """The paper's own conversion, which is simpler and larger."""
    return rho + 2 * math.sqrt(rho * -math.log(delta))


@cheap
@given(rho=st.floats(-8, 1.5).map(lambda power: 10.0**power), delta=deltas)
def test_zcdp_conversions_agree_with_each_other(rho: float, delta: float) -> None:
    epsilon = zcdp.epsilon(rho, delta)
    assert 0 <= epsilon <= paper_epsilon(rho, delta)
    if epsilon > 0:
        assert zcdp.delta(rho, epsilon) == pytest.approx(delta, rel=1e-6)
        assert zcdp.rho(epsilon, delta) == pytest.approx(rho, rel=1e-6)
        assert zcdp.rho(epsilon, delta) <= rho * (1 + 1e-9)


@quick
@given(losses=linear, delta=usual)
def test_the_tight_epsilon_is_at_most_zcdps_and_that_at_most_the_papers(losses: list, delta: float) -> None:
    composition = compose(losses)
    zcdp_epsilon = composition.zcdp_epsilon(delta)
    assert composition.epsilon(delta) <= zcdp_epsilon <= paper_epsilon(composition.rho, delta)


@quick
@given(losses=linear, delta=usual)
def test_delta_and_epsilon_are_inverses(losses: list, delta: float) -> None:
    composition = compose(losses)
    epsilon = composition.epsilon(delta)
    assert composition.delta(epsilon) <= delta * (1 + 1e-8)
    if epsilon > 1e-6:
        assert composition.delta(epsilon * 0.999) >= delta * (1 - 1e-6)


@quick
@given(
    losses=st.one_of(st.lists(known, min_size=1, max_size=2), st.lists(assumed, min_size=1, max_size=2)),
    more=st.floats(1, 3),
    epsilon=st.floats(0, 20),
)
def test_more_noise_costs_less(losses: list[Gaussian], more: float, epsilon: float) -> None:
    loss, *rest = losses
    noisier = Gaussian(loss.sigma * more, loss.weights, loss.neighbours)
    assert compose([noisier, *rest]).delta(epsilon) <= compose([loss, *rest]).delta(epsilon) * (1 + 1e-4)


@quick
@given(losses=linear, epsilon=st.floats(0, 10), data=st.data())
def test_the_order_of_measurements_and_pure_answers_does_not_matter(
    losses: list, epsilon: float, data: st.DataObject
) -> None:
    other = data.draw(st.permutations(losses))
    assert compose(other).delta(epsilon) == pytest.approx(compose(losses).delta(epsilon), rel=1e-9, abs=0)


@settings(max_examples=many(200))
@given(epsilon=st.floats(0.01, 1), count=st.integers(1, 40), sigma=sigmas, at=st.floats(0, 8))
def test_k_fold_losses_cost_what_k_separate_ones_do(
    epsilon: float, count: int, sigma: float, at: float
) -> None:
    together = compose([Laplace(epsilon, count), Gaussian(sigma)]).delta(at)
    assert compose([Laplace(epsilon)] * count + [Gaussian(sigma)]).delta(at) == pytest.approx(
        together, rel=1e-12
    )
    # k batches of one sigma are one batch of sigma / sqrt k with k equal weights
    batches = compose([Gaussian(sigma)] * count).delta(at)
    assert compose([Gaussian(sigma / math.sqrt(count), (1.0,) * count)]).delta(at) == pytest.approx(
        batches, rel=1e-6
    )


@cheap
@given(parts=st.lists(st.integers(1, 60), min_size=1, max_size=6), rho=st.floats(1e-6, 2))
def test_shares_add_up_to_the_whole(parts: list[int], rho: float) -> None:
    shares = [Fraction(part, sum(parts)) for part in parts]
    groups = [Group(str(i), ["measure", "choose", "laplace"][i % 3], s) for i, s in enumerate(shares)]
    assert sum(group.share for group in groups) == 1
    assert math.fsum(group.loss(rho).rho for group in groups) == pytest.approx(rho, rel=1e-12)


@cheap
@given(loss=st.one_of(gaussians, choices, pure, approximate, st.builds(Slack, usual)))
def test_a_loss_is_read_back_as_it_was_written(loss: object) -> None:
    assert loss_from_dict(loss.to_dict()) == loss  # type: ignore[attr-defined]
    assert hash(loss_from_dict(loss.to_dict())) == hash(loss)  # type: ignore[attr-defined]


@slow
@given(losses=mixed, delta=usual)
def test_choices_keep_the_laws_of_the_curve(losses: list, delta: float) -> None:
    composition = compose(losses)
    epsilon = composition.epsilon(delta)
    assert epsilon <= composition.zcdp_epsilon(delta) <= paper_epsilon(composition.rho, delta)
    assert composition.delta(epsilon) <= delta * (1 + 1e-4)  # choices alone end in a cliff
    assert composition.delta(epsilon * 0.999) >= delta
    # one more choice never costs less
    assert compose([Choice(0.05), *losses]).epsilon(delta) >= epsilon * (1 - 1e-4)


@slow
@given(epsilon=st.floats(0.02, 0.5), count=st.integers(2, 6), sigma=st.floats(2, 20), delta=usual)
def test_k_choices_cost_what_k_separate_ones_do(
    epsilon: float, count: int, sigma: float, delta: float
) -> None:
    together = compose([Gaussian(sigma), Choice(epsilon, count), Gaussian(sigma)])
    apart = compose([Gaussian(sigma), *[Choice(epsilon)] * count, Gaussian(sigma)])
    assert apart.epsilon(delta) == pytest.approx(together.epsilon(delta), rel=1e-12)


@slow
@given(losses=mixed, delta=usual, data=st.data())
def test_the_order_of_choices_and_measurements_matters_little(
    losses: list, delta: float, data: st.DataObject
) -> None:
    # Adaptivity makes the order matter in principle: only what follows the last choice, and only so little.
    other = data.draw(st.permutations(losses))
    assert compose(other).epsilon(delta) == pytest.approx(compose(losses).epsilon(delta), rel=0.05)


@settings(max_examples=many(60))
@given(
    epsilon=st.floats(0.05, 20),
    delta=usual,
    parts=st.lists(
        st.tuples(st.sampled_from(["measure", "laplace"]), st.integers(1, 9)), min_size=1, max_size=4
    ),
    columns=st.integers(1, 50),
)
def test_calibration_fills_the_budget_and_no_more(
    epsilon: float, delta: float, parts: list, columns: int
) -> None:
    total = sum(part for _, part in parts)
    groups = [
        Group(str(i), kind, Fraction(part, total), weights=(1.0,) * columns if kind == "measure" else None)
        for i, (kind, part) in enumerate(parts)
    ]
    budget = Budget(epsilon, delta)
    calibration = calibrate(budget, groups)
    assert compose(calibration.losses.values()).delta(epsilon) <= delta
    assert calibration.composition.epsilon(delta) <= epsilon * (1 + 1e-12)
    assert calibration.composition.epsilon(delta) >= epsilon * (1 - 1e-4)
    assert calibration.rho >= budget.rho * (1 - 1e-9)


def test_more_slack_than_delta_leaves_no_finite_epsilon() -> None:
    composition = compose([Gaussian(5), Slack(1e-6)])
    assert composition.epsilon(1e-9) == math.inf
    assert composition.epsilon(2e-6) > compose([Gaussian(5)]).epsilon(2e-6)
    with pytest.raises(BudgetError):
        composition.epsilon(0)
