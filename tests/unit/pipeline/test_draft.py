"""A draft of a schema: sensible, marked as not private, and silent about values of columns with many."""

from __future__ import annotations

import random
import sys
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.cli import main
from understudy.domain import Boolean, Category, Date, Datetime, Fake, Integer, Number, Schema
from understudy.pipeline.draft import draft, draft_schema, schema_of_types

ROWS = 400
DATA = Path(__file__).parents[4] / "shared" / "data" / "acs2019" / "national2019.csv"


def drafted(values: list[object], kind: pa.DataType | None = None, name: str = "x") -> object:
    repeated = [values[i % len(values)] for i in range(ROWS)]
    return draft(pa.table({name: pa.array(repeated, kind)}), name="t").columns[name]


def test_the_first_comment_says_that_the_draft_is_not_private() -> None:
    text = draft(pa.table({"a": [1, 2]}), name="t").to_toml()
    first = text.splitlines()[0]
    assert "made by looking at the data" in first
    assert "NOT PRIVATE until a person has reviewed it" in first
    assert Schema.from_toml(text).to_toml() == text


def test_values_of_columns_with_many_are_found_nowhere_in_the_draft(tmp_path: Path) -> None:
    chance = random.Random(0)
    canaries = {
        "name": [f"canary{chance.getrandbits(60)}" for _ in range(ROWS)],
        "city": [f"canary{i % 60}x" for i in range(ROWS)],
        "salary": [str(chance.randrange(10**6, 10**9)) for _ in range(ROWS)],
        "ratio": [f"{chance.random() * 1e6:.3f}" for _ in range(ROWS)],
        "born": [str(date(1950, 1, 1) + timedelta(chance.randrange(20_000))) for _ in range(ROWS)],
        "note": ["canary7" if i == 5 else str(chance.randrange(10**6, 10**9)) for i in range(ROWS)],
        "once": ["canaryonce" if i == 5 else "ab"[i % 2] for i in range(ROWS)],
    }
    lines = [",".join(canaries), *(",".join(row) for row in zip(*canaries.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    text = draft_schema(tmp_path / "people.csv").to_toml()
    assert "canary" not in text
    for name in ("salary", "ratio", "born", "note"):
        assert not any(value in text for value in canaries[name]), name
    schema = Schema.from_toml(text)
    assert schema.name == "people"
    assert [type(column) for column in schema.columns.values()] == [
        Fake, Category, Integer, Number, Date, Integer, Category,
    ]  # fmt: skip
    assert schema.columns["once"].values == ("a", "b")
    assert "made up" in schema.columns["name"].comment
    assert set(schema.unlearned) == {"city", "salary", "ratio", "born", "note"}


def test_a_few_values_become_a_list_or_bounds_to_review() -> None:
    assert drafted(["M", "F"]).values == ("F", "M")
    assert drafted([1, 2, 3]) == Integer(1, 3, comment="Review: min and max were read from the records.")
    assert drafted([1, 50, 9999998]).values == (1, 50, 9999998)  # codes with gaps are a list
    assert drafted([5]).values == (5,)
    assert drafted([0.5, 1.5]).values == (0.5, 1.5)
    assert drafted(["0.50", "1.50", "9.99"]).values == ("0.50", "1.50", "9.99")  # as they are written
    assert drafted([True, False]) == Boolean()
    assert drafted(["true", "False"]) == Boolean()


def test_a_few_measures_with_decimals_are_a_range_in_their_own_form() -> None:
    warmth = [35 + n / 10 for n in range(40)] * 50
    found = draft(pa.table({"x": warmth, "text": [f"{warm:.1f}" for warm in warmth]}), name="t")
    assert found["x"].fields() | {"comment": ""} == Number(35, 38.9, precision=0.1).fields() | {"comment": ""}
    assert found["text"].fields() == found["x"].fields() | {"format": "0.0"}


def test_the_step_of_whole_numbers_is_seen_whatever_special_values_are_off_it() -> None:
    loans = [1_000 + 25 * (n * n % 997) for n in range(3_000)]
    table = {
        "loan": loans,
        "capped": [*loans[:2_000], *[35_001] * 1_000],
        "odd": [loan + 1 for loan in loans],
    }
    found = draft(pa.table(table), name="t")
    assert [found[name].fields().get("step", 1) for name in table] == [25, 25, 1]
    assert (
        found["capped"].fields()["special"] == [35_001] and "multiples of this step" in found["loan"].comment
    )


def test_years_have_bounds_in_whole_decades_whatever_a_single_record_holds() -> None:
    born = [1_938 + n % 67 for n in range(2_000)]
    found = draft(
        pa.table({"born": [*born, 1_801], "paid": [year + 900 for year in [*born, 1_950]]}), name="t"
    )
    assert (found["born"].min, found["born"].max) == (1_930, 2_009) and "years" in found["born"].comment
    assert found["paid"].min is None


def test_texts_among_numbers_mean_missing() -> None:
    column = drafted(["1", "2", "N", "3"])
    assert (column.min, column.max, column.missing) == (1, 3, ("N",))
    assert drafted(["1", None, "2"]).missing is True
    assert drafted(["1", "", "2"]).missing is True
    assert drafted(["1.5", "?", "2.25"]).missing == ("?",)
    assert drafted(["Y", "N"]) == Boolean(format=("Y", "N"))  # an answer, not a missing one


def test_dates_are_seen_in_texts_and_in_types() -> None:
    days = [date(2020, 1, 1), date(2020, 1, 5)]
    for values in (days, [str(day) for day in days]):
        column = drafted(values)
        assert isinstance(column, Date)
        assert (column.min, column.max) == tuple(days)
    moments = [datetime(2020, 1, 1, 5), datetime(2020, 1, 2)]
    for values in (moments, [moment.isoformat() for moment in moments]):
        column = drafted(values)
        assert isinstance(column, Datetime)
        assert (column.min, column.max) == tuple(moments)
    assert drafted(moments, pa.timestamp("ns", "UTC")).aware
    assert drafted(["0000-01-01", "2020-01-01"]).unlearned  # a year that no calendar here has


def test_odd_columns_are_drafted_all_the_same() -> None:
    assert drafted([None], pa.null()).discover
    assert drafted([None, "inf"]).unlearned
    assert draft(pa.table({"a": pa.array([], pa.int64())}), name="t").unlearned
    assert draft(pa.table({"a": pa.array(["x"]).dictionary_encode()}), name="t").columns["a"].discover
    assert (
        draft(pa.table({"key": [str(i) for i in range(50)]}), name="t")
        .columns["key"]
        .comment.startswith("Nearly every record")
    )


def test_a_draft_says_what_will_not_come_back_as_it_was() -> None:
    said = draft(
        pa.table(
            {
                "sex": ["F", "f ", "M", "M"] * 50,
                "haunt": [f"{chr(97 + i % 25)}{chr(97 + i % 6)} Lane" for i in range(200)],
            }
        ),
        name="t",
    ).columns
    assert "differ in case or blanks alone" in said["sex"].comment
    assert "come back empty" in said["haunt"].comment and 'unit = "haunt"' in said["haunt"].comment
    plain = draft(
        pa.table({"sex": ["F", "M"] * 4_500, "city": [f"c{i % 60}" for i in range(9_000)]}), name="t"
    ).columns
    assert "alone" not in plain["sex"].comment and "empty" not in plain["city"].comment


def test_a_schema_of_types_alone_asks_for_everything_else_to_be_learned() -> None:
    types = pa.schema(
        {
            "a": pa.string(),
            "b": pa.int8(),
            "c": pa.float32(),
            "d": pa.bool_(),
            "e": pa.date32(),
            "f": pa.timestamp("s"),
        }
    )
    schema = schema_of_types(types, name="t")
    kinds = [Category, Integer, Number, Boolean, Date, Datetime]
    assert [type(column) for column in schema.columns.values()] == kinds
    assert set(schema.unlearned) == {"a", "b", "c", "e", "f"}


@pytest.mark.skipif(not DATA.exists(), reason="the acs2019 data set is not beside the checkout")
def test_a_raw_survey_file_gets_a_sensible_draft() -> None:
    schema = draft_schema(DATA)
    assert schema.name == "national2019"
    assert len(schema.columns["PUMA"].values) == 20
    marked = [name for name, column in schema.columns.items() if column.missing == ("N",)]
    assert marked == [
        "MSP", "NOC", "NPF", "INDP", "INDP_CAT", "EDU", "PINCP", "PINCP_DECILE", "POVPIP", "DVET", "DREM", "DPHY",
    ]  # fmt: skip
    assert isinstance(schema.columns["PINCP"], Number)
    assert schema.columns["EDU"].min == 1
    assert set(schema.unlearned) == {"AGEP", "PINCP", "POVPIP", "PWGTP", "WGTP"}
    assert schema.columns["INDP"].ordered  # codes: a list, so that none is made up
    assert 501 in schema.columns["POVPIP"].special  # the cap


def understudy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    """The exit code and the output of a command."""
    monkeypatch.setattr(sys, "argv", ["understudy", *words])
    code = 0
    try:
        main()
    except SystemExit as left:
        code = int(left.code or 0)
    return code, capsys.readouterr().out


def test_the_command_prints_or_writes_a_draft_and_leaves_with_the_promised_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = partial(understudy, monkeypatch, capsys, "schema")
    people = str(tmp_path / "people.parquet")
    pq.write_table(pa.table({"sex": ["M", "F"] * 40, "age": list(range(80))}), people)
    code, shown = run(people)
    assert code == 0
    assert Schema.from_toml(shown).name == "people"
    assert run(people, "-o", str(tmp_path / "p.toml"), "--name", "others") == (0, "")
    assert Schema.load(tmp_path / "p.toml").name == "others"
    assert run(str(tmp_path / "nobody.csv")) == (1, "")
    assert run()[0] == 2
    assert run(people, "-o", str(tmp_path / "no" / "p.toml")) == (1, "")
    (tmp_path / "tabs.txt").write_text("a\tb\n" + "1\t2\n" * 50)
    code, shown = run(str(tmp_path / "tabs.txt"), "--delimiter", "\\t")
    assert list(Schema.from_toml(shown).columns) == ["a", "b"]
    helped = run("--help")[1]
    assert "Examples:" in helped
    assert "Exit codes:" in helped


def days(form: str, count: int = 365) -> list[object]:
    return [(date(2021, 1, 1) + timedelta(n)).strftime(form) for n in range(count)]


def test_what_a_format_leaves_unread_or_undecided_is_said_beforehand() -> None:
    column = drafted([*days("%d/%m/%Y", 195), *["soon"] * 5])
    assert (column.type, column.format) == ("date", "%d/%m/%Y")
    assert column.missing == ("soon",) and 'Words among figures ("soon")' in column.comment
    doubtful = drafted([f"{n % 12 + 1:02d}/{n % 11 + 1:02d}/2021" for n in range(132)])
    assert doubtful.format == "%d/%m/%Y" and '"%m/%d/%Y"' in doubtful.comment
    assert drafted(days("%m/%d/%Y")).comment.count("months come first") == 0
    mixed = drafted([*days("%d/%m/%Y", 100), *(f"some day {n}" for n in range(40))])
    assert mixed.type == "category" and '75% of the cells have the form "%d/%m/%Y"' in mixed.comment
    assert "1969 to 2068" in drafted(days("%d.%m.%y")).comment
    assert "value of its own" not in drafted(days("%d/%m/%Y %H:%M")).comment


def test_codes_that_begin_with_a_zero_keep_it_however_many_there_are() -> None:
    few = drafted(["00501", "02139", "94110"])
    assert (few.type, few.values) == ("category", ("00501", "02139", "94110"))
    many = drafted([f"{n * 37:05d}" for n in range(200)])
    assert (many.type, many.format) == ("integer", "00000") and "one width" in many.comment
    assert drafted([*(f"{n * 37:05d}" for n in range(200)), "K1A 0B1"]).type == "category"


def test_what_stands_around_a_number_is_that_of_most_cells() -> None:
    amounts: list[object] = [f"{n * 997 % 10_007:,}" for n in range(300)]
    assert drafted([*amounts, "12 canary"]).format == "1,234"
    assert drafted([f"{amount} kg" for amount in amounts]).format == "1,234 kg"
    assert drafted([f"A{amount}" for amount in amounts]).type == "category"


def test_a_pair_of_words_or_a_tick_is_a_truth() -> None:
    assert drafted(["ja", "nein", "Ja", "ja", "nein"]).format == ("ja", "nein")
    assert drafted(["yes", "no", "n/a"]) == Boolean(format=("yes", "no"), missing=("n/a",))
    tick = drafted(["X", None, None])
    assert (tick.format, tick.missing) == (("X", ""), False) and "taken for false" in tick.comment
    assert drafted(["M", "F"]).type == "category"


def test_moments_counted_from_1970_are_told_by_the_name_of_their_column() -> None:
    seconds: list[object] = [1_600_000_000 + n * 86_399 for n in range(ROWS)]
    assert drafted(seconds, name="created_at").format == "epoch seconds"
    assert drafted([int(str(s)) * 1000 for s in seconds], name="timestamp").format == "epoch milliseconds"
    assert drafted(seconds, name="phone").type == "integer"


def test_the_step_between_moments_is_kept_in_any_form() -> None:
    hours: list[object] = [
        (datetime(2021, 1, 1) + timedelta(hours=5 * n)).strftime("%d/%m/%Y %H:%M:%S") for n in range(200)
    ]
    assert (drafted(hours).format, drafted(hours).precision) == ("%d/%m/%Y %H:%M:%S", "hour")
    minutes: list[object] = [f"{n % 24:02d}:{n * 7 % 60:02d}" for n in range(200)]
    assert (drafted(minutes).format, drafted(minutes).precision) == ("%H:%M", None)


def test_a_list_of_texts_that_a_person_can_read_is_written_down_and_a_longer_one_is_learned() -> None:
    stations = [f"Station {n % 120:03d} North" for n in range(6000)]
    shops = [f"Shop {n % 260:03d} West" for n in range(6000)]
    found = draft_schema({"station": stations, "shop": shops}, name="calls")
    assert len(found["station"].values) == 120  # type: ignore[attr-defined]
    assert found.unlearned == {"shop": ("values",)}


def test_a_column_of_very_many_values_is_judged_by_some_records_and_none_of_its_values_is_written() -> None:
    rows = 60_000
    order = np.arange(rows)
    table = pa.table(
        {
            "reading": pa.array(order / 100),  # sorted: its first records are alike
            "label": pa.array([f"who {i}" for i in order]),
            "sex": pa.array(np.where(order < rows - 40, "F", "M")),  # few values: every record is looked at
        }
    )
    drafted = draft_schema(table, name="people")
    assert drafted["sex"].values == ("F", "M")
    assert "who" not in drafted.to_toml().replace("whose", "")
    assert isinstance(drafted["reading"], Number) and drafted["reading"].min is None
