"""One list of sources: every command takes each of them, and another package may add its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import understudy as us
from spark_session import frame, session
from understudy import plugins
from understudy.cli import understudy
from understudy.errors import ParameterError, UnderstudyError
from understudy.pipeline.sources import registry
from understudy.pipeline.sources.registry import SourceKind, kind_of, name_of, source_of
from understudy.pipeline.sources.streamed import StreamedSource
from understudy.privacy import Seeded

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
PEOPLE = pa.table({"sex": ["F", "M"] * 200, "age": [20 + number % 40 for number in range(400)]})


# -- a source of another package ----------------------------------------------------------------------------


class Shelf:
    """Records that another package keeps, in batches; `opened` counts the scans."""

    types = PEOPLE.schema
    snapshot = "shelf 1"

    def scan(self, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        yield from PEOPLE.select(list(columns)).to_batches(max_chunksize=100)


class ToySource(StreamedSource):
    """toy:people, or a list that holds the word."""

    @property
    def name(self) -> str | None:
        return str(self.data).removeprefix("toy:") if isinstance(self.data, str) else None

    def scannable(self, dialect: Any) -> Any:
        return Shelf()


def is_toy(data: Any) -> bool:
    return isinstance(data, list) and data[:1] == ["toy"]


def sampled(release: Any, rows: int, *, seed: int | None, within: str) -> list[Any]:
    return ["toy", release.with_kind("arrow").sample(rows, seed=seed, within=within)]


TOY = SourceKind("toy", ToySource, "toy:name", ("toy:",), is_toy, sampled)


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points of a package that is installed, as far as anyone can tell."""
    points = [EntryPoint("toy", f"{__name__}:TOY", registry.SOURCES)]
    others = plugins.entry_points

    def found(group: str) -> Any:
        return points if group == registry.SOURCES else others(group=group)

    monkeypatch.setattr(plugins, "entry_points", found)
    registry.kinds.cache_clear()
    yield points
    monkeypatch.undo()
    registry.kinds.cache_clear()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(understudy, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def test_a_source_of_another_package_works_in_every_command(
    plugged: list[EntryPoint], tmp_path: Path
) -> None:
    ledger, schema = tmp_path / "ledger.db", tmp_path / "people.toml"
    assert 'name = "people"' in run("schema", "toy:people")
    run("schema", "toy:people", "-o", schema)
    options = ("--epsilon", "1", "--delta", "1e-6", "--insecure-seed", "1", "--ledger", ledger)
    run("fit", "toy:people", "--schema", schema, *options, "-o", tmp_path / "people.release")
    assert set(us.load(tmp_path / "people.release").sample(10, seed=1).column_names) == {"sex", "age"}
    run("synth", "toy:people", *options, "-o", tmp_path / "synthetic.csv")
    assert "CONFIDENTIAL" in run("evaluate", "toy:people", tmp_path / "synthetic.csv")
    assert "table   people" in run("ledger", "toy:people", "--ledger", ledger)


def test_what_is_no_address_is_recognised_opened_and_given_back_in_its_own_kind(
    plugged: list[EntryPoint], tmp_path: Path
) -> None:
    assert kind_of(["toy"]) is TOY and kind_of(["sex"]).name == "table"
    release = us.fit(["toy"], source=Seeded(1), ledger=tmp_path / "ledger.db", **BUDGET)
    assert release.kind == "arrow"  # as its records say
    what, table = release.with_kind("toy").sample(5, seed=1)
    assert what == "toy" and table.num_rows == 5
    assert us.draft_schema(["toy"]).columns.keys() == {"sex", "age"}


def test_a_run_on_an_unchanged_source_is_the_same_run(plugged: list[EntryPoint], tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first, again = (us.fit("toy:people", source=Seeded(7), ledger=ledger, **BUDGET) for _ in range(2))
    assert us.Ledger(ledger).account("people").spent[0] == BUDGET["epsilon"]
    assert (first.marginal("sex").counts == again.marginal("sex").counts).all()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (SourceKind("duckdb", ToySource, "", ("other:",)), "two packages offer a source 'duckdb'"),
        (SourceKind("other", ToySource, "", ("spark:",)), "both have addresses that begin 'spark:'"),
    ],
)
def test_a_name_or_an_address_that_is_taken_is_refused(
    plugged: list[EntryPoint], monkeypatch: pytest.MonkeyPatch, kind: SourceKind, said: str
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "TOY", kind)
    with pytest.raises(ParameterError, match=said):
        registry.kinds()


def test_a_plug_in_that_cannot_be_loaded_is_named(plugged: list[EntryPoint]) -> None:
    plugged[:] = [EntryPoint("toy", "no_such_package:KIND", registry.SOURCES)]
    with pytest.raises(ParameterError, match=r"no_such_package:KIND.*cannot be loaded"):
        registry.kinds()


# -- the house's own ----------------------------------------------------------------------------------------


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    (folder / "people").mkdir()
    for number in range(2):
        pq.write_table(PEOPLE.slice(200 * number, 200), folder / "people" / f"{number}.parquet")
    pq.write_table(PEOPLE, folder / "people.parquet")
    with duckdb.connect(str(folder / "town.db")) as database:
        database.register("arriving", PEOPLE)
        database.execute("CREATE TABLE people AS SELECT * FROM arriving")
    return folder


ADDRESSES = (
    "people.parquet",
    "people",
    "parquet:people",
    "duckdb:town.db?table=people",
    "spark:parquet:people",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_draft_is_the_same_wherever_the_table_lies(
    folder: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(folder)
    assert run("schema", address) == run("schema", "people.parquet")


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_comparison_takes_every_source(folder: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.chdir(folder)
    found = us.evaluate(address, "people.parquet")
    assert found.evaluation["1-way total variation"].synthetic == 0


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_ledger_is_asked_by_every_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.chdir(folder)
    ledger = tmp_path / "ledger.db"
    us.fit("people.parquet", source=Seeded(1), ledger=ledger, mechanism=us.Independent(), **BUDGET)
    assert "spent   (1, 1e-06) in 1 jobs" in run("ledger", address, "--ledger", ledger)


def test_a_table_of_sparks_is_drafted_compared_and_synthesised(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spark = session()
    monkeypatch.chdir(folder)
    frame(PEOPLE).createOrReplaceTempView("people")
    assert us.draft_schema("spark:people").to_toml() == us.draft_schema("people.parquet").to_toml()
    assert us.draft_schema(spark.table("people"), name="people").to_toml() == run("schema", "people.parquet")
    assert us.evaluate("spark:people", "people.parquet").evaluation["1-way total variation"].synthetic == 0
    files, ledger, drawn = "spark:parquet:people", tmp_path / "ledger.db", tmp_path / "drawn.csv"
    assert "[columns.age]" in run("schema", files, "--names-only")
    budget = ("--epsilon", "1", "--delta", "1e-6", "--no-check", "--ledger", ledger)
    assert f"synthetic: {drawn}" in run("synth", files, "--mechanism", "independent", *budget, "-o", drawn)
    assert "table   people" in run("ledger", files, "--ledger", ledger)


@pytest.mark.parametrize("address", ["spark:people", "postgresql://reader:secret@server/town#people"])
def test_plan_says_that_it_reads_no_table_and_shows_no_password(address: str) -> None:
    result = CliRunner().invoke(understudy, ["plan", address, "--epsilon", "1", "--delta", "1e-9"])
    assert isinstance(result.exception, ParameterError)
    assert "reads a schema and no data" in str(result.exception) and "secret" not in str(result.exception)


def test_an_address_is_never_shown_by_the_ledger(tmp_path: Path) -> None:
    us.Ledger(tmp_path / "ledger.db")
    address = "postgresql://reader:secret@server/town#people"
    result = CliRunner().invoke(understudy, ["ledger", address, "--ledger", str(tmp_path / "ledger.db")])
    assert isinstance(result.exception, UnderstudyError)
    assert "secret" not in result.output + str(result.exception) and "'people'" in str(result.exception)


def test_a_path_is_an_address_as_its_text_is() -> None:
    assert source_of(Path("spark:people")).name == source_of("spark:people").name == "people"
    assert name_of(Path("data/people.csv")) == "people" and name_of(PEOPLE) is None


def test_the_list_of_sources_loads_none_of_them() -> None:
    code = (
        "import sys; from understudy.pipeline.sources.registry import kinds, is_address, name_of; kinds();"
        "assert is_address('spark:people') and not is_address('people.csv');"
        "print([name for name in ('pyspark', 'duckdb', 'pyarrow', 'numpy', 'numba') if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
