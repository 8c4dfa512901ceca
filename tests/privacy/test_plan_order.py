"""A plan is composed in its order, so it is asked in its order."""

from fractions import Fraction

import pytest

from understudy.errors import BudgetError
from understudy.privacy import Budget, Choice, Gaussian, Group, Neighbours
from understudy.privacy.spending import Allowance

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


def test_a_plan_cannot_be_asked_in_its_order() -> None:
    allowance, one_way, tree, pairs = started()
    one = Choice(tree.epsilon)
    for asked, loss in [(one_way, one_way), (tree, one), (tree, one), (pairs, pairs)]:
        allowance = allowance.charge(asked, loss, 0.0)


def test_a_choice_sees_an_answer_that_was_planned_to_follow_it() -> None:
    allowance, one_way, tree, pairs = started()
    one = Choice(tree.epsilon)
    after = allowance.charge(tree, one, 0.0).charge(pairs, pairs, 0.0)
    with pytest.raises(BudgetError, match="order"):
        after.charge(tree, one, 0.0)
    after.charge(one_way, one_way, 0.0)  # a measurement planned earlier may come later
    cut, piece = allowance.charge(tree, one, 0.0).piece(pairs)
    with pytest.raises(BudgetError, match="order"):
        cut.charge(piece, piece, 0.0).charge(tree, one, 0.0)


def test_pieces_of_an_early_batch_stop_choices() -> None:
    allowance, one_way, tree, _ = started()
    cut, piece = allowance.piece(one_way)
    cut.charge(piece, piece, 0.0).charge(tree, Choice(tree.epsilon), 0.0)
