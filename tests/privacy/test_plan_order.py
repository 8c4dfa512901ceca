"""A plan is composed in its order, so it is asked in its order."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from plain_engine import people

from understudy.errors import BudgetError
from understudy.privacy import Budget, Choice, Curator, Gaussian, Group, Neighbours
from understudy.privacy.accounting.spending import Allowance

third = Fraction(1, 3)
GROUPS = [
    Group("one-way", "measure", third, weights=(1.0, 1.0, 1.0)),
    Group("tree", "choose", third, 2),
    Group("pairs", "measure", third, weights=(1.0, 1.0)),
]


def started() -> tuple[Allowance, Gaussian, Choice, Gaussian]:
    allowance, losses = Allowance(Budget(1.0, 1e-9), Neighbours()).commit(GROUPS)
    one_way, tree, pairs = losses.values()
    assert isinstance(one_way, Gaussian)
    assert isinstance(tree, Choice)
    assert isinstance(pairs, Gaussian)
    return allowance, one_way, tree, pairs


def test_a_plan_can_be_asked_in_its_order() -> None:
    allowance, one_way, tree, pairs = started()
    one = Choice(tree.epsilon)
    for asked, loss in [(one_way, one_way), (tree, one), (tree, one), (pairs, pairs)]:
        allowance = allowance.charge(asked, loss, 0.0)


def test_a_choice_is_refused_after_an_answer_that_was_planned_to_follow_it() -> None:
    allowance, one_way, tree, pairs = started()
    one = Choice(tree.epsilon)
    after = allowance.charge(tree, one, 0.0).charge(pairs, pairs, 0.0)
    with pytest.raises(BudgetError, match="order"):
        after.charge(tree, one, 0.0)
    after.charge(one_way, one_way, 0.0)  # a measurement planned earlier may come later
    cut, piece = allowance.charge(tree, one, 0.0).piece(pairs)
    with pytest.raises(BudgetError, match="order"):
        cut.charge(piece, piece, 0.0).charge(tree, one, 0.0)


def test_choices_may_follow_the_pieces_of_an_earlier_batch() -> None:
    allowance, one_way, tree, _ = started()
    cut, piece = allowance.piece(one_way)
    cut.charge(piece, piece, 0.0).charge(tree, Choice(tree.epsilon), 0.0)


# One wide choice, then eight narrow ones: asked the other way round they cost more than was budgeted.
WIDE_FIRST = [Group("wide", "choose", Fraction(1, 2), 1), Group("narrow", "choose", Fraction(1, 2), 8)]
BUDGET = Budget(1.0, 1e-3)


def reached_by_adversary(epsilons: Sequence[float], epsilon: float, parts: int = 600) -> float:
    """A delta that choices in this order really reach at epsilon: the best of two-point laws on a grid of losses.

    All losses are whole multiples of epsilon / parts, so nothing is interpolated: this is what an adversary gets
    whose next choice depends on what the earlier ones gave away.
    """
    step = epsilon / parts
    widths = [int(each / step) for each in epsilons]
    left = step * np.arange(parts - sum(widths), parts + sum(widths) + 1)
    curve = np.maximum(0.0, -np.expm1(np.minimum(left, 0.0)))
    for width in reversed(widths):
        at = np.arange(width, len(curve) - width)
        chances = [1 - math.expm1(t * step) / math.expm1(width * step) for t in range(width + 1)]
        laws = [p * curve[at - t] + (1 - p) * curve[at - t + width] for t, p in enumerate(chances)]
        curve = np.max(laws, axis=0)
    (delta,) = curve.tolist()
    return float(delta)


def test_choices_out_of_the_order_of_their_plan_would_exceed_the_budget_and_are_refused() -> None:
    _, losses = Allowance(BUDGET, Neighbours()).commit(WIDE_FIRST)
    wide, narrow = (loss.epsilon for loss in losses.values() if isinstance(loss, Choice))
    assert wide > narrow
    planned, turned = [wide, *[narrow] * 8], [*[narrow] * 8, wide]
    assert reached_by_adversary(planned, BUDGET.epsilon) <= BUDGET.delta
    assert reached_by_adversary(turned, BUDGET.epsilon) > 1.1 * BUDGET.delta  # the breach

    curator = Curator(people(), BUDGET)
    losses = curator.commit(WIDE_FIRST)
    pairs = [("sex", "age"), ("sex", "school")]
    for _ in range(8):
        curator.choose_dependent(pairs, losses["narrow"])
    with pytest.raises(BudgetError, match="order"):
        curator.choose_dependent(pairs, losses["wide"])


def test_a_choice_may_be_left_out_but_not_made_up_for_later() -> None:
    groups = [
        Group("first", "choose", Fraction(1, 4), 2),
        Group("between", "choose", Fraction(1, 2), 1),
        Group("last", "choose", Fraction(1, 4), 2),
    ]
    allowance, losses = Allowance(BUDGET, Neighbours()).commit(groups)
    assert losses["first"] == losses["last"]
    one, between = Choice(losses["first"].epsilon), losses["between"]  # type: ignore[union-attr]
    after = allowance.charge(one, one, 0.0).charge(between, between, 0.0)
    after = after.charge(one, one, 0.0).charge(one, one, 0.0)  # those planned last
    with pytest.raises(BudgetError, match="order"):
        after.charge(one, one, 0.0)  # the one left over of those planned first


def test_a_question_with_other_weights_than_planned_is_not_in_the_plan() -> None:
    allowance, one_way, *_ = started()
    assert one_way.weights is not None
    nearly = Gaussian(one_way.sigma, (one_way.weights[0] * (1 + 1e-10), *one_way.weights[1:]))
    with pytest.raises(BudgetError, match="not, or no longer"):
        allowance.charge(one_way, nearly, 0.0)
