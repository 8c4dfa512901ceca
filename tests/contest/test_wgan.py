"""DP-WGAN: trained when PyTorch is there, refused plainly when it is not."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import ParameterError
from understudy.mechanisms.registry import generator_from
from understudy_contest.neural_generator import NeuralGenerator, folds, widths
from understudy_contest.wgan import places_of_ones, train
from understudy_contest.wgan_training import WGAN, draw_batches

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")


def lopsided(rows: int = 3000) -> Table:
    random = np.random.default_rng(0)
    a = (random.random(rows) < 0.9).astype(np.uint8)
    domain = Domain({"a": 2, "b": 3, "wide": 1000})
    return Table(domain, {"a": a, "b": a * 2, "wide": random.integers(0, 100, rows)})


@needs_torch
def test_a_trained_network_leans_the_way_the_records_do_and_says_what_it_cost() -> None:
    trained = train(lopsided(), epsilon=8.0, delta=1e-6, recipe=WGAN(steps=800, hidden=128), seed=1)
    drawn = trained.generator.sample(4000, seed=2)
    assert drawn["a"].mean() > 0.6
    assert (drawn["wide"] < 500).mean() > 0.6
    assert trained.certificate["spent"] <= 8.0 and trained.certificate["curator"] is False
    assert trained.certificate["private"] is False  # it was seeded
    header, arrays = trained.generator.to_arrays()
    again = generator_from(header, arrays).sample(100, seed=3)
    assert np.array_equal(again["wide"], trained.generator.sample(100, seed=3)["wide"])


@needs_torch
def test_no_record_moves_the_gradient_by_more_than_the_norm() -> None:
    import torch

    from understudy_contest.wgan_training import Training

    table = lopsided(200)
    folded = folds(table.domain, 64)
    run = Training(places_of_ones(table, 64), widths(table.domain, folded), WGAN(hidden=32), 1.0, 1.0, 5)
    batch, everyone = run.records(torch.arange(200)), torch.ones(200)
    for norm in (0.01, 0.1):
        whole = run.gradients(batch, everyone, norm)
        for out in range(5):
            there = everyone.clone()
            there[out] = 0
            rest = run.gradients(batch, there, norm)
            moved = sum(float((a - b).square().sum()) for a, b in zip(whole, rest, strict=True)) ** 0.5
            assert 0 < moved <= norm * (1 + 1e-3)


def test_records_join_batches_independently_with_the_rate_that_is_accounted_for() -> None:
    records, there = draw_batches(np.random.default_rng(0), 500, 0.02, 20_000, 60)
    sizes = there.sum(axis=1)
    assert abs(sizes.mean() - 10) < 0.15 and abs(sizes.var() - 9.8) < 0.6  # of a binomial: 6 deviations
    joined = np.bincount(records[there == 1], minlength=500)
    assert abs(joined - 400).max() < 130  # 6.5 deviations
    assert all(len(set(row[:n])) == n for row, n in zip(records[:200], sizes[:200].astype(int), strict=True))


@pytest.mark.skipif(HAS_TORCH, reason="PyTorch is installed")
def test_without_pytorch_the_way_out_is_named() -> None:
    with pytest.raises(ParameterError, match="pip install"):
        train(lopsided(), epsilon=1.0, delta=1e-6)


def test_an_empty_table_and_impossible_recipes_are_refused() -> None:
    with pytest.raises(ParameterError):
        train(lopsided(0), epsilon=1.0, delta=1e-6)
    with pytest.raises(ParameterError, match="batch"):
        WGAN(batch=0)


def test_folded_codes_stay_inside_their_column() -> None:
    domain = Domain({"a": 1, "b": 130})
    folded = folds(domain, 64)
    outputs = sum(widths(domain, folded))
    layers = {
        "inner": np.ones((4, 3)),
        "inner_bias": np.zeros(4),
        "outer": np.zeros((outputs, 4)),
        "outer_bias": np.zeros(outputs),
    }
    drawn = NeuralGenerator(domain, folded, layers, 10.0).sample(5000, seed=0)
    assert folded == (1, 3) and drawn["a"].max() == 0 and drawn["b"].max() == 129
    with pytest.raises(ParameterError):
        NeuralGenerator(domain, folded, layers | {"outer": np.zeros((3, 4))}, 10.0)
