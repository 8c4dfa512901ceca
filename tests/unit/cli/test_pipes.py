"""`-` for standard input and output: the same records as from a file, nothing else in the output."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import patience
import understudy as us

SCHEMA = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'
ROWS = "sex\n" + "F\nM\nM\n" * 100
BUDGET = ["--epsilon=1", "--delta=1e-9", "--mechanism=independent", "--ledger=ledger.db", "--insecure-seed=5"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a schema, and one for temporary files."""
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "temporary").mkdir()
    return tmp_path


def piped(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A command with something on its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "understudy", *words],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        input=given,
        capture_output=True,
        check=False,
        timeout=patience.SECONDS,
    )


def test_a_table_through_a_pipe_gives_what_its_file_gives(folder: Path) -> None:
    fit = ["fit", "-", "--schema", "people.toml", *BUDGET]
    said = piped(folder, *fit, "-o", "piped.release", given=ROWS.encode())
    assert said.returncode == 0, said.stderr
    from_file = us.fit(
        folder / "people.csv",
        folder / "people.toml",
        epsilon=1.0,
        delta=1e-9,
        mechanism="independent",
        ledger=folder / "other.db",
        source=us.privacy.Seeded(5),
    )
    through = us.load(folder / "piped.release")
    assert through.marginal(("sex",)).counts.tolist() == from_file.marginal(("sex",)).counts.tolist()
    assert us.Ledger(folder / "ledger.db").names() == ["people"]
    assert list((folder / "temporary").iterdir()) == []


def test_only_records_are_on_standard_output(folder: Path) -> None:
    said = piped(
        folder,
        "synth",
        "csv:-",
        "--name",
        "p",
        *BUDGET,
        "-n",
        "7",
        "-o",
        "-",
        given=gzip.compress(ROWS.encode()),
    )
    assert said.returncode == 0, said.stderr
    lines = said.stdout.decode().splitlines()
    assert lines[0] == "sex" and len(lines) == 8
    assert b"epsilon 1" in said.stderr and b"NOT PRIVATE" in said.stderr


def test_a_release_and_samples_go_through_pipes(folder: Path) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({"sex": ["F", "M", "M"] * 100}), buffer)
    said = piped(
        folder,
        "fit",
        "-",
        "--schema",
        "people.toml",
        *BUDGET,
        "-o",
        "-",
        given=buffer.getvalue().to_pybytes(),
    )
    assert said.returncode == 0, said.stderr
    (folder / "through.release").write_bytes(said.stdout)
    drawn = piped(folder, "sample", "through.release", "-n", "5", "--seed", "1", "-o", "-")
    assert drawn.returncode == 0 and len(drawn.stdout.splitlines()) == 6, drawn.stderr
    assert b"5 synthetic records: -" in drawn.stderr


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["fit", "-", *BUDGET, "-o", "x.release"], ROWS, "no name for the ledger"),
        (["fit", "-", "--name", "p", *BUDGET, "-o", "x.release"], "", "nothing came"),
        (["evaluate", "-", "-"], ROWS, "one table, not two"),
    ],
)
def test_what_a_pipe_cannot_do_is_said_before_anything_is_charged(
    folder: Path, words: list[str], given: str, said: str
) -> None:
    refused = piped(folder, *words, given=given.encode())
    assert refused.returncode in (1, 2) and said in refused.stderr.decode()
    assert not (folder / "ledger.db").exists() and not (folder / "x.release").exists()
    assert list((folder / "temporary").iterdir()) == []
