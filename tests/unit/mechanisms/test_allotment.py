"""A mechanism spends what its curator holds: the whole budget, or what was allotted to it."""

from __future__ import annotations

import pytest

from understudy.data import Table
from understudy.errors import ParameterError
from understudy.mechanisms import MST, Independent
from understudy.privacy import Budget, Curator


@pytest.mark.parametrize("mechanism", [Independent(), MST()], ids=lambda mechanism: mechanism.name)
def test_a_budget_that_is_not_the_curators_is_refused_and_nothing_is_asked(mechanism):
    table = Table({"a": 2, "b": 3}, {"a": [0, 1, 1], "b": [0, 1, 2]})
    curator = Curator(table, Budget(1.0, 1e-6))
    for other in (Budget(2.0, 1e-6), Budget(1.0, 1e-5), Budget(0.5, 1e-6)):
        with pytest.raises(ParameterError, match="budget"):
            mechanism(curator, table.domain, other)
    assert curator.charges == ()
    assert mechanism(curator, table.domain, curator.budget).measurements
