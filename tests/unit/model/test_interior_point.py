"""The direct method for small models: the optimum to the last digits, structural zeros exact."""

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.model import estimate
from understudy.model.fitting import refinement

DOMAIN = Domain({"a": 2, "b": 3, "c": 2})
MEASURED = [
    Measurement(("a", "b"), [50.0, 30, 20, 5, -3, 8], 4.0),
    Measurement(("b", "c"), [30.0, 20, 25, 5, 10, 22], 1e-3),
    Measurement(("a", "c"), [70.0, 30, 0, 15], 1e4),
]


@pytest.fixture
def direct(monkeypatch):
    """Small models are solved by the direct method at once."""
    monkeypatch.setattr(refinement, "_SMALL_STEPS", 0)


def test_the_direct_method_ends_where_the_others_do(direct):
    found = estimate(DOMAIN, MEASURED, tolerance=1e-9)
    assert found.fit.converged
    assert found.fit.steps < 60
    with pytest.MonkeyPatch.context() as others:
        others.setattr(refinement, "LARGEST", 0)
        other = estimate(DOMAIN, MEASURED)
    assert found.fit.loss <= other.fit.loss + 1e-6
    assert found.fit.loss >= other.fit.loss - other.fit.gap - 1e-6


def test_the_direct_method_keeps_structural_zeros(direct):
    mask = np.zeros((2, 3), bool)
    mask[0, 1] = True
    found = estimate(DOMAIN, MEASURED, zeros={("a", "b"): mask})
    assert found.fit.converged
    assert found.marginal(("a", "b")).counts[0, 1] == 0.0


def test_steps_are_not_exceeded_by_a_direct_solution():
    assert estimate(DOMAIN, MEASURED, max_steps=0).fit.steps <= 60
