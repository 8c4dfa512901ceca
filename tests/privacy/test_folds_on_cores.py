"""A calibration is the same on every machine: a job that is resumed elsewhere asks the very same questions."""

import numpy as np
import pytest

from understudy import processors
from understudy.privacy.accounting.bounded_range import fold, gaussian_curve


def test_a_fold_does_not_depend_on_the_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    step = 1e-3
    curve = gaussian_curve(0.4, step * np.arange(-2500.0, 4500.0))
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(processors, "available_cores", lambda cores=cores: cores)
        found.append(fold(curve, step, 0.031, 1e-9, 5))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert (found[0] >= curve - 1e-12).all()  # choices only ever add to a loss
    assert (np.diff(found[0]) <= 1e-12).all()
