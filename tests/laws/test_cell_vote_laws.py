"""A cell's vote is a function of the cell alone, and what it votes for can read it."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import grammar
from understudy.domain.cell_votes import DECIMALS, KINDS, kind_of
from understudy.domain.columns.untyped import Votes, VotesCodec

CELLS = st.one_of(
    st.text("0123456789.-+eE \t", max_size=12),
    st.text(max_size=8),
    st.integers(-(10**25), 10**25).map(str),
    st.floats().map(repr),
    st.datetimes().map(str),
    st.sampled_from(["", "N", "?", "n/a", "true", "FALSE", "2020-01-01T10:00Z", "2020-02-30", "007", "inf"]),
)


def votes(cells: list[str | None], kind: pa.DataType | None = None) -> list[str]:
    array = pa.array(cells, pa.string())
    array = array if kind is None else array.cast(kind)
    return [KINDS[code] for code in VotesCodec(Votes()).encode(array)]


@given(st.lists(st.one_of(st.none(), CELLS), max_size=20))
def test_a_vote_is_the_same_whatever_stands_beside_the_cell(cells: list[str | None]) -> None:
    alone = ["missing" if cell is None else kind_of(cell) for cell in cells]
    assert votes(cells) == votes(cells, pa.large_string()) == alone
    assert votes(cells, pa.dictionary(pa.int32(), pa.string())) == alone


@given(CELLS)
def test_a_cell_can_be_read_as_what_it_votes_for(cell: str) -> None:
    kind = kind_of(cell)
    number = grammar.number(cell)
    if kind == "integer":
        assert number is not None and grammar.whole(cell) == grammar.digits(cell)
    if kind in (*DECIMALS, "number", "code"):
        assert number is not None
    if kind in DECIMALS and number is not None and abs(number) < 1e12:
        assert round(number, DECIMALS.index(kind)) == number
    if kind == "boolean":
        assert grammar.truth(cell) is not None
    assert (kind in ("date", "datetime", "instant")) <= (grammar.moment(cell) is not None)


def test_what_a_person_would_say_of_some_cells() -> None:
    said = {
        "missing": ["", " ", "N", "n/a", "NaN", "?", "-", "Unknown"],
        "code": ["00501", "007", "-01", "00.5"],
        "integer": ["0", "-3", "+5", "999999999999999999", " 39"],
        "0 decimals": ["22.0", "5."],
        "1 decimal": ["0.5", "-0.5", ".5", "12.50"],
        "2 decimals": ["9.99"],
        "number": ["7.2292", "1e5", "inf"],
        "boolean": ["true", "False"],
        "date": ["2020-01-31"],
        "datetime": ["2020-01-31 10:00", "2020-01-31T10:00:00.5"],
        "instant": ["2020-01-31T10:00Z", "2020-01-31 10:00:00+02:00"],
        "text": ["x", "yes", "Y", "1,000", "0x10", "2020-02-30", "1000000000000000000000", "12:30"],
    }
    assert {kind: [kind_of(cell) for cell in cells] for kind, cells in said.items()} == {
        kind: [kind] * len(cells) for kind, cells in said.items()
    }
