"""Rare codes merged into one, and spread again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError
from understudy.marginals import Marginal, Measurement
from understudy.transforms import Compression, compress

DOMAIN = Domain({"a": 5, "b": 2, "c": 2})


@pytest.fixture
def compression() -> Compression:
    return compress(
        {"a": [100, 1, 50, 2, -3], "b": [1, 2], "c": [9, 1]}, dict.fromkeys("abc", 3.0), exempt=["c"]
    )


def test_kept_codes_stay_in_order_and_the_merged_one_comes_last(compression: Compression) -> None:
    assert {name: codes.tolist() for name, codes in compression.maps.items()} == {
        "a": [0, 2, 1, 2, 2],
        "b": [0, 0],  # all rare: one code
        "c": [0, 1],  # exempt
    }
    assert compression.domain(DOMAIN) == Domain({"a": 3, "b": 1, "c": 2})
    with pytest.raises(DomainError, match="'a' has 4 codes, but 5"):
        compression.domain(Domain({"a": 4, "b": 2, "c": 2}))


def test_a_merged_measurement_is_the_sum_with_the_noise_of_a_sum(compression: Compression) -> None:
    merged = compression.measurement(Measurement("a", [100, 1, 50, 2, -3], 2.0))
    assert merged.values.tolist() == [100, 50, 0]
    assert merged.stddev == pytest.approx([2, 2, 2 * 3**0.5])
    kept = compression.measurement(Measurement("c", [9, 1], 2.0))
    assert kept.values.tolist() == [9, 1]
    assert kept.stddev == 2.0
    with pytest.raises(ParameterError, match="not of one column"):
        compression.measurement(Measurement(("a", "b"), np.zeros(10), 1.0))


def test_a_merged_code_is_spread_evenly_or_by_noisy_counts(compression: Compression) -> None:
    rng = np.random.default_rng(0)
    merged = {"a": np.full(30_000, 2, np.uint8), "b": np.zeros(30_000, np.uint8), "z": np.arange(3)}
    even = compression.reverse(merged, rng)
    assert np.bincount(even["a"], minlength=5) == pytest.approx([0, 1e4, 0, 1e4, 1e4], abs=500)
    assert np.bincount(even["b"]) == pytest.approx([15_000, 15_000], abs=500)
    assert even["z"].tolist() == [0, 1, 2]  # not a compressed column
    counted = compression.reverse(merged, rng, spread="counts")
    assert np.bincount(counted["a"], minlength=5) == pytest.approx([0, 1e4, 0, 2e4, 0], abs=500)
    with pytest.raises(ParameterError, match="spread 'evenly'"):
        compression.reverse(merged, rng, spread="evenly")
    with pytest.raises(DomainError, match="codes reach 3"):
        compression.reverse({"a": np.array([3])}, rng)


@given(st.lists(st.floats(-5, 20), min_size=1, max_size=300), st.floats(-6, 21))
def test_kept_codes_come_back_and_merged_ones_as_merged_ones(counts: list[float], threshold: float) -> None:
    compression = compress({"x": counts}, {"x": threshold})
    codes = {"x": np.arange(len(counts))}
    there = compression.forward(codes)["x"]
    assert there.dtype == np.min_scalar_type(compression.sizes["x"] - 1)
    back = compression.reverse({"x": there})["x"]
    rare = np.array(counts) < threshold
    assert (back[~rare] == codes["x"][~rare]).all()
    assert rare[back[rare]].all()
    assert back.dtype == np.min_scalar_type(len(counts) - 1)


def test_a_marginal_of_merged_codes_is_shared_out_as_records_are(compression: Compression) -> None:
    merged = Marginal(("b", "a"), np.array([[6.0, 4.0, 9.0]]))
    whole = compression.spread(merged, DOMAIN)
    assert whole.counts == pytest.approx(np.outer([1 / 3, 2 / 3], [6, 3, 4, 6, 0]))
    assert whole.total == pytest.approx(merged.total)


def test_a_kept_code_is_never_drawn_for_another() -> None:
    rng = np.random.default_rng(0)
    maps = rng.permutation(np.append(np.arange(40), rng.integers(0, 40, 60)))
    share = rng.random(100)
    mixed = Compression({"x": maps}, {"x": share / np.bincount(maps, weights=share)[maps]})
    codes = rng.integers(0, 40, 20_000)
    back = mixed.reverse({"x": codes}, rng, spread="counts")["x"]
    assert (maps[back] == codes).all()
    drawn = np.bincount(back, minlength=100) / np.bincount(codes)[maps]
    assert drawn == pytest.approx(mixed.weights["x"], abs=0.12)


def test_runs_come_first_then_kept_codes_then_the_rest() -> None:
    counts = [5, 5, 90, 5, 5, 1, 40, 2]
    runs = {"x": np.array([0, 0, 1, 2, 2, -1])}
    made = compress({"x": counts}, {"x": 10.0}, runs=runs, weights={"x": [1, 3, 90, 5, 5, 1, 40, 1]})
    assert made.maps["x"].tolist() == [0, 0, 1, 2, 2, 4, 3, 4]
    assert made.weights["x"] == pytest.approx([0.25, 0.75, 1, 0.5, 0.5, 0.5, 1, 0.5])
    assert compress({"x": counts}, {"x": 10.0}, ["x"], runs=runs).sizes == {"x": 8}


def test_the_shares_of_an_earlier_version_are_those_of_its_last_code() -> None:
    old = Compression.from_dict({"maps": {"a": [0, 2, 1, 2]}, "weights": {"a": [0.25, 0.75]}})
    assert old.weights["a"].tolist() == [1, 0.25, 1, 0.75]


def test_a_compression_survives_a_release_file_and_a_damaged_one_is_refused(compression: Compression) -> None:
    said = json.loads(json.dumps(compression.to_dict()))
    again = Compression.from_dict(said)
    assert again.to_dict() == compression.to_dict()
    none = Compression.none(DOMAIN)
    assert none.domain(DOMAIN) == DOMAIN
    assert Compression.from_dict(none.to_dict()).sizes == none.sizes
    for damaged in (
        {},
        {"maps": {"a": [0, 2]}, "weights": {}},
        {"maps": {"a": [1, 1, 2]}, "weights": {}},
        {"maps": {"a": [0, 1]}, "weights": {"a": [1.0, float("nan")]}},
        {"maps": {"a": [0, 0, 1]}, "weights": {"a": [0.5, 0.25, 1.0]}},
        {"maps": {"a": [0, 0, 1]}, "weights": {"a": [1.5, -0.5, 1.0]}},
        {"maps": {"a": []}, "weights": {}},
        {"maps": {"a": [0, -1]}, "weights": {}},
        {"maps": {"a": [0.5]}, "weights": {}},
        {"maps": {"a": ["0"]}, "weights": {}},
        {"maps": {"a": [0, 0]}, "weights": {"a": [0.5, 0.6]}},
        {"maps": {"a": [0, 0]}, "weights": {"b": [0.5, 0.5]}},
        {"maps": 3, "weights": {}},
        {"maps": {"a": [0, 1]}, "weights": {}, "never": {"a": [2]}},
        {"maps": {"a": [0, 0]}, "weights": {}, "never": {"a": [0, 1]}},
        {"maps": {"a": [0, 1]}, "weights": {}, "never": {"a": [1]}},
        {"maps": {"a": [0, 1]}, "weights": {}, "never": {"b": [1]}},
        {"maps": {"a": [0, 0]}, "weights": {}, "never": {"a": "1"}},
    ):
        with pytest.raises(ParameterError):
            Compression.from_dict(damaged)


@given(
    st.lists(st.floats(-5, 20), min_size=2, max_size=40),
    st.floats(-6, 21),
    st.sets(st.integers(0, 39), min_size=1),
    st.sampled_from(["uniform", "counts"]),
)
def test_a_code_that_is_left_out_never_comes_back(
    counts: list[float], threshold: float, gone: set[int], spread: str
) -> None:
    never = {code for code in gone if code < len(counts)} - {int(np.argmax(counts))}
    made = compress({"x": counts}, {"x": threshold}, never={"x": never})
    made = Compression.from_dict(json.loads(json.dumps(made.to_dict())))
    drawn = {"x": np.arange(made.sizes["x"]).repeat(20)}
    assert not never & set(made.reverse(drawn, spread=spread)["x"].tolist())  # type: ignore[arg-type]
    assert made.sizes["x"] <= len(counts) - len(never)
    measured = made.measurement(Measurement("x", counts, 2.0))
    for code in range(made.sizes["x"]):
        behind = [c for old, c in enumerate(counts) if made.maps["x"][old] == code and old not in never]
        assert measured.values[code] == pytest.approx(sum(behind))
    assert (np.broadcast_to(measured.stddev, measured.values.shape) == 2 * np.sqrt(made.behind("x"))).all()
    whole = made.spread(Marginal(("x",), np.ones(made.sizes["x"])), Domain({"x": len(counts)}))
    assert not whole.counts[list(never)].any() and whole.total == pytest.approx(made.sizes["x"])


def test_cells_that_are_left_out_go_from_measurements_of_several_columns_too() -> None:
    made = Compression.none({"a": 3, "b": 2}, {"a": [1]})
    measured = made.measurement(Measurement(("b", "a"), [[1, 2, 3], [4, 5, 6]], 1.0))
    assert measured.values.tolist() == [1, 3, 4, 6] and measured.stddev == 1.0


def test_a_threshold_without_counts_is_refused() -> None:
    with pytest.raises(DomainError, match="'b' has a threshold but no counts"):
        compress({"a": [1]}, {"b": 3})
