"""The algebra that propagation rests on: what holds for tables must hold for factors, zeros included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.errors import DomainError, ParameterError
from understudy.model import Factor

SIZES = {"a": 2, "b": 3, "c": 1, "d": 4}


@st.composite
def factors(draw):
    clique = tuple(draw(st.lists(st.sampled_from(list(SIZES)), unique=True, max_size=3)))
    shape = tuple(SIZES[name] for name in clique)
    cell = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
    cells = draw(st.lists(cell, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return Factor(clique, np.array(cells).reshape(shape))


def same(one, two):
    return set(one.clique) == set(two.clique) and np.allclose(
        one.project(two.clique).values, two.values, rtol=1e-9, atol=0
    )


@given(factors(), factors(), factors())
def test_the_product_does_not_depend_on_order_or_grouping(a, b, c):
    assert same(a * b, b * a)
    assert same((a * b) * c, a * (b * c))


@given(factors(), factors())
def test_a_column_can_be_summed_out_before_a_product_that_lacks_it(a, b):
    lone = [name for name in a.clique if name not in b.clique]
    assert same((a * b).sum_out(lone), a.sum_out(lone) * b)


@given(factors())
def test_summing_out_in_any_order_gives_the_total(a):
    whole = a
    for name in reversed(a.clique):
        whole = whole.sum_out([name])
    assert whole.values == pytest.approx(a.total)
    assert a.project(a.clique[::-1]).project(a.clique).values.tolist() == a.values.tolist()


@given(factors(), factors())
def test_division_undoes_a_product_and_never_invents_mass(a, b):
    back = (a * b) / b
    expected = (a * Factor(b.clique, (b.values > 0).astype(float))).project(back.clique)
    assert np.allclose(back.values, expected.values, rtol=1e-9)
    assert np.isfinite((a / b).values).all()


@given(factors(), factors())
def test_structural_zeros_stay_exact(a, b):
    possible = Factor(a.clique, (a.values > 0).astype(float)) * Factor(b.clique, (b.values > 0).astype(float))
    assert ((a * b).values > 0).tolist() == (possible.values > 0).tolist()


@given(factors(), st.data())
@settings(max_examples=many(125))
def test_conditioning_picks_the_cells_where_the_event_holds(a, data):
    given_codes = {
        name: data.draw(
            st.one_of(st.integers(0, SIZES[name] - 1), st.lists(st.integers(0, SIZES[name] - 1), unique=True))
        )
        for name in a.clique
        if data.draw(st.booleans())
    }
    table = a.values
    for axis in reversed(range(table.ndim)):
        if a.clique[axis] in given_codes:
            table = np.take(table, given_codes[a.clique[axis]], axis=axis)
    assert np.array_equal(a.condition(given_codes).values, table)


def test_normalising_scales_and_refuses_what_has_no_shape():
    assert Factor(("a",), np.array([1.0, 3.0])).normalise(8).values.tolist() == [2, 6]
    with pytest.raises(ParameterError, match="sums to"):
        Factor(("a",), np.zeros(2)).normalise()


def test_tables_that_do_not_fit_their_columns_are_refused():
    with pytest.raises(DomainError, match="axes"):
        Factor(("a", "b"), np.ones(3))
    with pytest.raises(DomainError, match="twice"):
        Factor(("a", "a"), np.ones((2, 2)))
    with pytest.raises(DomainError, match="codes in one table"):
        Factor(("a",), np.ones(2)) * Factor(("a",), np.ones(3))
    with pytest.raises(DomainError, match="not in the table"):
        Factor(("a",), np.ones(2)).sum_out(["z"])
    with pytest.raises(DomainError, match="outside"):
        Factor(("a",), np.ones(2)).condition({"a": 2})
