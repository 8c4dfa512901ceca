"""How many records units have is asked at sensitivity one, before any bound, and paid for apart."""

from __future__ import annotations

import copy
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy.domain import Domain
from understudy.errors import BudgetError, ParameterError, ReleaseError
from understudy.privacy import Neighbours, Seeded, recompute
from understudy.privacy.curator.exact_counts import ExactCounts

STARTS = (1, 2, 3, 5, 10)
UNITS = st.lists(st.integers(1, 40), max_size=30)


class Units:
    """An engine of units with so many records each, and one column of one code."""

    def __init__(self, sizes: Sequence[int], most: int = 1) -> None:
        self.sizes, self.most, self.domain = sizes, most, Domain({"a": 1})

    def count_units(self) -> Mapping[int, int]:
        return Tally(self.sizes)

    def count(self, cliques: Sequence[Any]) -> list[us.Marginal]:
        used = sum(min(self.most, size) for size in self.sizes)
        return [us.Marginal(clique, np.array([used])) for clique in cliques]

    def recode(self, maps: Any) -> Units:
        return self


def cells(sizes: Sequence[int]) -> Any:
    return ExactCounts(Units(sizes), Domain({})).unit_sizes(STARTS)


def curator(sizes: Sequence[int], relation: str = "add-remove") -> us.Curator:
    return us.Curator(Units(sizes), us.Budget(1.0, 1e-6), neighbours=Neighbours(relation), source=Seeded(3))


@given(UNITS, st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_unit_moves_one_cell_by_one_however_many_records_it_has(
    sizes: list[int], size: int, other: int
) -> None:
    moved = cells([*sizes, size]) - cells(sizes)
    assert sorted(moved.tolist()) == [0] * (len(STARTS) - 1) + [1]
    replaced = np.abs(cells([*sizes, size]) - cells([*sizes, other]))
    assert replaced.sum() <= Neighbours("replace").l1


@pytest.mark.parametrize(("relation", "scale"), [("add-remove", 10.0), ("replace", 20.0)])
def test_noise_is_that_of_one_unit_and_charged_apart(relation: str, scale: float) -> None:
    asking = curator([2] * 4_000, relation)
    found = asking.unit_sizes(STARTS, us.Budget(0.1, 1e-9))
    assert found.scale == pytest.approx(scale) and found.units[1] == pytest.approx(4_000, abs=20 * scale)
    assert asking.left.epsilon == pytest.approx(0.9)
    bounded = asking.bounded(Units([2] * 4_000, 2), 2)
    assert bounded.neighbours == Neighbours(relation, 2)
    bounded.measure(["a"], budget=bounded.left)
    certificate = bounded.certificate()
    assert certificate["neighbours"]["records"] == 2 and 0.5 < recompute(certificate) <= 1.0
    assert [part["epsilon"] for part in certificate["parts"]] == [0.1, pytest.approx(0.9)]


def test_a_bound_is_never_changed_after_a_question_that_it_matters_for() -> None:
    asking = curator([1, 2, 3])
    asking.measure(["a"], budget=us.Budget(0.1, 1e-9))
    with pytest.raises(BudgetError, match="changed after questions"):
        asking.bounded(Units([1, 2, 3], 2), 2)
    planned = curator([1, 2, 3])
    planned.commit([us.Group("a", "measure", 1, weights=(1,))])  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="changed after questions"):
        planned.bounded(Units([1, 2, 3], 2), 2)
    with pytest.raises(BudgetError, match="before a plan is committed"):
        planned.unit_sizes(STARTS, us.Budget(0.1, 1e-9))


def test_less_noise_than_was_charged_is_found_out() -> None:
    asking = curator([1, 2, 3])
    asking.unit_sizes(STARTS, us.Budget(0.1, 1e-9))
    honest = asking.certificate()
    recompute(honest)
    for change in ({"scales": [9.0]}, {"losses": [{"kind": "approximate", "epsilon": 0.01, "delta": 1e-9}]}):
        forged = copy.deepcopy(honest)
        forged["charges"][0].update(change)
        with pytest.raises(ReleaseError):
            recompute(forged)


def test_what_cannot_be_counted_by_unit_is_refused_before_the_charge() -> None:
    asking = us.Curator(us.table({"a": ["x"]}, us.Schema({"a": us.Category(("x",))})), us.Budget(1.0, 1e-6))
    with pytest.raises(ParameterError, match="max_records_per_unit = 1"):
        asking.unit_sizes(STARTS, us.Budget(0.1, 1e-9))
    for starts in ((), (2, 3), (1, 1)):
        with pytest.raises(ParameterError, match="go up from 1"):
            curator([1]).unit_sizes(starts, us.Budget(0.1, 1e-9))
    assert not asking.charges
