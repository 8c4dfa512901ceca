"""A run is charged once, whatever happens on the way; what comes of it can be looked at, taken away, made again."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from studio_visit import CANARY, ORIGIN, Visit

import patience
from understudy.studio.workspace import ChosenTable, Run, new_id

WAIT = patience.SECONDS
STATED = """
[table]
name = "folk"
rows = 400
[columns.sex]
type = "category"
values = ["M", "F"]
[columns.age]
type = "integer"
min = 0
max = 99
[columns.income]
type = "number"
min = 0
max = 10_000
bins = 10
"""


def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    ends = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)


def stated(studio: Visit) -> ChosenTable:
    table = studio.table()
    studio.post(f"/tables/{table.id}/text", toml=STATED)
    return table


def spend(studio: Visit, table: ChosenTable, name: str) -> Run:
    studio.post(
        f"/tables/{table.id}/spend",
        run=name,
        epsilon="1",
        delta="1e-9",
        mechanism="independent",
        agreed="yes",
    )
    return studio.here.run(name)


def jobs(table: ChosenTable) -> int:
    return len(table.ledger.account("folk").jobs)


def test_a_run_from_the_form_to_what_is_taken_away(studio: Visit, tmp_path: Path) -> None:
    """One run, all of whose ends are looked at: a fit is slow, so there is one for all of this."""
    table = stated(studio)
    asked = f"/tables/{table.id}/spend"
    confirm = studio.get(f"{asked}?epsilon=1&delta=1e-9&mechanism=independent")
    assert "Charge epsilon 1 and delta 1e-09" in confirm
    unsure = {"run": new_id(), "epsilon": "1", "delta": "1e-9"}
    assert studio.client.post(asked, data=unsure, headers={"origin": ORIGIN}).status_code == 400
    assert not studio.here.runs()

    run = spend(studio, table, new_id())
    spend(studio, table, run.id)  # the form is sent twice: a double click, a reload
    with studio.client.stream("GET", f"/runs/{run.id}/events") as told:
        said = "".join(told.iter_text())
    assert "event: progress" in said and "event: over" in said and "See the result" in said
    until(lambda: run.state != "running")
    assert run.state == "done", run.outcome
    assert [each.id for each in studio.here.runs()] == [run.id]
    assert jobs(table) == 1
    assert not run.start(), "what is done is not done again"

    pages = [studio.get(address) for address in ("/", f"/runs/{run.id}", "/ledger", f"/runs/{run.id}/report")]
    pages += [
        said,
        *(line.read_text() for line in run.folder.glob("*.json*") if line.name != "settings.json"),
    ]
    assert all(CANARY not in page for page in pages)
    assert "charged this run <b>once</b>" in said and "holds" in pages[1]

    _filters(studio, run)
    _samples(studio, run)
    _downloads(studio, run, tmp_path)
    assert jobs(table) == 1
    _compares(studio, run)


def _filters(studio: Visit, run: Run) -> None:
    asked = {"column": "sex", "operator": "is", "value": "M", "order": "age", "falling": "yes"}
    page = studio.post(f"/runs/{run.id}/rows", **asked)
    drawn = pyarrow.parquet.read_table(run.synthetic_path)
    men = [row for row in drawn.to_pylist() if row["sex"] == "M"]
    assert f"1 to 25 of {len(men)}" in page and "<td>F</td>" not in page
    assert f"<td>{max(row['age'] for row in men if row['age'] is not None)}</td>" in page
    assert f"26 to 50 of {len(men)}" in studio.post(f"/runs/{run.id}/rows", **asked, page="1")
    assert "No record is like that" in studio.post(
        f"/runs/{run.id}/rows", column="sex", value="'; DROP TABLE x"
    )
    wrong = studio.client.post(
        f"/runs/{run.id}/rows", data={"column": 'sex" OR 1=1'}, headers={"origin": ORIGIN}
    )
    assert wrong.status_code == 400


def _samples(studio: Visit, run: Run) -> None:
    headers, address = {"origin": ORIGIN}, f"/runs/{run.id}/sample"
    wanted = {"rows": "30", "where": "sex = 'F' and age >= 50", "kind": "csv"}
    found = studio.client.post(address, data=wanted, headers=headers)
    assert "attachment" in found.headers["content-disposition"]
    table = pyarrow.csv.read_csv(io.BytesIO(found.content))
    assert (
        table.num_rows == 30
        and set(table["sex"].to_pylist()) == {"F"}
        and min(table["age"].to_pylist()) >= 50
    )
    packed = studio.client.post(address, data={"rows": "7", "kind": "parquet"}, headers=headers).content
    assert pyarrow.parquet.read_table(io.BytesIO(packed)).num_rows == 7
    for wrong in ({"where": "nothing = 1"}, {"rows": "-1"}, {"rows": "many"}, {"kind": "exe"}):
        assert studio.client.post(address, data=wrong, headers=headers).status_code == 400
    assert not list(run.folder.glob("sample-*")), "nothing is left behind"


def _downloads(studio: Visit, run: Run, folder: Path) -> None:
    for what in ("release", "report", "schema", "script", "notebook"):
        found = studio.client.get(f"/runs/{run.id}/download/{what}")
        assert found.status_code == 200 and "attachment" in found.headers["content-disposition"]
    script = studio.get(f"/runs/{run.id}/download/script")
    cells = json.loads(studio.get(f"/runs/{run.id}/download/notebook"))["cells"]
    assert all("".join(cell["source"]) in script for cell in cells if cell["cell_type"] == "code")
    again = f"{script}\nimport pyarrow.parquet\npyarrow.parquet.write_table(synthetic, 'again.parquet')\n"
    subprocess.run([sys.executable, "-"], input=again, text=True, cwd=folder, check=True, timeout=WAIT)
    made = pyarrow.parquet.read_table(folder / "again.parquet")
    assert made.to_pylist() == pyarrow.parquet.read_table(run.synthetic_path).to_pylist()


def _compares(studio: Visit, run: Run) -> None:
    assert studio.client.get(f"/runs/{run.id}/comparison/page").status_code == 400
    assert "Confidential" in studio.post(f"/runs/{run.id}/comparison")
    until(lambda: run.comparison.state != "running")
    assert run.comparison.state == "done", run.comparison.outcome
    page = studio.client.get(f"/runs/{run.id}/comparison/page")
    assert page.status_code == 200 and "confidential" in page.text.lower()
    path = run.comparison.folder / "confidential.html"
    assert path.stat().st_mode & 0o077 == 0


def test_a_killed_run_goes_on_and_is_charged_once(studio: Visit) -> None:
    table = stated(studio)
    run = spend(studio, table, new_id())
    until(lambda: jobs(table) == 1)
    os.killpg(json.loads((run.folder / "process.json").read_text())["pid"], signal.SIGKILL)
    until(lambda: run.state != "running")
    if run.state == "stopped":  # unless it was quicker
        page = studio.get(f"/runs/{run.id}")
        assert "nothing more is charged" in page and "Go on" in page
    studio.post(f"/runs/{run.id}/resume")
    studio.post(f"/runs/{run.id}/resume")
    until(lambda: run.state != "running")
    assert run.state == "done", run.outcome
    assert jobs(table) == 1


def test_a_cancelled_run_is_told_what_was_charged(studio: Visit) -> None:
    table = stated(studio)
    run = spend(studio, table, new_id())
    studio.post(f"/runs/{run.id}/cancel")
    assert run.state in ("stopped", "done")
    charged = jobs(table)
    page = studio.get(f"/runs/{run.id}")
    assert (
        run.state == "done" or ("nothing more is charged" if charged else "Nothing was charged yet") in page
    )
    studio.post(f"/runs/{run.id}/cancel")  # once more: there is nothing to end


def test_a_run_that_is_refused_says_why_and_charges_nothing(studio: Visit) -> None:
    table = stated(studio)
    table.ledger.set_limit("folk", 0.5, 1e-6)
    run = spend(studio, table, new_id())
    until(lambda: run.state != "running")
    page = studio.get(f"/runs/{run.id}")
    assert run.state == "failed" and "0.5 left of its limit" in page and "charged nothing" in page
    assert jobs(table) == 0


def test_settings_of_a_run_are_not_on_its_command_line(studio: Visit) -> None:
    """What every user of the machine can read in the list of processes holds no path of data and no label."""
    run = spend(studio, stated(studio), new_id())
    pid = json.loads((run.folder / "process.json").read_text())["pid"]
    words = Path(f"/proc/{pid}/cmdline")
    if not words.exists():
        pytest.skip("no /proc here")
    assert b"people.csv" not in words.read_bytes()
    studio.post(f"/runs/{run.id}/cancel")
