"""A workload is read as a person writes it, and says of every set of columns how much it matters."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy.domain import Domain
from understudy.errors import ParameterError
from understudy.mechanisms.workload.workload import whole_weights
from understudy.mechanisms.workload.written_workload import written_workload

DOMAIN = Domain(dict.fromkeys("abcde", 3))


@given(st.dictionaries(st.integers(1, 31), st.floats(0.1, 10), min_size=1, max_size=6))
def test_a_part_weighs_the_columns_it_shares_with_every_set(sets: dict[int, float]) -> None:
    listed = {tuple(n for i, n in enumerate("abcde") if bits >> i & 1): c for bits, c in sets.items()}
    found = us.Workload.of(listed).closure(DOMAIN)
    wanted = {part for c in listed for k in range(1, len(c) + 1) for part in itertools.combinations(c, k)}
    assert set(found) == wanted
    for part, weight in found.items():
        assert weight == pytest.approx(sum(c * len(set(part) & set(s)) for s, c in listed.items()))


def test_all_sets_of_so_many_columns_are_alike_but_for_their_number() -> None:
    found = us.Workload.of(3).closure(DOMAIN)
    assert {len(part) for part in found} == {1, 2, 3} and len(found) == 5 + 10 + 10
    assert {weight / len(part) for part, weight in found.items()} == {6.0}
    assert us.Workload.of("3-way") == us.Workload.of("3") == us.Workload.of(3) == us.Workload.of()
    assert us.Workload.of(9 - 3).closure(Domain({"a": 2, "b": 2})).keys() == {("a",), ("b",), ("a", "b")}


def test_the_largest_parts_are_left_out_where_there_are_too_many() -> None:
    assert {len(part) for part in us.Workload.of(3).closure(DOMAIN, 20)} == {1, 2}


def test_with_a_target_every_set_holds_it() -> None:
    assert set(us.Workload.of(2, "c").cliques(DOMAIN)) == {("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")}
    assert set(us.Workload.of([("a", "b")], "c").cliques(DOMAIN)) == {("a", "b", "c")}


def test_a_set_that_is_named_twice_counts_twice() -> None:
    assert us.Workload.of([("a", "b"), ("b", "a")]).cliques(DOMAIN) == {("a", "b"): 2.0}


def test_lines_are_read_as_they_are_written() -> None:
    lines = ["# what the ministry asks", "", "age, income", "sex,age = 2.5  # twice a year", "a=b,c"]
    expected = us.Workload.of({("age", "income"): 1, ("sex", "age"): 2.5, ("a=b", "c"): 1})
    assert written_workload(lines) == expected
    assert written_workload(["2-way"]) == us.Workload.of(2)


@pytest.mark.parametrize(
    "given",
    ["age and sex", 0, 7, True, [()], [("a", "a")], {("a",): 0}, {("a",): float("nan")}, [1], {("a",): "x"}],
)
def test_what_is_no_workload_is_refused(given: object) -> None:
    with pytest.raises(ParameterError):
        us.Workload.of(given)


@pytest.mark.parametrize("lines", [[], ["# nothing"], ["age,age"], ["age,income=-1"]])
def test_lines_that_say_nothing_are_refused(lines: list[str]) -> None:
    with pytest.raises(ParameterError):
        written_workload(lines)


def test_weights_become_whole_numbers_in_proportion() -> None:
    assert whole_weights([1.0, 2.0, 4.0], 8) == [2, 4, 8]
    assert whole_weights([1e-9, 1.0]) == [1, 1000]
