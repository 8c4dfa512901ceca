"""Names, exact sizes and the algebra of cliques."""

import copy
import pickle

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.errors import DomainError

DOMAIN = Domain({"sex": 2, "age": 100, "city": 7})


def test_sizes_are_exact_however_many_cells_a_table_has() -> None:
    wide = Domain({f"c{i}": 100 for i in range(104)})
    assert wide.size() == 10**208
    assert Domain({"a": np.int64(2**62), "b": 4}).size() == 2**64
    assert Domain({}).size() == 1
    assert DOMAIN.size(("sex", "city")) == 14
    assert DOMAIN.size(()) == 1


def test_a_text_is_one_column_and_not_its_letters() -> None:
    letters = Domain({"a": 2, "b": 3, "ab": 5})
    assert letters.size("ab") == 5
    assert letters.shape("ab") == (5,)
    assert letters.clique("ab") == ("ab",)
    assert letters.order("ab") == ("ab",)
    assert letters.project("ab") == Domain({"ab": 5})


@pytest.mark.parametrize("size", [0, -1, 1.5, float("nan"), float("inf"), "3", None, True, [2]])
def test_a_size_that_is_no_whole_number_of_at_least_one_is_refused(size: object) -> None:
    with pytest.raises(DomainError, match="'a'"):
        Domain({"a": size})  # type: ignore[dict-item]


def test_names_are_texts_and_stand_once() -> None:
    for name in ("", 3, None):
        with pytest.raises(DomainError, match="name"):
            Domain([(name, 2)])  # type: ignore[list-item]
    with pytest.raises(DomainError, match="twice"):
        Domain([("a", 2), ("a", 3)])


def test_unknown_columns_are_named_and_the_known_ones_hinted_at() -> None:
    with pytest.raises(DomainError, match=r"'wage' is not in the domain.*'sex', 'age', 'city'"):
        DOMAIN["wage"]
    for ask in (DOMAIN.clique, DOMAIN.order, DOMAIN.shape, DOMAIN.size, DOMAIN.project):
        with pytest.raises(DomainError, match="'wage'"):
            ask(("sex", "wage"))
    with pytest.raises(DomainError, match="'wage'"):
        DOMAIN.resize({"wage": 3})
    assert DOMAIN.get("wage") is None
    assert DOMAIN.get("wage", 5) == 5
    assert DOMAIN.get("age") == 100
    assert "wage" not in DOMAIN


def test_a_column_stands_once_in_a_clique() -> None:
    with pytest.raises(DomainError, match="twice"):
        DOMAIN.clique(("sex", "sex"))


def test_order_is_the_domains_and_projection_the_callers() -> None:
    assert DOMAIN.order(("city", "sex")) == ("sex", "city")
    assert DOMAIN.project(("city", "sex")).names == ("city", "sex")
    assert DOMAIN.shape(("city", "sex")) == (7, 2)
    assert DOMAIN.names == ("sex", "age", "city")


def test_resizing_keeps_the_order() -> None:
    assert DOMAIN.resize({"age": 10}) == Domain({"sex": 2, "age": 10, "city": 7})
    assert DOMAIN["age"] == 100


def test_equality_counts_order_and_copies_are_equal() -> None:
    assert Domain({"a": 2, "b": 3}) != Domain({"b": 3, "a": 2})
    assert DOMAIN != {"sex": 2, "age": 100, "city": 7}
    for twin in (
        copy.copy(DOMAIN),
        pickle.loads(pickle.dumps(DOMAIN)),
        Domain(DOMAIN),
        Domain(DOMAIN.items()),
    ):
        assert twin == DOMAIN
        assert hash(twin) == hash(DOMAIN)
    assert repr(DOMAIN) == "Domain({'sex': 2, 'age': 100, 'city': 7})"
    assert dict(DOMAIN) == {"sex": 2, "age": 100, "city": 7}
