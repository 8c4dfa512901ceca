"""The accountant against computations that share nothing with it: high precision, and enumeration."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from understudy.privacy import Budget, Choice, Gaussian, Group, Laplace, Neighbours, calibrate, compose
from understudy.privacy.accounting import gaussian, zcdp

mp.mp.dps = 60


def gaussian_delta(mu: float, epsilon: float) -> mp.mpf:
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    return mp.ncdf(-epsilon / mu + mu / 2) - mp.exp(epsilon) * mp.ncdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.1, 0.5, 1, 2, 5, 8])
@pytest.mark.parametrize("height", [0, 0.3, 1, 3, 6, 10, 25, 36])
def test_the_gaussian_curve_is_right_to_the_last_digits(mu: float, height: float) -> None:
    epsilon = mu * (height + mu / 2)  # deltas from 0.5 down to 1e-285
    exact = gaussian_delta(mu, epsilon)
    assert exact <= gaussian.delta(mu, epsilon) <= exact * (1 + mp.mpf(1e-11 + 4e-13 * (1 + height) / mu))


@pytest.mark.parametrize("mu", [0.05, 0.5, 3])
def test_the_curve_of_many_epsilons_is_that_of_each(mu: float) -> None:
    from understudy.privacy.accounting.bounded_range import gaussian_curve

    epsilons = np.linspace(-3, 25, 301)
    assert gaussian_curve(mu, epsilons) == pytest.approx([gaussian.delta(mu, e) for e in epsilons], rel=1e-12)


@pytest.mark.parametrize("epsilon", [690.0, 720.0, 790.0, 900.0])
def test_a_loss_beyond_what_a_float_can_raise_e_to_is_still_counted(epsilon: float) -> None:
    from understudy.privacy.accounting.bounded_range import gaussian_curve

    exact = gaussian_delta(40, epsilon)
    assert exact <= gaussian_curve(40.0, np.array([epsilon]))[0] <= 2 * exact
    many = Gaussian(1 / 40, (1.0,) * 100_000)
    for losses in ([many, Choice(0.1)], [Choice(0.1), many]):
        assert exact <= compose(losses).delta(epsilon)


@pytest.mark.parametrize(("rho", "epsilon"), [(0.0121, 1), (0.7, 8), (1e-4, 0.1), (3, 20), (1.0, 0.5)])
def test_zcdp_is_the_best_over_alpha(rho: float, epsilon: float) -> None:
    def log_delta(x: mp.mpf) -> mp.mpf:
        alpha = 1 + mp.exp(x)
        return (alpha - 1) * (alpha * rho - epsilon) + alpha * mp.log(1 - 1 / alpha) - mp.log(alpha - 1)

    best = mp.exp(min(log_delta(mp.mpf(x) / 500) for x in range(-4000, 5000)))
    assert zcdp.delta(rho, epsilon) <= min(best, 1) * (1 + 1e-9)
    assert zcdp.delta(rho, epsilon) >= min(best, 1) * (1 - 1e-3)


def noise(scale: float, shift: int = 0, width: int = 0) -> dict[int, float]:
    """The discrete Gaussian around `shift`, to masses of 1e-35."""
    reach = width or math.ceil(12.5 * scale) + 2
    masses = {x: math.exp(-((x - shift) ** 2) / (2 * scale**2)) for x in range(-reach, reach + 1)}
    total = math.fsum(masses.values())
    return {x: mass / total for x, mass in masses.items()}


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def cells(*moves: tuple[float, int]) -> tuple[np.ndarray, np.ndarray]:
    """Both worlds' joint distributions of independent cells, each (scale, shift)."""
    p, q = np.ones(1), np.ones(1)
    for scale, shift in moves:
        wide = math.ceil(12.5 * scale) + 3
        one, other = noise(scale, 0, wide), noise(scale, shift, wide)
        p = np.multiply.outer(p, np.array(list(one.values()))).ravel()
        q = np.multiply.outer(q, np.array(list(other.values()))).ravel()
    return p, q


@pytest.mark.parametrize("sigma", [0.4, 0.7, 1.0, 1.12, 1.271, 2.0, 3.3, 10.0, 60.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 8.0, 8.056, 12.0])
def test_one_discrete_measurement_costs_no_more_than_is_said(sigma: float, epsilon: float) -> None:
    p, q = cells((sigma, 1))
    exact = hockey_stick(p, q, epsilon)
    claimed = compose([Gaussian(sigma)]).delta(epsilon)
    assert exact <= claimed * (1 + 1e-9) + 1e-30
    if sigma >= 3 and exact > 1e-20:
        assert claimed <= exact * (1 + epsilon**2 / 6 + 1e-3)


@pytest.mark.parametrize(
    ("losses", "moves"),
    [
        ([Gaussian(1.2, (1, 2))], [(1.2 * 5**0.5, 1), (1.2 * 5**0.5 / 2, 1)]),
        ([Gaussian(1.0), Gaussian(1.3)], [(1.0, 1), (1.3, 1)]),
        ([Gaussian(0.8, (1, 1, 1))], [(0.8 * 3**0.5, 1)] * 3),
        ([Gaussian(2.0, (1, 3)), Gaussian(4)], [(2 * 10**0.5, 1), (2 * 10**0.5 / 3, 1), (4, 1)]),
        ([Gaussian(1.1, neighbours=Neighbours("replace"))], [(1.1 * 2**0.5, 1), (1.1 * 2**0.5, -1)]),
        ([Gaussian(1.3, neighbours=Neighbours(records=2))], [(2.6, 2)]),
        ([Gaussian(1.3, neighbours=Neighbours(records=2))], [(2.6, 1), (2.6, 1)]),
        ([Gaussian(5, neighbours=Neighbours(records=2))], [(10, 2)]),
        ([Gaussian(1.5, neighbours=Neighbours("replace", 2))], [(3 * 2**0.5, 2), (3 * 2**0.5, -2)]),
        ([Gaussian(3, None)], [(3, 1)]),
        ([Gaussian(3, None)], [(3 * 2**0.5, 1), (3 * 2**0.5, 1)]),
    ],
)
def test_few_discrete_measurements_cost_no_more_than_is_said(losses: list, moves: list) -> None:
    p, q = cells(*moves)
    composition = compose(losses)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0):
        exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        assert exact <= composition.delta(epsilon) * (1 + 1e-9) + 1e-28, epsilon


def worlds(
    sigma: float, eps0: float, choose: Callable[[int, int], list[int]], rounds: int, ends: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Both worlds' transcripts: a measurement, `rounds` choices whose scores depend on it, a measurement.

    `choose(x, round)` says, for each candidate, whether the other world's score is one higher or one lower.
    """
    wide = math.ceil(9 * sigma) + 2
    first, second = noise(sigma, 0, wide), noise(sigma, 1, wide)
    p_all, q_all = [], []
    for x in first:
        p, q = np.array([first[x]]), np.array([second[x]])
        for turn in range(rounds):
            moves = np.array(choose(x, turn))
            mine = np.exp(eps0 / 2 * np.zeros(len(moves)))
            theirs = np.exp(eps0 / 2 * moves)
            p = np.multiply.outer(p, mine / mine.sum()).ravel()
            q = np.multiply.outer(q, theirs / theirs.sum()).ravel()
        if ends:
            p = np.multiply.outer(p, np.array(list(first.values()))).ravel()
            q = np.multiply.outer(q, np.array(list(second.values()))).ravel()
        p_all.append(p)
        q_all.append(q)
    return np.concatenate(p_all), np.concatenate(q_all)


@pytest.mark.parametrize("sigma", [1.2, 2.5])
@pytest.mark.parametrize("eps0", [0.3, 1.0])
@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize(
    "choose",
    [
        lambda x, turn: [1, -1, -1],
        lambda x, turn: [1, 1, 1, -1],
        lambda x, turn: [1, -1] if x < -1 else [1, 1, 1, -1] if x < 2 else [1, -1, -1, -1, -1, -1],
        lambda x, turn: [1] * (1 + turn) + [-1] * max(1, 3 - abs(x)),
    ],
)
def test_choices_that_look_at_measurements_cost_no_more_than_is_said(
    sigma: float, eps0: float, ends: bool, choose: Callable[[int, int], list[int]]
) -> None:
    rounds = 3
    p, q = worlds(sigma, eps0, choose, rounds, ends)
    composition = compose([Gaussian(sigma), Choice(eps0, rounds), *([Gaussian(sigma)] if ends else [])])
    for epsilon in (0.0, 0.2, 0.7, 1.5, 3.0, 5.0):
        exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        assert exact <= composition.delta(epsilon) * (1 + 1e-9) + 1e-15, epsilon


def best_adaptive(eps0: float, rounds: int, epsilon: float, knots: int = 40) -> float:
    """The most that `rounds` choices reveal to an adversary who may use any of `knots` kinds of choice."""
    if rounds == 0:
        return max(0.0, -math.expm1(epsilon))
    best = 0.0
    for t in np.linspace(0, eps0, knots + 1):
        p = (math.exp(eps0) - math.exp(t)) / math.expm1(eps0)
        value = p * best_adaptive(eps0, rounds - 1, epsilon - t, knots)
        value += (1 - p) * best_adaptive(eps0, rounds - 1, epsilon - t + eps0, knots)
        best = max(best, value)
    return best


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.35, 0.7])
def test_choices_alone_cost_what_the_best_adversary_gains(epsilon: float) -> None:
    found = best_adaptive(0.4, 2, epsilon)
    assert found <= compose([Choice(0.4, 2)]).delta(epsilon) * (1 + 1e-9) <= found * (1 + 5e-2) + 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-9), (8.0, 1e-5), (20.0, 0.1)])
@pytest.mark.parametrize("count", [1, 2])
def test_a_plan_of_a_few_choices_fills_its_budget_and_no_more(
    epsilon: float, delta: float, count: int
) -> None:
    loss = calibrate(Budget(epsilon, delta), [Group("which", "choose", Fraction(1), count)]).losses["which"]
    assert isinstance(loss, Choice)
    assert best_adaptive(loss.epsilon, count, epsilon) <= delta
    assert count * loss.epsilon >= 0.99999 * epsilon  # no worse than what adding up their epsilons gives


@pytest.mark.parametrize("epsilon", [60.0, 600.0, 750.0, 1e5])
@pytest.mark.parametrize("kinds", ["c", "cl", "cm", "mclm"])
def test_a_plan_at_an_epsilon_that_protects_nobody_is_still_calibrated(kinds: str, epsilon: float) -> None:
    names = {"c": "choose", "l": "laplace", "m": "measure"}
    groups = [Group(str(i), names[kind], Fraction(1, len(kinds))) for i, kind in enumerate(kinds)]
    budget = Budget(epsilon, 1e-9, allow_large_epsilon=True)
    found = calibrate(budget, groups)
    assert found.rho >= budget.rho * (1 - 1e-9)
    assert found.composition.delta(epsilon) <= budget.delta


@pytest.mark.parametrize(("eps0", "count"), [(0.5, 1), (0.2, 4), (1.0, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.15, 0.4, 1.1])
def test_pure_answers_cost_what_randomised_response_does(eps0: float, count: int, epsilon: float) -> None:
    head = math.exp(eps0) / (1 + math.exp(eps0))
    exact = 0.0
    for sides in itertools.product([1, -1], repeat=count):
        p = math.prod(head if side > 0 else 1 - head for side in sides)
        exact += p * max(0.0, -math.expm1(epsilon - eps0 * sum(sides)))
    assert exact <= compose([Laplace(eps0, count)]).delta(epsilon) * (1 + 1e-12) + 1e-300
    assert compose([Laplace(eps0, count)]).delta(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_laplace_beside_a_measurement_costs_what_the_enumerated_cells_say() -> None:
    # a discrete Laplace count and a discrete Gaussian one, enumerated
    p, q = cells((2.0, 1))
    head = math.exp(0.5) / (1 + math.exp(0.5))
    p, q = np.concatenate([p * head, p * (1 - head)]), np.concatenate([q * (1 - head), q * head])
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        claimed = compose([Laplace(0.5), Gaussian(2.0)]).delta(epsilon)
        exact = hockey_stick(p, q, epsilon)
        assert exact <= claimed * (1 + 1e-9) <= exact * 1.25


def fixed_choices(epsilon: float, sigma: float, eps0: float, count: int) -> float:
    """A lower bound: the same kind of choice every time, whatever was measured."""
    mu = math.sqrt(2) / sigma
    best = 0.0
    for t in np.linspace(0.3 * eps0, 0.7 * eps0, 201):
        p = (math.exp(eps0) - math.exp(t)) / math.expm1(eps0)
        total = 0.0
        for low in range(count + 1):
            log_mass = math.lgamma(count + 1) - math.lgamma(low + 1) - math.lgamma(count - low + 1)
            log_mass += (count - low) * math.log(p) + low * math.log1p(-p)
            total += math.exp(log_mass) * gaussian.delta(mu, epsilon - (count * t - low * eps0))
        best = max(best, total)
    return best


@pytest.mark.parametrize(("epsilon", "sigma"), [(1.0, 9.510), (8.0, 1.371)])
def test_ninety_seven_choices_are_near_a_lower_bound(epsilon: float, sigma: float) -> None:
    eps0 = math.sqrt(4 / 97) / sigma
    lower = fixed_choices(epsilon, sigma, eps0, 97)
    composition = compose([Gaussian(sigma, (1,) * 98), Choice(eps0, 97), Gaussian(sigma, (1,) * 97)])
    assert lower <= composition.delta(epsilon)
    assert composition.epsilon(lower) == pytest.approx(epsilon, rel=2e-4)
