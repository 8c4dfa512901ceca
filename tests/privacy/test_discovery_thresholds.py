"""The least noisy count at which a value is named: high enough for delta, and no higher than that takes."""

from __future__ import annotations

import math

import pytest

from understudy.privacy import Neighbours
from understudy.privacy.curator.discovery import gaussian_threshold, laplace_threshold

NEIGHBOURS = (Neighbours(), Neighbours("replace"), Neighbours(records=4))
DELTAS = (1e-3, 1e-6, 1e-11)
SCALES = (0.8, 1.0, 7.3, 250.0)


def laplace_tail(scale: float, least: int) -> float:
    """P(noise >= least) of discrete Laplace noise, for least >= 0."""
    q = math.exp(-1 / scale)
    return q**least / (1 + q)


@pytest.mark.parametrize("neighbours", NEIGHBOURS, ids=str)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("scale", SCALES)
def test_laplace_noise_lifts_no_unit_past_the_threshold_more_often_than_delta(scale, delta, neighbours):
    beyond = laplace_threshold(scale, delta, neighbours) - neighbours.records
    assert neighbours.l1 * laplace_tail(scale, beyond) <= delta
    assert beyond == 1 or neighbours.l1 * laplace_tail(scale, beyond - 1) > delta * (1 - 1e-6), (
        "higher than due"
    )


@pytest.mark.parametrize("neighbours", NEIGHBOURS, ids=str)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("scale", SCALES)
def test_gaussian_noise_lifts_no_unit_past_the_threshold_more_often_than_delta(scale, delta, neighbours):
    beyond = gaussian_threshold(scale, delta, neighbours) - neighbours.records
    bound = neighbours.l1 * math.exp(-(beyond**2) / (2 * scale**2))
    assert bound <= delta
    before = neighbours.l1 * math.exp(-((beyond - 1) ** 2) / (2 * scale**2))
    assert beyond == 1 or before > delta * (1 - 1e-6), "higher than due"
