"""Values within bins: where a finer histogram saw them, at their precision, spikes exact, and no invented codes."""

import numpy as np
import pyarrow as pa
import pytest

from understudy.data import Table
from understudy.domain import Category, Integer, Number, Schema
from understudy.domain.columns.parts.density import place_within, sloping
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.domain.columns.parts.sight import Sight
from understudy.errors import SchemaError
from understudy.pipeline.learning import coarse_to_fine

RNG = np.random.default_rng(3)


def learned(column: Integer, values: np.ndarray, noise: float) -> Integer:
    """The column with the bins and the density of these values, by a fine histogram of so much noise."""
    fine = column.fine(None)
    codes = fine.codec().encode(pa.array(values))
    counts = np.bincount(codes, minlength=fine.size) + np.rint(RNG.normal(0, noise, fine.size))
    seen = NoisyCounts(counts, noise)
    return fine.with_bins(seen).with_density(fine, seen, coarse_to_fine)


def test_a_cap_that_many_records_have_is_kept_exact() -> None:
    values = np.where(RNG.random(8000) < 0.4, 501, RNG.integers(0, 501, 8000))
    column = learned(Integer(0, 999), values, 60.0)
    assert column.special == (501,)
    assert not column.unlearned
    back = np.asarray(column.codec().decode(column.codec().encode(pa.array(values)), RNG, "uniform"))
    assert (back == 501).mean() == pytest.approx(0.4, abs=0.02)


def test_values_within_a_wide_bin_lie_where_the_finer_histogram_saw_them() -> None:
    column = Number(0, 100, edges=(0, 100), density=((0, 90.0), (10, 10.0)))
    values = np.asarray(column.codec().decode(np.zeros(5000, np.int64), RNG, "uniform"))
    assert (values < 10).mean() == pytest.approx(0.9, abs=0.02)
    cents = Number(0, 100, edges=(0, 100), density=((0, 90.0), (10, 10.0)), precision=0.01)
    values = np.asarray(cents.codec().decode(np.zeros(5000, np.int64), RNG, "uniform"))
    assert (values < 10).mean() == pytest.approx(0.9, abs=0.02)
    assert np.allclose(values, np.round(values, 2))
    whole = Integer(0, 99, edges=(0, 50, 99), density=((0, 1.0), (49, 9.0), (50, 5.0), (99, 5.0)))
    values = np.asarray(whole.codec().decode(RNG.integers(0, 2, 8000), RNG, "uniform"))
    assert (values == 49).mean() == pytest.approx(0.45, abs=0.03)
    assert (values == 99).mean() == pytest.approx(0.25, abs=0.03)
    assert set(np.asarray(whole.codec().decode(np.zeros(3, np.int64), RNG, "midpoint"))) == {24}


def test_where_a_density_has_nothing_values_lie_evenly() -> None:
    found = place_within(((0.0, 0.0), (10.0, 5.0)), 20.0, np.zeros(4), np.full(4, 10.0), np.arange(4) / 4)
    assert found.tolist() == [0, 2.5, 5, 7.5]


def test_an_expected_density_keeps_what_each_bin_holds() -> None:
    places, cuts = np.arange(0.0, 101.0), np.array([0.0, 20.0, 60.0, 100.0])
    counts = np.repeat([5.0, 1.0, 0.0], [20, 40, 40])
    cells = sloping(places, cuts, counts)
    assert np.add.reduceat(cells, [0, 20, 60]) == pytest.approx([100, 40, 0], abs=1e-6)
    assert cells[21] > cells[58]  # thicker towards the thicker neighbour


def test_a_density_goes_through_the_schema_file_and_nonsense_is_refused() -> None:
    schema = Schema({"x": Number(0, 9, edges=(0, 9), density=((0, 1.5), (3, 2.0)))})
    assert Schema.from_toml(schema.to_toml())["x"] == schema["x"]
    for damaged in ([[0, -1]], [[3, 1], [0, 1]], [[0, float("nan")]], [0, 1], [["a", 1]], [[0, 1, 2]], "ab"):
        with pytest.raises(SchemaError):
            Number(0, 9, edges=(0, 9), density=damaged)


def drafted(column: type, values: list[object]) -> object:
    return column.drafted(Sight.of("x", pa.chunked_array([pa.array(values)])))


def test_a_draft_lists_codes_so_that_none_is_invented() -> None:
    codes = [170, 180, 770, 1691, 4971, 7860, 8191, 8680, 9590, 9920] * 60
    codes += [int(code) for code in RNG.integers(0, 60, 4000) * 151 + 187]
    column = drafted(Integer, codes)
    assert isinstance(column, Category)
    assert column.ordered
    assert set(column.values) <= set(codes)
    counts = [int(count) for count in RNG.integers(0, 60, 4000) * 1000]  # amounts in thousands are no codes
    assert isinstance(drafted(Integer, counts), Integer)


def test_a_draft_proposes_special_values_where_many_records_have_one() -> None:
    values = [0] * 500 + [int(value) for value in RNG.integers(1, 100_000, 2000)]
    column = drafted(Integer, values)
    assert column.special == (0,)
    assert "special values were read from the records" in column.comment
    numbers = drafted(Number, [99.5] * 500 + [float(value) for value in RNG.normal(20, 5, 2000)])
    assert numbers.special == (99.5,)


def test_learned_bins_of_values_in_steps_lie_on_the_steps() -> None:
    column = Integer(0, 9_999_000, step=1000)
    fine = column.fine(None)
    assert all(start % 1000 == 0 for start in fine.starts)
    table = Table(Schema({"x": fine}).domain(), {"x": fine.codec().encode(pa.array([0, 5000, 9_999_000]))})
    assert len(table) == 3
