"""Exact counts, noisy measurements, and linear questions about them."""

import numpy as np
import pytest
from scipy import sparse

from understudy.errors import DomainError, ParameterError
from understudy.marginals import Marginal, Measurement
from understudy.marginals.query import Binned, as_query

COUNTS = np.arange(24).reshape(2, 3, 4)
MARGINAL = Marginal(("a", "b", "c"), COUNTS)


def test_projection_sums_and_reorders() -> None:
    assert MARGINAL.total == 276
    np.testing.assert_array_equal(MARGINAL.project(("c", "a")).counts, COUNTS.sum(axis=1).T)
    np.testing.assert_array_equal(MARGINAL.project(("b", "c", "a")).counts, COUNTS.transpose(1, 2, 0))
    assert MARGINAL.project(()).counts == 276
    assert MARGINAL.project("b").clique == ("b",)
    assert MARGINAL.project(("c", "a")).clique == ("c", "a")
    assert MARGINAL.project(("a",)).counts.dtype == COUNTS.dtype


def test_columns_that_are_not_there_or_stand_twice_are_refused() -> None:
    with pytest.raises(DomainError, match="'z'"):
        MARGINAL.project(("a", "z"))
    with pytest.raises(DomainError, match="twice"):
        MARGINAL.project(("a", "a"))
    with pytest.raises(DomainError, match="axes"):
        Marginal(("a",), COUNTS)


def test_a_measurement_keeps_its_own_flat_copy() -> None:
    mine = np.array([[1, 2], [3, 4]])
    measured = Measurement(["a", "b"], mine, 2)  # type: ignore[arg-type]
    mine[0, 0] = 9
    assert measured.clique == ("a", "b")
    assert measured.values.tolist() == [1, 2, 3, 4]
    assert measured.stddev.tolist() == 2
    with pytest.raises(ValueError, match="read-only"):
        measured.values[0] = 5
    assert Measurement("a", [1], [2]).clique == ("a",)
    assert measured.answers(np.ones(4)).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("stddev", [0, -1, float("nan"), float("inf"), [1, 0], [1, 2, 3]])
def test_a_scale_must_be_positive_and_one_or_one_a_value(stddev: object) -> None:
    with pytest.raises(ParameterError, match=r"stddev|scales"):
        Measurement(("a",), [1, 2], stddev)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="not finite"):
        Measurement(("a",), [1, value], 1)


@pytest.mark.parametrize(
    "query",
    [
        np.array([[1.0, 0, 2], [0, 1, 0]]),
        sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 1, 0]])),
        (lambda x: np.array([x[0] + 2 * x[2], x[1]]), lambda r: np.array([r[0], r[1], 2 * r[0]])),
    ],
    ids=["matrix", "sparse", "functions"],
)
def test_a_query_and_its_transpose_agree_whatever_its_form(query: object) -> None:
    known = as_query(query)
    assert known is not None
    assert known.apply(np.array([1.0, 2, 3])).tolist() == [7, 2]
    assert known.adjoint(np.array([1.0, 2])).tolist() == [1, 2, 2]
    assert as_query(known) is known
    assert Measurement("a", [7, 2], 1, query).answers(np.array([1.0, 2, 3])).tolist() == [7, 2]


def test_bins_sum_groups_of_cells_and_spread_back() -> None:
    bins = Binned(([0, 1], [0, 0, 1, 1, 1]))  # type: ignore[arg-type]
    cells = np.arange(10.0)
    assert (bins.fine_shape, bins.shape) == ((2, 5), (2, 2))
    assert bins.apply(cells).tolist() == [1, 9, 11, 24]
    answers = np.array([1.0, 2, 3, 4])
    assert bins.adjoint(answers).tolist() == [1, 1, 2, 2, 2, 3, 3, 4, 4, 4]
    assert np.dot(bins.apply(cells), answers) == np.dot(cells, bins.adjoint(answers))


@pytest.mark.parametrize("bins", [[0.5, 1], [-1, 0], [], [[0], [1]]])
def test_bins_that_are_no_bin_numbers_are_refused(bins: list) -> None:
    with pytest.raises(ParameterError, match="axis 1"):
        Binned((np.array([0, 1]), np.array(bins)))


@pytest.mark.parametrize("query", [3, "x", [1, 2], np.ones(3), (1, 2, 3)])
def test_a_query_that_is_not_linear_is_refused(query: object) -> None:
    with pytest.raises(ParameterError, match="not linear"):
        as_query(query)
