"""What a format writes it reads, to the same value and the same code; and no text breaks it."""

from __future__ import annotations

from datetime import date, datetime, time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Boolean, Date, Datetime, Integer, Number, Time
from understudy.domain.columns.formatted import FormattedColumn
from understudy.domain.formats.epoch_format import EPOCHS, EpochFormat
from understudy.domain.formats.moment_format import MomentFormat
from understudy.domain.formats.number_format import NumberFormat

DATES = (
    *(
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%Y/%m/%d",
        "%Y%m%d",
        "%-d/%-m/%Y",
        "%d/%m/%y",
        "%d%m%y",
        "%b %-d, %Y",
    ),
    *("%d-%b-%Y", "%B %d, %Y", "%d %B %Y", "%A, %d %b %Y", "%a %d/%m/%Y", "%Y-%m-%d 100%%", "%Y年%m月%d日"),
)
CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%-I:%M:%S%P", "%H%M%S", "%-H:%M", "%H:%M:%S.%f", "%H.%M.%S,%3f")
MOMENTS = (
    *(f"{day} {clock}" for day in ("%d/%m/%Y", "%b %d %Y") for clock in CLOCKS),
    *("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S%z", "%Y%m%d%H%M%S"),
)
NUMBERS = (
    *(
        "1,234.50",
        "1.234,50",
        "1 234,50",
        "1'234.50",
        "1\u202f234,5",
        "$1,234.50",
        "-$1,234.50",
        "$-1,234.50",
    ),
    *(
        "1.234,50 €",
        "€ 1.234,50",
        "($1,234.50)",
        "(1,234)",
        "1,234-",
        "12.5%",
        "0,000",
        "0.00",
        "0,5##",
        "1,234,567",
    ),
    *("12,34,567.50", "₹ 12,34,567", "12.5°"),
    *("1.234.567", "000000", "PT-0000", "USD 12.5", "12.5 kg", "0.0#", "\u22121,234.50", "1_234"),
)
COLUMNS: dict[str, FormattedColumn] = {
    **{f"date {f}": Date(date(1995, 2, 1), date(2024, 2, 29), format=f) for f in DATES},
    "week": Date(date(1995, 2, 1), date(2024, 2, 15), format="%G-W%V"),
    "quarter": Date(date(1995, 1, 1), date(2024, 2, 15), format="%YQ%q"),
    "power": Number(0, 10**6, bins=7, format="1.00E+00"),
    "month": Date(date(1995, 2, 1), date(2024, 2, 15), format="%Y-%m", outside="other"),
    "named month": Date(date(1995, 2, 1), date(2024, 2, 15), "quarter", format="%b %Y"),
    **{f"time {f}": Time(time(8), time(21, 59, 59), format=f, outside="other") for f in CLOCKS},
    **{f"moment {f}": Datetime(datetime(2019, 12, 1), datetime(2021, 3, 1), format=f) for f in MOMENTS},
    **{f"{f}": Datetime(datetime(2019, 12, 1), datetime(2021, 3, 1), format=f) for f in EPOCHS},
    **{f"number {f}": Number(-5_000_000, 5_000_000, 101, special=(-7, 0, 1234), format=f) for f in NUMBERS},
    **{f"narrow {f}": Number(-3, 3, 997, format=f, missing=("9",), outside="other") for f in NUMBERS},
    **{f"integer {f}": Integer(-3_000_000, 9_999, bins=77, format=f, missing=("-9", "x")) for f in NUMBERS},
    "Y/N": Boolean(format=("Y", "N")),
    "ja/nein": Boolean(format=("ja", "nein"), missing=("?",), outside="other"),
    "1/0": Boolean(format=("1", "0"), missing=False),
    "X/": Boolean(format=("X", "")),
    "t/T": Boolean(format=("t", "T")),
}
STRANGE = st.one_of(
    st.text(max_size=20),
    st.text("0123456789/.:-,() $€%+#AMPamp'", max_size=24),
    st.sampled_from(
        ["31/02/2021", "00/00/0000", "29.02.2100", "1,,234", "((5))", "--5", "9" * 40, "\x00", "24:00"]
    ),
)


def codes(column: FormattedColumn, cells: pa.Array) -> list[int]:
    return column.codec().encode(cells).tolist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("within", ["uniform", "midpoint"])
def test_every_value_that_is_written_is_coded_as_it_was(name: str, within: str) -> None:
    column = COLUMNS[name]
    every = np.arange(column.count)
    drawn = every if len(every) < 1_000 else np.random.default_rng(1).choice(every, 1_000)
    written = column.codec().decode(drawn, np.random.default_rng(0), within)  # type: ignore[arg-type]
    assert written.type == column.codec().arrow_type
    assert codes(column, written) == drawn.tolist()
    assert (
        codes(column, written.cast(pa.binary() if written.type == pa.string() else pa.string()))
        == drawn.tolist()
    )


@given(st.sampled_from(sorted(COLUMNS)), st.lists(st.one_of(st.none(), STRANGE), max_size=8))
@settings(max_examples=many(375))
def test_no_text_breaks_a_format_and_each_is_read_alone(name: str, cells: list[str | None]) -> None:
    column = COLUMNS[name]
    array = pa.array(cells, pa.string())
    together = codes(column, array)
    assert together == [codes(column, array.slice(place, 1))[0] for place in range(len(array))]
    assert all(code < column.size for code in together)


@given(
    st.sampled_from(DATES + MOMENTS),
    st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
)
@settings(max_examples=many(750))
def test_a_moment_comes_back_as_far_as_its_format_says(spec: str, moment: datetime) -> None:
    form = MomentFormat(spec)
    written = form.write(pa.array([moment], pa.timestamp("us")))
    cut = {
        "day": {"hour": 0, "minute": 0, "second": 0},
        "hour": {"minute": 0, "second": 0},
        "minute": {"second": 0},
    }
    assert form.read(written.cast(pa.large_string())).to_pylist() == [
        moment.replace(**cut.get(form.resolution, {}))
    ]


@given(st.sampled_from(sorted(EPOCHS)), st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)))
def test_a_moment_is_a_number_of_seconds_or_of_their_parts(spec: str, moment: datetime) -> None:
    form, whole = EpochFormat(spec), moment.replace(microsecond=0)
    written = form.write(pa.array([whole], pa.timestamp("us")))
    assert form.read(written).to_pylist() == [whole]


@given(
    st.sampled_from(NUMBERS),
    st.one_of(st.floats(-1e18, 1e18), st.integers(-(10**8), 10**8).map(lambda n: n / 100)),
)
@settings(max_examples=many(1250))
def test_any_number_comes_back_from_its_text(spec: str, number: float) -> None:
    form = NumberFormat(spec)
    text = form.read(form.write(pa.array([number])).cast(pa.large_string()))[0].as_py()
    assert float(text) == number


@given(st.sampled_from(NUMBERS), st.integers(-(2**62), 2**62))
@settings(max_examples=many(750))
def test_any_whole_number_comes_back_exactly(spec: str, number: int) -> None:
    form = NumberFormat(spec)
    text = form.read(form.write(pa.array([number])).cast(pa.large_string()))[0].as_py()
    assert int(text.partition(".")[0]) == number


def test_a_text_that_is_no_word_is_outside_and_a_mark_is_missing() -> None:
    column = Boolean(format=("Ja", "Nein"), missing=("k.A.",), outside="other")
    cells = pa.array(["ja", "NEIN", "k.A.", "vielleicht", "?", "", None])
    assert codes(column, cells) == [1, 0, 3, 2, 2, 3, 3]


def test_a_mark_of_missing_values_is_one_in_the_columns_own_form() -> None:
    column = Number(0, 5_000, 50, format="1.234,5", missing=("1.000", "n/a"), outside="other")
    assert codes(column, pa.array(["1.000", "1000,0", "1,0", "n/a"])) == [51, 51, 0, 51]
    assert not {"1.000,0", "1.000"} & {
        *column.codec().decode(np.full(999, 10), np.random.default_rng(0), "uniform").to_pylist()
    }


@given(st.floats(-1e200, 1e200), st.sampled_from(["1.00E+00", "1.00000e0", "1E-05"]))
def test_a_number_with_an_exponent_comes_back_as_far_as_its_decimals_say(number: float, spec: str) -> None:
    form = NumberFormat(spec)
    text = form.read(form.write(pa.array([number])).cast(pa.large_string()))[0].as_py()
    assert abs(float(text) - number) <= 0.51 * abs(number) * 10.0**-form.decimals + 1e-300
