"""What a table says beyond its own sums: perpendicular parts, whole numbers, the same of every record."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.errors import ParameterError, ReleaseError
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.pipeline.measurement_arrays import (
    measurement_from,
    measurements_from_arrays,
    measurements_to_arrays,
)

ASKED = [
    ((2, 2), [(0,), (1,)]),
    ((3, 4), [(0,), (1,)]),
    ((3, 4), [(1,)]),
    ((5,), []),
    ((2, 3, 4), [(0,), (1,), (2,)]),
    ((2, 3, 4), [(0, 1), (2,)]),
    ((2, 2, 2), [(0, 1), (1, 2), (0, 2)]),
    ((1, 3), [(0,)]),
]


@pytest.mark.parametrize(("shape", "left_out"), ASKED)
def test_one_record_moves_the_answers_by_the_same_squares_wherever_it_is(
    shape: tuple[int, ...], left_out: list[tuple[int, ...]]
) -> None:
    query = Interactions(shape, left_out)
    matrix = np.array([query.apply(record) for record in np.eye(query.cells, dtype=np.int64)])
    assert matrix.dtype == np.int64 and (matrix == matrix.T).all()
    assert ((matrix**2).sum(axis=1) == query.squared_move).all()
    assert (matrix @ matrix == query.cells * matrix).all(), "it is no projection"


@pytest.mark.parametrize(("shape", "left_out"), ASKED)
def test_what_is_left_out_does_not_show_and_completes_the_table(
    shape: tuple[int, ...], left_out: list[tuple[int, ...]]
) -> None:
    draw = np.random.default_rng(0)
    query, table = Interactions(shape, left_out), draw.integers(0, 50, shape)
    for part in query.left_out:
        sizes = [size if axis in part else 1 for axis, size in enumerate(shape)]
        same = query.apply(table + draw.integers(0, 9, sizes))
        assert (same == query.apply(table)).all()
    assert query.completed(query.apply(table), table) == pytest.approx(table)


def test_smaller_sets_are_left_out_with_larger_ones() -> None:
    assert Interactions((2, 3, 4), [(1, 0)]) == Interactions((2, 3, 4), [(0, 1), (0,), (1,), ()])


@pytest.mark.parametrize("left_out", [[(0, 1)], [(2,)], [(-1,)]])
def test_all_of_a_table_cannot_be_left_out_nor_axes_that_it_has_not(left_out: list[tuple[int, ...]]) -> None:
    with pytest.raises(ParameterError):
        Interactions((2, 3), left_out)


def test_a_release_holds_them_and_gives_them_back() -> None:
    domain = Domain({"a": 2, "b": 3, "c": 4})
    measured = [
        Measurement(
            clique, np.arange(float(domain.size(clique))), 2.0, Interactions(domain.shape(clique), out)
        )
        for clique, out in ((("a", "b"), [(0,), (1,)]), (("a", "b", "c"), [(0, 1), (2,)]))
    ]
    said, arrays = measurements_to_arrays(measured)
    back = measurements_from_arrays(domain, said, arrays)
    for one, other in zip(measured, back, strict=True):
        assert one.query == other.query and (one.values == other.values).all()
    said[0]["interactions"] = [[5]]
    with pytest.raises((ReleaseError, ParameterError)):
        measurement_from(domain, said[0], arrays["measurement 0 values"], arrays["measurement 0 stddev"])


def test_the_parts_of_all_sets_of_axes_add_up_to_the_record() -> None:
    """So what is charged for all parts one by one is what the whole table costs."""
    shape = (2, 3, 4)
    whole = Interactions(shape, [])
    gone = [
        whole.squared_move - Interactions(shape, [part]).squared_move
        for size in (1, 2)
        for part in itertools.combinations(range(3), size)
    ]
    assert whole.squared_move == 24 * 23 and all(amount > 0 for amount in gone)
