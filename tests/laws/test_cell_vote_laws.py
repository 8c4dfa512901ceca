"""A cell's vote is a function of the cell alone, and what it votes for can read it."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain import grammar
from understudy.domain.cell_votes import DECIMALS, kind_of
from understudy.domain.columns.untyped import Votes, VotesCodec, all_votes, vote_of
from understudy.domain.formats.form_votes import moment_forms, number_forms
from understudy.domain.formats.moment_format import MomentFormat
from understudy.domain.formats.number_format import NumberFormat

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
    return [all_votes()[code] for code in VotesCodec(Votes()).encode(array)]


@given(st.lists(st.one_of(st.none(), CELLS), max_size=20))
def test_a_vote_is_the_same_whatever_stands_beside_the_cell(cells: list[str | None]) -> None:
    alone = ["missing" if cell is None else vote_of(cell) for cell in cells]
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


FORMED = st.one_of(
    st.text("0123456789/.-: AMPJanFebuary,", max_size=14),
    st.text("0123456789.,()$€%- ", max_size=12),
    st.builds(
        lambda moment, form: moment.strftime(form),
        st.datetimes(),
        st.sampled_from(
            ["%d/%m/%Y", "%m/%d/%y", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%b %d, %Y", "%Y%m%d", "%H:%M"]
        ),
    ),
    st.builds(
        lambda moment, form, case: case(moment.strftime(form)),
        st.datetimes(),
        st.sampled_from(["%d-%b-%Y", "%B %d, %Y %H:%M", "%Y-%m-%dT%H:%M:%S.000", "%Y-%m-%d %H:%M:%S UTC"]),
        st.sampled_from([str, str.upper, str.lower]),
    ),
    st.builds(
        lambda number, form: form.format(number),
        st.floats(-1e9, 1e9),
        st.sampled_from(
            ["{:,.2f}", "${:,.0f}", "{:.1f}%", "{:.1f} kg", "{:,.0f} km", "USD {:,.2f}", "{:.0f}°"]
        ),
    ),
    st.builds(
        lambda day, form: day.strftime(form),
        st.dates(),
        st.sampled_from(["%G-W%V", "%Hh%M", "%YQ1", "Q3 %Y", "%I:%M %p"]),
    ),
    st.text("0123456789,.₹ kgmhWQ\u2019\u202f", max_size=12),
)


@given(FORMED)
def test_every_format_that_a_cell_votes_for_reads_it(cell: str) -> None:
    vote, text = vote_of(cell), pa.array([cell.strip(" \t")], pa.large_string())
    for spec in moment_forms().get(vote, ()):
        assert MomentFormat(spec).read(text).null_count == 0
    for spec in number_forms().get(vote, ()):
        assert NumberFormat(spec).read(text).null_count == 0


def test_what_form_a_person_would_say_that_cells_have() -> None:
    forms = moment_forms() | number_forms()
    said = {
        "13/02/2021": ("%d/%m/%Y",),
        "03/02/2021": ("%d/%m/%Y", "%m/%d/%Y"),
        "7/28/2019 5:27 PM": ("%-m/%-d/%Y %-I:%M %p",),
        "Feb 3, 2021": ("%b %-d, %Y",),
        "20210203": ("%Y%m%d",),
        "08:30": ("%H:%M",),
        "13-FEB-2021": ("%d-%^b-%Y", "%-d-%^b-%Y"),
        "3 march 2021": ("%-d %#B %Y",),
        "2021-02-03T08:30:59Z": ("%Y-%m-%dT%H:%M:%SZ",),
        "2021-02-03 08:30": ("%Y-%m-%d %H:%M",),
        "2021-02-03 08:30:59 UTC": ("%Y-%m-%d %H:%M:%S UTC",),
        "2021-W05": ("%G-W%V",),
        "2021Q3": ("%YQ%q",),
        "8h05": ("%-Hh%M",),
        "5:27 pm": ("%-I:%M %P",),
        "1,234,567.50": ("1,234.50", "1,234.##", "1,234.######"),
        "12,34,567.50": ("12,34,567.50", "12,34,567.##", "12,34,567.######"),
        "73.9 kg": ("0.5 kg", "0.## kg", "0.###### kg", "1,234.5 kg", "1,234.## kg", "1,234.###### kg"),
        "1,250 km": ("1,234 km", "1,234.## km", "1,234.###### km"),
        "1.234,50 €": ("1.234,50 €", "1.234,## €", "1.234,###### €"),
    }
    assert {cell: forms[vote_of(cell)] for cell in said} == said
    assert vote_of("+1.5%") == vote_of("1.5%") == vote_of("-1.5%")
    assert vote_of("98,164.04") not in (vote_of("198,164.04"), vote_of("1,98,164.04"))  # may be either
    assert vote_of("00501") == "code of 5 digits"
    for cell in ("10.0.0.1", "31/02/2021", "1,23,4", "((5))", "x", "5 apples", "12:99", "2021-W53", "2021Q5"):
        assert vote_of(cell) == "text"


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
