"""One suite that every engine passes: exact counts of any request, and merged codes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.data import Streamed, Table
from understudy.data.engines.pushdown import PushedDown
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.marginals import Counter
from understudy.marginals.counter import SparseCells

Columns = Mapping[str, npt.NDArray[np.unsignedinteger]]
Factory = Callable[[Domain, Columns], "Engine"]


class Engine(Counter, SparseCells, Protocol):
    """What every engine here answers: whole marginals, and filled cells."""


def streamed(domain: Domain, columns: Columns, *, cache: bool = True) -> Streamed:
    """The codes as a stream of small batches, as if they came from a file."""
    batches = pa.table(dict(columns)).to_batches(max_chunksize=777)
    return Streamed(
        domain,
        lambda: iter(batches),
        lambda batch: {name: batch.column(name).to_numpy() for name in domain},
        cache=cache,
    )


def pushed_down(domain: Domain, columns: Columns) -> PushedDown:
    """Columns alone counted apart from the stream, as a database would."""

    def tally(names: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        return {name: np.bincount(columns[name], minlength=domain[name]).astype(np.int64) for name in names}

    return PushedDown(streamed(domain, columns), tally)


# A new engine joins here: a function from a domain and codes to the engine that holds them.
ENGINES: dict[str, Factory] = {
    "memory": Table,
    "streamed": streamed,
    "pushed down": pushed_down,
    "streamed, no cache": lambda domain, columns: streamed(domain, columns, cache=False),
}

pytestmark = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def records(sizes: Mapping[str, int], rows: int, seed: int = 0) -> Columns:
    rng = np.random.default_rng(seed)
    # Squared, so that codes are unevenly common and the largest are often absent.
    return {name: (rng.random(rows) ** 2 * size).astype(np.uint32) for name, size in sizes.items()}


def expected(domain: Domain, columns: Columns, clique: tuple[str, ...]) -> npt.NDArray[np.int64]:
    counts = np.zeros(domain.shape(clique), np.int64)
    rows = len(next(iter(columns.values())))
    if not clique:
        return np.array(rows)
    np.add.at(counts, tuple(columns[name].astype(np.int64) for name in clique), 1)
    return counts


def check(
    engine: Factory, sizes: Mapping[str, int], columns: Columns, cliques: list[tuple[str, ...]]
) -> None:
    domain = Domain(sizes)
    marginals = engine(domain, columns).count(cliques)
    assert [marginal.clique for marginal in marginals] == cliques
    for marginal, clique in zip(marginals, cliques, strict=True):
        assert marginal.counts.dtype == np.int64
        assert marginal.counts.shape == domain.shape(clique)
        np.testing.assert_array_equal(marginal.counts, expected(domain, columns, clique))


SIZES = {"a": 3, "b": 1, "c": 5, "d": 2, "e": 300, "f": 4}


@pytest.mark.parametrize("rows", [0, 1, 2, 1000, 20_000])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 5])
def test_every_clique_of_an_order_is_counted_exactly(engine: Factory, rows: int, order: int) -> None:
    check(engine, SIZES, records(SIZES, rows), list(combinations(SIZES, order)))


def test_cliques_of_mixed_orders_are_counted_in_one_request(engine: Factory) -> None:
    mixed = [clique for order in range(5) for clique in combinations(SIZES, order)]
    check(engine, SIZES, records(SIZES, 5000), mixed)


def test_the_axes_follow_the_order_in_which_a_clique_is_asked(engine: Factory) -> None:
    columns = records(SIZES, 3000)
    check(engine, SIZES, columns, [("e", "a"), ("f", "c", "a"), ("d", "f", "a", "c"), ("c", "e", "b")])


def test_a_repeated_clique_is_answered_every_time_and_in_every_order(engine: Factory) -> None:
    columns = records(SIZES, 3000)
    cliques = [("a", "c"), ("c", "a"), ("a", "c"), (), ("e",), ("e",), ()]
    check(engine, SIZES, columns, cliques)
    first, _, again, *_ = engine(Domain(SIZES), columns).count(cliques)
    first.counts[0, 0] += 1
    assert first.counts[0, 0] != again.counts[0, 0]  # one answer is not a view of another


def test_nothing_asked_is_nothing_answered(engine: Factory) -> None:
    assert engine(Domain(SIZES), records(SIZES, 10)).count([]) == []


def test_a_table_of_one_column_of_one_code_counts_its_records(engine: Factory) -> None:
    check(engine, {"only": 1}, {"only": np.zeros(7, np.uint8)}, [("only",), ()])


def test_the_slot_of_missing_values_is_counted_like_any_other(engine: Factory) -> None:
    columns = {"x": np.array([0, 1, 3, 3], np.uint8), "y": np.array([2, 2, 2, 0], np.uint8)}
    check(engine, {"x": 4, "y": 3}, columns, [("x",), ("x", "y")])  # the last code of each is the null slot


def test_a_table_of_two_hundred_columns_is_counted_whole(engine: Factory) -> None:
    sizes = {f"c{i}": 1 + i % 7 for i in range(200)}
    cliques = list(combinations(list(sizes)[::4], 2)) + [(name,) for name in sizes]
    check(engine, sizes, records(sizes, 3000), cliques)


@pytest.mark.parametrize("size", [255, 256, 257, 65_535, 65_536, 65_537, 200_000])
def test_columns_around_the_limits_of_the_code_types_are_counted(engine: Factory, size: int) -> None:
    sizes = {"wide": size, "x": 3, "y": 2}
    columns = dict(records(sizes, 500))
    columns["wide"] = columns["wide"].copy()
    columns["wide"][:2] = [0, size - 1]
    check(
        engine,
        sizes,
        columns,
        [("wide",), ("wide", "x"), ("x", "wide"), ("y", "wide", "x"), ("x", "y", "wide")],
    )


def test_a_request_larger_than_memory_is_refused_in_exact_integers(engine: Factory) -> None:
    table = engine(Domain({"a": 10**6, "b": 10**6, "c": 2}), records({"a": 10, "b": 10, "c": 2}, 5))
    with pytest.raises(SizeError, match="1,000,000,000,000 cells"):
        table.count([("a", "b")])
    with pytest.raises(SizeError, match="bytes"):
        table.count([("a", "c")] * 1000)


def test_unknown_columns_and_columns_named_twice_are_refused(engine: Factory) -> None:
    table = engine(Domain(SIZES), records(SIZES, 5))
    with pytest.raises(DomainError, match="'nobody'"):
        table.count([("a", "nobody")])
    with pytest.raises(DomainError, match="twice"):
        table.count([("a", "a")])


@settings(max_examples=many(100))
@given(data=st.data())
def test_any_request_is_counted_exactly(engine: Factory, data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 7))
    sizes = {f"c{i}": data.draw(st.integers(1, 40)) for i in range(width)}
    rows = data.draw(st.sampled_from([0, 1, 5, 300, 4000]))
    names = st.permutations(list(sizes)).flatmap(
        lambda p: st.integers(0, min(4, len(p))).map(lambda n: tuple(p[:n]))
    )
    cliques = data.draw(st.lists(names, max_size=25))
    check(engine, sizes, records(sizes, rows, seed=rows), cliques)


def test_merging_codes_then_counting_is_counting_then_merging(engine: Factory) -> None:
    columns = records(SIZES, 4000)
    maps = {"e": np.arange(300) // 50, "c": np.array([0, 0, 1, 0, 1])}
    table = engine(Domain(SIZES), columns)
    recoded = table.recode(maps)
    assert recoded.domain == Domain({**SIZES, "e": 6, "c": 2})
    (fine,) = table.count([("e", "a", "c")])
    (coarse,) = recoded.count([("e", "a", "c")])
    merged = np.zeros((6, 3, 2), np.int64)
    np.add.at(merged, np.ix_(maps["e"], np.arange(3), maps["c"]), fine.counts)
    np.testing.assert_array_equal(coarse.counts, merged)
    assert table.domain == Domain(SIZES)  # the first table is as it was


def test_a_recoding_may_leave_new_codes_unused(engine: Factory) -> None:
    table = engine(Domain({"a": 2}), {"a": np.array([0, 1, 1], np.uint8)}).recode({"a": np.array([0, 9])})
    assert table.domain == Domain({"a": 10})
    assert table.count([("a",)])[0].counts.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_the_filled_cells_are_those_of_the_whole_marginal(engine: Factory, rows: int) -> None:
    columns = records(SIZES, rows)
    table = engine(Domain(SIZES), columns).recode({"e": np.arange(300) // 4})
    for clique in [("e", "a"), ("f", "c", "a"), ("e",), ("b",), (), tuple(SIZES)]:
        (whole,) = table.count([clique])
        places, counts = table.count_cells(clique)
        assert places.dtype == counts.dtype == np.int64
        np.testing.assert_array_equal(places, np.flatnonzero(whole.counts))
        np.testing.assert_array_equal(counts, whole.counts.reshape(-1)[places])


def test_filled_cells_are_found_among_more_than_could_ever_be_counted(engine: Factory) -> None:
    sizes = {f"c{i}": 1000 for i in range(6)} | {"d": 9}
    columns = records(sizes, 3000)
    columns = {
        name: np.concatenate([codes, codes[:700], [size - 1]])
        for (name, codes), size in zip(columns.items(), sizes.values(), strict=True)
    }
    places, counts = engine(Domain(sizes), columns).count_cells(tuple(sizes))
    codes = np.stack([columns[name].astype(np.int64) for name in sizes])
    wanted, often = np.unique(np.ravel_multi_index(codes, tuple(sizes.values())), return_counts=True)
    assert places[-1] == 9 * 10**18 - 1
    np.testing.assert_array_equal(places, wanted)
    np.testing.assert_array_equal(counts, often)


def test_filled_cells_of_a_bad_clique_are_refused(engine: Factory) -> None:
    table = engine(Domain({f"c{i}": 1000 for i in range(7)}), records({f"c{i}": 9 for i in range(7)}, 5))
    with pytest.raises(SizeError, match="1,000,000,000,000,000,000,000 cells"):
        table.count_cells(table.domain.names)
    with pytest.raises(DomainError, match="'nobody'"):
        table.count_cells(("c0", "nobody"))
    with pytest.raises(DomainError, match="twice"):
        table.count_cells(("c0", "c0"))


@pytest.mark.parametrize("bad", [[0], [0, 1, 2], [0.0, 1.0], [-1, 0], [[0, 1]]])
def test_a_recoding_of_the_wrong_shape_is_refused_and_names_the_column(engine: Factory, bad: list) -> None:
    with pytest.raises(ParameterError, match="'a'"):
        engine(Domain({"a": 2}), {"a": np.array([0, 1], np.uint8)}).recode({"a": np.array(bad)})


def test_recoding_an_unknown_column_is_refused(engine: Factory) -> None:
    with pytest.raises(DomainError, match="'z'"):
        engine(Domain({"a": 2}), {"a": np.array([0, 1], np.uint8)}).recode({"z": np.array([0])})
