"""A question that cannot be answered as it is asked is refused before it is charged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from plain_engine import PlainEngine

from understudy.domain import Domain
from understudy.errors import BudgetError, ParameterError, SizeError
from understudy.privacy import Budget, Curator, Group, Job, Laplace, Ledger


def test_a_histogram_that_only_its_filled_cells_could_be_counted_of_needs_an_engine_that_does() -> None:
    domain = Domain({f"c{i}": 1000 for i in range(5)})
    curator = Curator(PlainEngine({name: [0] for name in domain}, domain), Budget(1.0, 1e-6))
    loss = curator.commit([Group("groups", "laplace", Fraction(1))])["groups"]
    with pytest.raises(SizeError, match="cells"):
        curator.histogram(domain.names, loss, 5)
    assert curator.charges == ()


def test_marginals_at_a_laplace_loss_have_no_weights() -> None:
    """All get the same noise, so weights that differ would be promised and not kept."""
    domain = Domain({"a": 2, "b": 2})
    curator = Curator(PlainEngine({"a": [0, 1], "b": [1, 1]}, domain), Budget(1.0, 1e-6))
    with pytest.raises(BudgetError, match="weigh"):
        curator.measure(["a", "b"], [1.0, 2.0], budget=Laplace(0.1))
    assert curator.charges == ()
    assert len(curator.measure(["a", "b"], [3.0, 3.0], budget=Laplace(0.1))) == 2


def test_a_limit_may_be_what_was_spent_and_no_less(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.open(Job("people", "one"), 1.0, 1e-6)
    for epsilon, delta in ((0.9, 1e-6), (1.0, 0.9e-6)):
        with pytest.raises(BudgetError, match="already spent"):
            ledger.set_limit("people", epsilon, delta)
    ledger.set_limit("people", 1.0, 1e-6)
    assert ledger.account("people").left == (0, 0)


@pytest.mark.parametrize("fingerprint", ["", 7, None, b"one"])
def test_a_job_is_known_by_a_text(fingerprint: Any) -> None:
    """Two jobs without one would be one job, and the second would get the first one's answers."""
    with pytest.raises(ParameterError, match="fingerprint"):
        Job("people", fingerprint)
