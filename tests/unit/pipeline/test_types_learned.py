"""Types of text, learned by noisy votes: one record moves one count, and odd cells become missing."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import understudy as us
from spark_session import session
from understudy.data import write
from understudy.data.files.text import text_file
from understudy.domain import Category, Integer, Number, Schema, Untyped
from understudy.domain.columns.untyped import all_votes, vote_of
from understudy.pipeline import learning, synthesizer
from understudy.pipeline.forecast import forecast
from understudy.pipeline.release import Release
from understudy.pipeline.sources import registry
from understudy.presets import town
from understudy.privacy import Budget, Group, Role, Seeded
from understudy.transforms.split import Floor

ROWS = 2000
RNG = np.random.default_rng(4)
HEADER = "whole,price,day,flag,zip,answer,income"
LINES = [
    f"{a},{b:.2f},{np.datetime64('2020-01-01') + c},{str(bool(d)).lower()},{e:05},{'YN'[f]},{g}"
    for a, b, c, d, e, f, g in zip(
        RNG.integers(0, 90, ROWS),
        RNG.gamma(2, 50, ROWS),
        RNG.integers(0, 300, ROWS),
        RNG.integers(0, 2, ROWS),
        RNG.choice([501, 2134, 10001], ROWS),
        RNG.integers(0, 2, ROWS),
        np.where(RNG.random(ROWS) < 0.3, "?", RNG.integers(1000, 9000, ROWS).astype(str)),
        strict=True,
    )
]
LEARNED = {
    "whole": "integer",
    "price": "number",
    "day": "date",
    "flag": "boolean",
    "zip": "category",
    "answer": "category",
    "income": "integer",
}
ODD = ["x,x,x,x,x,x,x", ",,,,,,", "1e400,-1,9999-12-31,2,0,?,N", '"007","1_0",2020-02-30,yes,501,0x1,inf']


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_file, "PIECE", 7000)


def table(lines: Sequence[str] = LINES, name: str = "t.csv") -> str:
    Path(name).write_text("\n".join([HEADER, *lines]) + "\n")
    return name


def packed(lines: Sequence[str]) -> str:
    Path("t.csv.gz").write_bytes(gzip.compress(Path(table(lines)).read_bytes()))
    return "t.csv.gz"


def folder(lines: Sequence[str]) -> str:
    Path("parts").mkdir(exist_ok=True)
    table(lines[:700], "parts/a.csv")
    table(lines[700:], "parts/b.csv")
    return "parts"


def fit(data: Any, *, seed: int = 1, **settings: Any) -> Release:
    settings = {"epsilon": 3.0, "delta": 1e-9, "mechanism": us.Independent(), "name": "t"} | settings
    return us.fit(data, ledger=f"{uuid4()}.db", source=Seeded(seed), **settings)


def types(release: Release) -> dict[str, str]:
    return {name: column.type for name, column in release.schema.columns.items()}


class Watched:
    """Records that note every count that is asked of them, and may answer with what others counted.

    So a second table is asked the same questions as the first, whose answers decided them.
    """

    def __init__(self, records: Any, seen: list[Any], told: list[Any]) -> None:
        self.types, self.untyped, self.kind = records.types, records.untyped, records.kind
        self.snapshot = records.snapshot
        self._records, self._seen, self._told = records, seen, told

    def count_values(self, column: str, schema: Schema) -> Any:
        return self._noted((column, self._records.count_values(column, schema)))[1]

    def encode(self, schema: Schema) -> Any:
        self._engine = self._records.encode(schema)
        return self

    @property
    def domain(self) -> Any:
        return self._engine.domain

    def count(self, cliques: Any) -> Any:
        return [self._noted((m.clique, m))[1] for m in self._engine.count(cliques)]

    def _noted(self, counted: Any) -> Any:
        self._seen.append(counted)
        return self._told[len(self._seen) - 1] if self._told else counted


def questions(
    data: str, monkeypatch: pytest.MonkeyPatch, told: Sequence[Any] = ()
) -> tuple[Release, list[Any]]:
    """A release, and every count that was asked for."""
    seen: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            synthesizer,
            "open_records",
            lambda *given: Watched(registry.open_records(*given), seen, list(told)),
        )
        return fit(data), seen


def distance(one: Any, other: Any) -> int:
    """The L1 distance between two counts of the same question."""
    if isinstance(one, Mapping):
        return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other})
    assert one.counts.shape == other.counts.shape
    return int(np.abs(one.counts - other.counts).sum())


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("prefix", ["", "csv:"], ids=["in memory", "streamed"])
def test_one_odd_record_moves_one_count_of_every_question_and_no_type(
    monkeypatch: pytest.MonkeyPatch, odd: str, prefix: str
) -> None:
    before, asked = questions(prefix + table(), monkeypatch)
    _, again = questions(prefix + table([*LINES, odd]), monkeypatch, told=asked)
    assert (
        len(asked) == 7 + 2 + 5 + 5 + 7 + 21 + 35
    )  # votes, values, bounds, bins, each column; pairs and triples
    for (clique, one), (other_clique, other) in zip(asked, again, strict=True):
        assert clique == other_clique and distance(one, other) <= 1, clique
    assert types(before) == types(fit(prefix + table([*LINES, odd]))) == LEARNED


def test_an_odd_cell_is_missing() -> None:
    release = fit(table([*LINES, "x,x,x,x,x,x,x"]))
    coded = us.table("t.csv", release.schema)
    for name in ("whole", "price", "day", "flag"):
        (counted,) = coded.count([(name,)])
        assert counted.counts[release.schema.columns[name].missing_code] == 1, name


WAYS: dict[str, Callable[[Sequence[str]], Any]] = {
    "streamed": lambda lines: f"csv:{table(lines)}",
    "packed": packed,
    "packed, streamed": lambda lines: f"csv:{packed(lines)}",
    "folder": folder,
    "pandas, as text": lambda lines: pd.read_csv(table(lines), dtype=str, keep_default_na=False),
    "spark": lambda lines: session() and f"spark:csv:{table(lines)}",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_learns_the_same_schema(way: str) -> None:
    assert fit(WAYS[way](LINES)).schema == fit(table()).schema


def test_objects_of_several_types_are_learned_by_their_texts() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, 2.0, "3", None] * 500, dtype=object)})
    release = fit(frame)
    assert types(release) == {"x": "integer"} and release.sample(100)["x"].dtype == object


def test_leading_zeros_and_words_come_back_as_they_were() -> None:
    release = fit(table())
    assert release.schema.columns["zip"].values == ("00501", "02134", "10001")
    assert set(release.schema.columns["answer"].values) == {"Y", "N"}
    made = release.sample(ROWS, seed=0)
    assert made["income"].null_count == pytest.approx(0.3 * ROWS, rel=0.2)
    price = release.schema.columns["price"]
    assert isinstance(price, Number) and price.precision == 0.01


def test_a_release_without_a_schema_is_saved_sampled_verified_and_told_by_stages() -> None:
    release = fit(table())
    release.save("t.release")
    loaded = Release.load("t.release")
    assert types(loaded) == LEARNED and not loaded.schema.unlearned
    assert loaded.sample(50, seed=1).equals(release.sample(50, seed=1)) and loaded.verify().holds
    stages = [charge["stage"] for charge in loaded.certificate["charges"]]
    assert stages == ["types", "values", "values", "bounds", "bins", "one-way", "check"]
    assert not loaded.certificate["warnings"]


def test_steps_that_no_column_needs_are_not_asked_and_not_told() -> None:
    Path("words.csv").write_text("a,b\n" + "x,yes\ny,no\n" * 800)
    said: list[str] = []
    release = fit("words.csv", stage=said.append)
    assert [charge["stage"] for charge in release.certificate["charges"]] == [
        "types",
        "values",
        "values",
        "one-way",
        "check",
    ]
    told = [words for words in said if words.startswith(("learning", "measuring"))]
    assert told == [
        "learning the types of 2 columns",
        "learning the values of 'a'",
        "learning the values of 'b'",
        "measuring 2 one-way marginals",
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_types_of_a_small_table_of_many_columns_are_found(seed: int) -> None:
    people = town.simulate(1000, seed=seed)
    write(people, "town.csv")
    declared = synthesizer.schema_of_types(people.schema, name="town")
    found = types(fit("town.csv", seed=seed, epsilon=1.0, delta=1e-6))
    # A column of which few cells are filled may drown: it is then a category.
    assert sum(found[name] != column.type for name, column in declared.columns.items()) <= 1


def test_noise_alone_makes_a_category_and_pure_votes_make_their_type() -> None:
    rng = np.random.default_rng(0)
    drowned = [
        type(Untyped().decided(rng.normal(0, 100, len(all_votes())).tolist(), 100.0)[0]) for _ in range(300)
    ]
    assert np.mean([kind is Category for kind in drowned]) > 0.7
    for share, kind in ((1.0, Integer), (0.985, Integer), (0.9, Category)):
        votes = {"integer": 10_000 * share, "text": 10_000 * (1 - share)}
        assert type(Untyped().decided([votes.get(k, 0.0) for k in all_votes()], 10.0)[0]) is kind
    mixed = {"integer": 5000.0, "1 decimal": 5000.0}
    column, _ = Untyped().decided([mixed.get(k, 0.0) for k in all_votes()], 10.0)
    assert isinstance(column, Number) and column.precision == 0.1
    coded = {"integer": 9900.0, "code": 100.0}
    assert type(Untyped().decided([coded.get(k, 0.0) for k in all_votes()], 10.0)[0]) is Category


def test_amounts_whose_separators_drown_are_read_with_and_without_them() -> None:
    def learned(cells: dict[str, int]) -> Any:
        votes = Counter({vote_of(cell): count for cell, count in cells.items()})
        return Untyped().decided([float(votes[kind]) for kind in all_votes()], 10.0)[0]

    assert learned({"£33.68": 9_990, "£1,002.10": 10}).format == "£1,234.50"  # the ten drown
    assert learned({"£33.68": 9_700, "£1,002.10": 300}).format == "£1,234.50"
    assert learned({"£33.68": 9_000, "£1002.10": 1_000}).format == "£0.50"
    assert learned({"12.5%": 10_000}).format == "0.5%"
    assert learned({"Dec-2011": 9_000, "May-2011": 1_000}).format == "%b-%Y"


def test_a_list_of_which_nothing_was_learned_shows_no_text() -> None:
    Path("t.csv").write_text("a,b\n" + "".join(f"key {i},x\n" for i in range(1500)))
    release = fit("t.csv")
    column = release.schema.columns["a"]
    assert column.values == ("",) and not any(column.shown)
    assert release.sample(500, seed=0)["a"].null_count == 500


def test_instants_are_told_from_wall_clocks() -> None:
    moments = [f"2020-01-{1 + i % 28:02} 10:{i % 60:02}:00" for i in range(1500)]
    lines = [f"{moment},{moment}+02:00" for moment in moments]
    Path("t.csv").write_text("\n".join(["wall,instant", *lines]) + "\n")
    made = fit("t.csv").sample(10, seed=0).schema
    assert (made.field("wall").type.tz, made.field("instant").type.tz) == (None, "UTC")


def test_datetimes_come_back_with_the_signs_that_they_came_with() -> None:
    days = [f"2020-01-{1 + i % 28:02}" for i in range(1500)]
    lines = [f"{day}T10:00:0{i % 10}Z,{day} 10:0{i % 10},{day[8:]}-JAN-2020" for i, day in enumerate(days)]
    Path("t.csv").write_text("\n".join(["web,minute,oracle", *lines]) + "\n")
    made = fit("t.csv").sample(10, seed=0).to_pylist()
    assert all(re.fullmatch(r"2020-01-\d\dT\d\d:\d\d:\d\dZ", row["web"]) for row in made)
    assert all(re.fullmatch(r"2020-01-\d\d \d\d:\d\d", row["minute"]) for row in made)
    assert all(re.fullmatch(r"\d\d-[A-Z]{3}-20\d\d", row["oracle"]) for row in made)


def test_the_type_of_one_column_may_be_left_out_of_a_schema() -> None:
    schema = Schema.from_toml(
        '[table]\nname = "t"\n[columns.whole]\ntype = "untyped"\nmissing = ["7"]\n'
        '[columns.price]\ntype = "number"\nmin = 0\nmax = 500\nbins = 10\n'
        '[columns.zip]\ntype = "untyped"\nmissing = ["10001"]\n'
    )
    assert Schema.from_toml(schema.to_toml()) == schema and schema.unlearned["whole"] == ("type",)
    said = forecast(schema, us.MST(), Budget(1.0, 1e-9), rows=ROWS)
    assert [group.name for group in said.groups][:4] == ["types", "values", "bounds", "bins"]
    release = fit(table(), schema=schema)
    assert types(release) == {"whole": "integer", "price": "number", "zip": "category"}
    assert release.schema.columns["whole"].missing == ("7",)
    assert release.schema.columns["zip"].values == ("00501", "02134")  # a text that means missing is no value


def test_what_a_transform_makes_has_a_type_and_what_it_leaves_is_learned() -> None:
    release = fit(table(), transforms=(Floor("income", divisor=100, cap=9000, special=()),))
    assert types(release) == LEARNED
    assert release.sample(200, seed=0)["income"].drop_null().to_numpy().max() <= 9000


def test_a_header_alone_is_a_valid_run() -> None:
    release = fit(table([]), epsilon=1.0)
    assert not release.schema.unlearned and release.sample(3, seed=0).num_rows == 3


def test_typed_sources_keep_their_types_and_pay_for_no_votes() -> None:
    typed = pa.table({"x": ["1", "2"] * 500, "y": [1.5, 2.5] * 500})
    release = fit(typed)
    assert types(release) == {"x": "category", "y": "number"}
    assert "types" not in {charge["stage"] for charge in release.certificate["charges"]}


def test_shares_of_learning_are_planned_whatever_the_types_turn_out_to_be() -> None:
    schema = Schema({"a": Untyped(), "b": Untyped()}, name="t")
    assert learning.groups(schema) == (
        Group("types", "measure", learning.SHARES["types"], weights=(1.0, 1.0), role=Role.LEARNING),
        *(
            Group(step, "measure", learning.SHARES[step], role=Role.LEARNING)
            for step in ("values", "bounds", "bins")
        ),
    )
