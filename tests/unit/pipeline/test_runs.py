"""A run from a file to a release: charged once, resumed where it stopped, and silent about its records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import understudy as us
from understudy.cli import understudy as cli
from understudy.data import write
from understudy.presets import town
from understudy.privacy import Seeded

SETTINGS = {"epsilon": 1.0, "delta": 1e-9}
CANARY = "zqcanary"
UNSEEN = 918273645  # a number that no noisy count or edge would be
APART = 3_000_017  # so far, and no synthetic number of a learned bin is likely to be one of a few hundred


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    write(town.simulate(1500, seed=2), "town.csv")
    Path("town.toml").write_text(town.SCHEMA)


def run(*words: str) -> tuple[int, str]:
    """The exit code of a command, and all that it said."""
    done = CliRunner().invoke(cli, list(words))
    return done.exit_code, done.output


def values(release) -> list[list[float]]:
    return [m.values.tolist() for m in release.measurements]


def spent(name: str = "town") -> tuple[float, int]:
    account = us.Ledger().account(name)
    return float(account.spent[0]), len(account.jobs)


def test_the_same_job_is_charged_once_and_releases_the_same() -> None:
    releases = [us.fit("town.csv", "town.toml", job="monday", **SETTINGS) for _ in range(2)]
    assert values(releases[0]) == values(releases[1])
    assert releases[0].sample(50, seed=1).equals(releases[1].sample(50, seed=1))
    assert spent() == (1.0, 1)


def test_an_unchanged_file_asked_the_same_way_is_the_same_job_and_a_label_makes_another() -> None:
    first, same = (us.fit("town.csv", "town.toml", **SETTINGS) for _ in range(2))
    other = us.fit("town.csv", "town.toml", job="tuesday", **SETTINGS)
    assert values(first) == values(same) != values(other)
    assert spent() == (2.0, 2)


def test_a_frame_in_memory_is_a_new_job_every_time() -> None:
    people = town.simulate(500, seed=1)
    schema = us.Schema.from_toml(town.SCHEMA)
    for _ in range(2):
        us.fit(people, schema, mechanism=us.Independent(), **SETTINGS)
    assert spent() == (2.0, 2)


INTERRUPTED = """
import os, sys
import understudy as us
from understudy.pipeline import synthesizer

class Killed(synthesizer.Progress):
    asked = 0
    def __call__(self, words, answered):
        Killed.asked += not answered
        if not answered and Killed.asked > int(sys.argv[1]):
            os._exit(9)  # as if killed: no exit handler, no clean-up

synthesizer.Progress = Killed
us.fit("town.csv", sys.argv[2] or None, epsilon=1.0, delta=1e-9, mechanism="mst", job="night", name="town")
"""


@pytest.mark.parametrize(("questions", "schema"), [(1, "town.toml"), (6, "town.toml"), (5, "")])
def test_a_run_that_was_killed_goes_on_with_the_answers_it_had(questions: int, schema: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(questions), schema], capture_output=True, check=False
    )
    assert done.returncode == 9, done.stderr.decode()
    ledger = us.Ledger()
    (job,) = ledger.account("town").jobs.values()
    assert len(job.charges) == questions and job.finished is None
    assert spent() == (1.0, 1)
    release = us.fit("town.csv", schema or None, mechanism="mst", job="night", name="town", **SETTINGS)
    (resumed,) = us.Ledger().account("town").jobs.values()
    assert [c.question for c in resumed.charges[:questions]] == [c.question for c in job.charges]
    assert spent() == (1.0, 1) and release.verify().holds and resumed.finished is not None


def test_the_paper_is_followed_to_the_letter_on_request() -> None:
    faithful = us.fit("town.csv", "town.toml", mechanism=us.MST(shrink=False), source=Seeded(1), **SETTINGS)
    shrunk = us.fit("town.csv", "town.toml", mechanism=us.MST(), source=Seeded(1), **SETTINGS)
    # The same noise, the same measurements, another fit.
    assert values(faithful) == values(shrunk)
    pair = next(m.clique for m in faithful.measurements if len(m.clique) == 2)
    assert not np.allclose(faithful.marginal(pair).counts, shrunk.marginal(pair).counts)
    assert faithful.certificate["mechanism"]["shrink"] is False


def test_a_unit_brings_no_more_records_than_declared() -> None:
    rows = pa.table({"who": ["one person"] * 5000 + [str(i) for i in range(100)], "x": [True] * 5100})
    schema = us.Schema.from_toml(
        '[table]\nname = "t"\nunit = "who"\nmax_records_per_unit = 2\n[columns.who]\ntype = "category"\n'
        'discover = true\n[columns.x]\ntype = "boolean"\n'
    )
    release = us.fit(rows, schema, epsilon=5.0, delta=1e-9)
    assert release.rows < 150 and "who" not in release.sample(5).column_names
    assert "2 records" in str(release.certificate) or release.certificate["neighbours"]["records"] == 2


def test_replacing_neighbours_are_recorded_and_verified() -> None:
    release = us.fit("town.csv", "town.toml", neighbours="replace", **SETTINGS)
    assert release.certificate["neighbours"]["relation"] == "replace" and release.verify().holds


def test_stages_have_names_a_person_understands() -> None:
    said: list[str] = []
    us.fit("town.csv", "town.toml", mechanism="mst", stage=said.append, **SETTINGS)
    wanted = ["reading the table", "calibrating the noise", "coding the records", "fitting the model"]
    assert set(wanted) <= set(said)
    assert "measuring 15 one-way marginals" in said and "measuring 14 pairs" in said
    assert [s for s in said if s.startswith("choosing")] == [f"choosing pair {i} of 14" for i in range(1, 15)]
    learned: list[str] = []
    us.fit("town.csv", None, stage=learned.append, **SETTINGS)
    assert any(s.startswith("learning the values of '") for s in learned)
    assert any(s.startswith("learning the bounds of ") for s in learned)
    assert any(s.startswith("learning the bins of ") for s in learned)


def canaries() -> pa.Table:
    """A table whose every cell is a secret of its record's own."""
    rows = 300
    return pa.table(
        {
            "text": [f"{CANARY}{i}" for i in range(rows)],
            "number": [UNSEEN + i * APART + i / 7 for i in range(rows)],
            "whole": [UNSEEN + i * APART for i in range(rows)],
        }
    )


SCHEMA = """
[table]
name = "secrets"
[columns.text]
type = "category"
values = ["a", "b"]
[columns.number]
type = "number"
min = 0
max = 1
bins = 4
[columns.whole]
type = "integer"
min = 0
max = 9
"""


@pytest.mark.parametrize("described", [True, False], ids=["with a schema", "without"])
def test_no_cell_is_found_in_anything_that_leaves(
    described: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    write(canaries(), inside / "secrets.csv")
    (outside / "s.toml").write_text(SCHEMA)
    schema = ["--schema", str(outside / "s.toml")] if described else []
    monkeypatch.chdir(outside)
    budget = ["--epsilon", "1", "--delta", "1e-9", "--ledger", "l.db"]
    told = b""
    for words in (
        ["synth", str(inside / "secrets.csv"), *schema, *budget, "-o", "out.csv", "--release", "out.release"],
        ["fit", str(inside / "secrets.csv"), *schema, *budget, "--json", "-o", "again.release"],
        ["report", "out.release", "-o", "out.html"],
        ["ledger", "secrets", "--ledger", "l.db"],
    ):
        code, said = run(*words)
        assert code == 0, said
        told += said.encode()
    told += "".join(capfd.readouterr()).encode()
    told += b"".join(file.read_bytes() for file in outside.rglob("*") if file.is_file())
    for secret in (CANARY, *(str(UNSEEN + i * APART) for i in range(300))):
        assert secret.encode() not in told
    for number in range(0, 300, 37):
        assert np.float64(UNSEEN + number * APART + number / 7).tobytes() not in told
        assert np.int64(UNSEEN + number * APART).tobytes() not in told


def test_a_seed_for_the_noise_stamps_everything_it_touches() -> None:
    budget = ["--epsilon", "1", "--delta", "1e-9", "--insecure-seed", "7"]
    code, said = run("fit", "town.csv", "--schema", "town.toml", *budget, "-o", "s.release")
    assert code == 0 and "NOT PRIVATE" in said
    code, said = run("verify", "s.release", "--json")
    assert code == 1 and json.loads(said)["private"] is False
    assert "NOT PRIVATE" in run("verify", "s.release")[1]
    run("report", "s.release", "-o", "s.html")
    assert "NOT PRIVATE" in Path("s.html").read_text()
