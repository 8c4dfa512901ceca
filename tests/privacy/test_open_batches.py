"""A batch planned without weights may be shared by as many discoveries as turn out to be wanted, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError
from understudy.marginals import Marginal
from understudy.privacy import Budget, Curator, Gaussian, Group, Seeded, recompute


class Words:
    """Records of which only the values of open columns can be counted."""

    domain = Domain({})

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        raise AssertionError

    def recode(self, maps: Mapping[str, Any]) -> Words:
        return self

    def count_values(self, column: str) -> Mapping[Any, int]:
        return {"often": 10_000, "rare": 1}


def opened(weights: tuple[float, ...] | None) -> tuple[Curator, Gaussian]:
    curator = Curator(Words(), Budget(1.0, 1e-6), source=Seeded(0))
    plan = [
        Group("values", "measure", Fraction(1, 3), weights=weights),
        Group("rest", "measure", Fraction(2, 3)),
    ]
    loss = curator.commit(plan)["values"]
    assert isinstance(loss, Gaussian)
    return curator, loss


def test_a_batch_without_weights_is_shared_as_one_with_them() -> None:
    curator, loss = opened(None)
    shared = replace(loss, weights=(1.0,) * 3)
    found = [curator.discover(name, shared) for name in "abc"]
    assert [d.values for d in found] == [("often",)] * 3
    assert [d.scale for d in found] == pytest.approx([loss.sigma * 3**0.5] * 3)
    assert 0.4 < recompute(curator.certificate()) <= 1.0


def test_nothing_is_left_of_it_once_it_was_shared() -> None:
    curator, loss = opened(None)
    shared = replace(loss, weights=(1.0,) * 2)
    for name in "ab":
        curator.discover(name, shared)
    for asked in (shared, replace(loss, weights=(1.0,) * 3)):
        with pytest.raises(BudgetError, match="no longer, in the plan"):
            curator.discover("c", asked)


def test_weights_are_settled_by_the_first_piece() -> None:
    curator, loss = opened(None)
    curator.discover("a", replace(loss, weights=(1.0,) * 2))
    with pytest.raises(BudgetError):
        curator.discover("b", replace(loss, weights=(1.0,)))


def test_weights_that_were_planned_cannot_be_changed() -> None:
    curator, loss = opened((1.0, 1.0))
    for weights in ((1.0,), (1.0,) * 3, (2.0, 1.0), None):
        with pytest.raises(BudgetError):
            curator.discover("a", replace(loss, weights=weights))
