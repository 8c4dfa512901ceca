"""A canary in private cells is found in nothing that any run, on any engine, at any fault, says or leaves behind."""

from __future__ import annotations

import errno
import gzip
import io
import os
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import canary
import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest
from canary import Watch, watch
from click.testing import CliRunner

import patience
import understudy as us
from understudy.cli import main
from understudy.cli import understudy as cli
from understudy.data import Table
from understudy.data.files import atomic
from understudy.domain import Schema
from understudy.errors import BudgetError, LedgerError, OperatorError, UnderstudyError
from understudy.privacy import Ledger

__all__ = ["watch"]
SCHEMA = Schema.from_toml(canary.SCHEMA)
COMPLETE = us.Schema.from_toml(
    canary.SCHEMA.replace("discover = true", 'values = ["a"]')
    .replace("bins = 4", "min = 0\nmax = 9\nbins = 4")
    .replace("min = 0\nmax = 1_000_000_000\nmin = 0\nmax = 9", "min = 0\nmax = 9")
)


def csv(watch: Watch, name: str = "birds.csv") -> Path:
    pyarrow.csv.write_csv(canary.table(), watch.private / name)
    return watch.private / name


def parquet(watch: Watch) -> Path:
    pyarrow.parquet.write_table(canary.table(), watch.private / "birds.parquet")
    return watch.private / "birds.parquet"


def database(watch: Watch) -> Path:
    path = watch.private / "birds.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", canary.table())
        connection.execute("CREATE TABLE birds AS SELECT * FROM given")
    return path


def polars(_: Watch) -> Any:
    return pytest.importorskip("polars").from_arrow(canary.table())


SOURCES = {
    "csv": csv,
    "csv streamed": lambda watch: f"csv:{csv(watch)}",
    "parquet": parquet,
    "parquet streamed": lambda watch: f"parquet:{parquet(watch)}",
    "duckdb": lambda watch: f"duckdb:{database(watch)}?table=birds",
    "arrow": lambda watch: canary.table(),
    "pandas": lambda watch: canary.table().to_pandas(),
    "pandas objects": lambda watch: canary.table().to_pandas().astype(object),
    "polars": polars,
}


def use(release: us.Release, watch: Watch) -> None:
    """Everything that a person may do with a release."""
    release.save(watch.folder / "birds.release")
    watch.said += [
        repr(release),
        str(release.certificate),
        release.schema.to_toml(),
        repr(release.measurements),
    ]
    watch.said.append(str(us.load(watch.folder / "birds.release").sample(500)))
    for command in (
        ["sample", "birds.release", "-n", "300", "-o", "synthetic.csv"],
        ["sample", "birds.release", "-n", "300", "-o", "synthetic.parquet"],
        ["report", "birds.release", "-o", "report.html"],
        ["verify", "birds.release", "--json"],
        ["ledger"],
        ["ledger", "birds", "--json"],
    ):
        shown = CliRunner().invoke(
            cli, [str(watch.folder / word) if "." in word else word for word in command]
        )
        assert shown.exit_code == 0, shown.output
        watch.said.append(shown.output)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "learned"])
def test_a_run_on_any_engine_leaves_no_private_cell(source: str, schema: Schema | None, watch: Watch) -> None:
    data = SOURCES[source](watch)
    more = {} if schema else {"name": "birds"}
    release = us.fit(data, schema, mechanism=us.Independent(), **canary.limits(**more))
    use(release, watch)
    assert {path.parts[-1].split("-")[0] for path in watch.files()} >= {
        "ledger",
        "birds.release",
        "report.html",
    }


@pytest.mark.parametrize("streamed", [False, True])
def test_a_run_by_unit_leaves_no_private_cell(streamed: bool, watch: Watch) -> None:
    data = f"csv:{csv(watch)}" if streamed else csv(watch)
    use(
        us.fit(
            data, SCHEMA, unit="ring", max_records_per_unit=2, **canary.limits(mechanism=us.Independent())
        ),
        watch,
    )


def test_a_run_on_postgresql_leaves_no_private_cell(postgres: Any, watch: Watch) -> None:
    name = postgres.load(canary.table())
    use(
        us.fit(postgres.address(name), SCHEMA, **canary.limits(mechanism=us.Independent(), name="birds")),
        watch,
    )
    postgres.execute(f"CREATE VIEW broken_{name} AS SELECT *, name::integer AS wrong FROM {name}")
    schema = Schema.from_toml(canary.SCHEMA + '[columns.wrong]\ntype = "integer"\nmin = 0\nmax = 9\n')
    with watch.fault(UnderstudyError):
        us.fit(postgres.address(f"broken_{name}"), schema, **canary.limits(mechanism=us.Independent()))


def test_a_run_on_spark_leaves_no_private_cell(watch: Watch) -> None:
    from spark_session import frame, session

    birds = frame(canary.table())
    use(us.fit(birds, SCHEMA, **canary.limits(mechanism=us.Independent(), name="birds")), watch)
    session().conf.set("spark.sql.ansi.enabled", "true")
    wrong = birds.selectExpr("*", "CAST(name AS INT) AS wrong")
    schema = Schema.from_toml(canary.SCHEMA + '[columns.wrong]\ntype = "integer"\nmin = 0\nmax = 9\n')
    with watch.fault(UnderstudyError):
        us.fit(wrong, schema, **canary.limits(mechanism=us.Independent(), name="birds"))


# -- faults --------------------------------------------------------------------------------------------------


def broken(kind: str, content: bytes) -> bytes:
    lines = content.split(b"\n")
    if kind == "ragged":
        lines[30] += b"," + canary.TEXT.encode()
    elif kind == "open quote":
        lines[30] = b'"' + lines[30]
    elif kind == "nul":
        lines[30] = lines[30].replace(b"canary", b"canary-7f3a\x00")
    elif kind == "bad bytes":
        lines[30] = lines[30].replace(b"canary", b"canary-7f3a\xff\xfe")
    elif kind == "twice":
        lines[0] = lines[0].replace(b"colour", b"name")
    return b"\n".join(lines)


@pytest.mark.parametrize("kind", ["ragged", "open quote", "nul", "bad bytes", "twice"])
@pytest.mark.parametrize("streamed", [False, True], ids=["memory", "streamed"])
@pytest.mark.parametrize("command", ["fit", "schema"])
def test_a_broken_file_is_told_without_its_content(
    kind: str, streamed: bool, command: str, watch: Watch
) -> None:
    path = csv(watch)
    path.write_bytes(broken(kind, path.read_bytes()))
    address = f"csv:{path}" if streamed else str(path)
    settings = ["--epsilon", "1", "--delta", "1e-6", "-o", str(watch.folder / "x.release")]
    shown = CliRunner().invoke(cli, [command, address, *(settings if command == "fit" else [])])
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        watch.said.append(canary.said_by(shown.exception))
        assert isinstance(shown.exception, UnderstudyError)
        watch.said.append(shown.output)
    elif command == "fit":  # a file that is whole after all; a draft shows values, and says so
        watch.said.append(shown.output)


@pytest.mark.parametrize("prefix", ["", "parquet:"])
def test_a_truncated_file_is_told_without_its_content(prefix: str, watch: Watch) -> None:
    path = parquet(watch)
    path.write_bytes(path.read_bytes()[:-40])
    with watch.fault(UnderstudyError):
        us.fit(f"{prefix}{path}", SCHEMA, **canary.limits())


def test_a_schema_that_does_not_fit_is_told_without_a_cell(watch: Watch) -> None:
    wrong = canary.SCHEMA.replace(
        '[columns.name]\ntype = "category"\ndiscover = true', '[columns.name]\ntype = "date"'
    )
    us.fit(csv(watch), Schema.from_toml(wrong), **canary.limits(mechanism=us.Independent()))
    for more in ({"unit": "nobody", "max_records_per_unit": 1}, {"mechanism": us.Fixed([("name", "beak")])}):
        with watch.fault(UnderstudyError):
            us.fit(csv(watch), SCHEMA, **canary.limits(**more))
    with watch.fault(UnderstudyError):
        us.fit(csv(watch), Schema.from_toml(wrong + '[columns.beak]\ntype = "boolean"\n'), **canary.limits())


def test_a_query_that_fails_on_a_cell_is_told_without_it(watch: Watch) -> None:
    query = "SELECT *, CAST(name AS INTEGER) AS wrong FROM birds"
    # A column that the schema leaves out is not read, so what it holds stops nobody.
    us.fit(f"duckdb:{database(watch)}?query={query}", SCHEMA, **canary.limits(mechanism=us.Independent()))
    schema = Schema.from_toml(canary.SCHEMA + '[columns.wrong]\ntype = "integer"\nmin = 0\nmax = 9\n')
    with watch.fault(UnderstudyError):
        us.fit(f"duckdb:{watch.private / 'birds.db'}?query={query}", schema, **canary.limits())


def test_a_ledger_that_refuses_says_nothing_of_the_records(watch: Watch) -> None:
    ledger = Ledger(watch.folder / "ledger")
    ledger.set_limit("birds", 3.0, 1e-5)
    us.fit(csv(watch), SCHEMA, mechanism=us.Independent(), **canary.limits())
    with watch.fault(BudgetError):
        us.fit(canary.table(), SCHEMA, mechanism=us.Independent(), **canary.limits())
    content = bytearray((watch.folder / "ledger").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (watch.folder / "ledger").write_bytes(content)
    with watch.fault((LedgerError, BudgetError)):
        us.fit(canary.table(), SCHEMA, mechanism=us.Independent(), **canary.limits(name="others"))


def test_a_full_disk_leaves_no_half_of_a_file(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    release = us.fit(csv(watch), SCHEMA, mechanism=us.Independent(), **canary.limits())

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = set(watch.files())
    monkeypatch.setattr(atomic.os, "replace", full)
    with watch.fault(OperatorError):
        release.save(watch.folder / "birds.release")
    assert set(watch.files()) == before


class Failing(Exception):
    """A fault of an engine that quotes a record, as those of libraries do."""


def _fails(*_: Any, **__: Any) -> Any:
    raise Failing(f"could not convert {canary.TEXT!r} to a number")


def test_an_exception_inside_an_engine_is_shown_without_its_words(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Table, "count", _fails)
    schema = watch.folder / "birds.toml"
    COMPLETE.save(schema)
    words = ["fit", str(csv(watch)), "--schema", str(schema), "--epsilon", "1", "--delta", "1e-6"]
    monkeypatch.setattr(sys, "argv", ["understudy", *words, "-o", str(watch.folder / "birds.release")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 70
    said = capfd.readouterr().err
    watch.said.append(said)
    assert "Failing" in said
    assert "test_canary_everywhere.py" in said, "where it happened is told"
    assert not (watch.folder / "birds.release").exists()


KILLED = """
import os, signal, sys
import understudy as us
from understudy.privacy.curator import noisy_marginals
noisy_marginals.discrete_gaussian = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
us.fit(sys.argv[1], sys.argv[2], epsilon=1, delta=1e-6, mechanism=us.MST(), unit="ring", max_records_per_unit=1)
"""


def test_a_run_killed_half_way_leaves_nothing_that_others_can_read(watch: Watch) -> None:
    """What a killed run had put aside for itself is in a folder of its owner's alone, which the next run removes."""
    COMPLETE.save(watch.folder / "birds.toml")
    address = f"csv:{csv(watch)}"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, address, str(watch.folder / "birds.toml")],
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
        check=False,
        env=canary.environment(),
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    watch.said += [done.stdout, done.stderr]
    for path in watch.files():
        if canary.sings(path.read_bytes()):
            guarded = [parent for parent in path.parents if watch.folder in parent.parents]
            assert any(stat.S_IMODE(parent.stat().st_mode) == 0o700 for parent in guarded)
    us.fit(address, COMPLETE, mechanism=us.Independent(), **canary.limits())
    assert not list((watch.folder / "tmp").rglob("*"))


def test_whoever_looks_for_the_canary_finds_it(tmp_path: Path) -> None:
    """In texts, numbers, archives inside archives, and in what an exception was caused by."""
    assert canary.sings(canary.TEXT.encode()) and canary.sings(f"about {canary.NUMBER:,} grams".encode())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("field.npy", gzip.compress(b"\0" * 100 + canary.NUMBER.to_bytes(8, "little")))
    assert canary.sings(packed.getvalue())
    assert not canary.sings(b"a wren")
    watch = Watch(tmp_path)
    with watch.fault(OperatorError):
        try:
            _fails()
        except Failing as error:
            raise OperatorError("the file cannot be read.") from error
    with pytest.raises(AssertionError):
        watch.check()
    watch.said.clear()
    (tmp_path / "left").write_bytes(packed.getvalue())
    with pytest.raises(AssertionError, match="left"):
        watch.check()
