"""The accuracy command on a tiny table: cells are played once, kept, and played again when their code has changed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

cells = pytest.importorskip("benchmarks.accuracy.cells", reason="benchmarks/ is not beside the tests")
from benchmarks.accuracy import __main__ as command  # noqa: E402
from benchmarks.accuracy.cells import Cell, Outcome, Store  # noqa: E402
from benchmarks.accuracy.scores import errors  # noqa: E402
from benchmarks.accuracy.tables import excesses, summaries  # noqa: E402

FOUND = Outcome(0.25, 0.5, 1.0, 1.0, 100.0, 0.5, 600.0, "0.1", "")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shared data with one tiny set."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 400)
    columns = np.stack([first, (first + rng.integers(0, 2, 400)) % 3, rng.integers(0, 2, 400)], axis=1)
    home = tmp_path / "data/tiny"
    home.mkdir(parents=True)
    np.savetxt(home / "tiny.csv", columns, fmt="%d", delimiter=",", header="a,b,c", comments="")
    (home / "tiny-domain.json").write_text(json.dumps({"a": 3, "b": 3, "c": 2}))
    monkeypatch.setenv("UNDERSTUDY_SHARED", str(tmp_path))
    return tmp_path


def test_cells_are_played_once_and_printed(folder: Path, capsys, monkeypatch) -> None:
    words = ["--sets", "tiny", "--epsilons", "1", "--systems", "independent", "--runs", "1"]
    words += ["--cache", str(folder / "cache")]
    assert command.main(words) == 0
    fresh = capsys.readouterr()
    assert "tiny epsilon 1 independent run 0:" in fresh.err
    monkeypatch.setattr(command, "play_ours", None)  # a second call has nothing to play
    assert command.main(words) == 0
    assert capsys.readouterr().out == fresh.out
    (outcome,) = Store(folder / "cache").played().values()
    assert 0 < outcome.pairs < outcome.triples < 1
    assert "src/understudy/mechanisms/independent.py" in _listed(folder / "cache")
    assert not [name for name in _listed(folder / "cache") if "adaptive" in name]


def _listed(cache: Path) -> list[str]:
    (listing,) = (cache / "code").iterdir()
    return list(json.loads(listing.read_text()))


def test_a_cell_is_stale_once_a_file_that_played_it_has_changed(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("tiny", 1.0, "mst", 0)
    same = cells.digest_of(cells.ROOT / "pyproject.toml")
    now = replace(FOUND, code=store.put_code({"pyproject.toml": same}), pairs=0.1)
    old = replace(FOUND, code=store.put_code({"pyproject.toml": "other"}))
    store.put(cell, now)
    store.put(cell, old)
    store.put(replace(cell, run=1), old)
    assert store.played() == {cell: now}
    assert store.played(stale=True) == {cell: now, replace(cell, run=1): old}


def test_a_line_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("tiny", 1.0, "mst", 0)
    store.put(cell, replace(FOUND, code=store.put_code({})))
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"cell": {"data": "ti')
    assert list(store.played()) == [cell]


def test_means_and_their_errors_are_those_of_the_runs() -> None:
    played = {Cell("t", 1.0, "mst", run): replace(FOUND, pairs=0.1 + 0.1 * run) for run in range(2)}
    played[Cell("t", 1.0, "mst", 2)] = replace(FOUND, pairs=None, triples=None, failed="not finished")
    found = summaries(played)["t", "mst", 1.0]
    assert (found.runs, found.pairs, found.pairs_se) == (2, pytest.approx(0.15), pytest.approx(0.05))


def test_an_excess_is_bounded_from_runs_on_the_same_records() -> None:
    played = {}
    for run in range(30):
        base = 0.5 + 0.01 * run  # records differ from run to run, systems on the same ones hardly
        played[Cell("t", 1.0, "independent", run, 100)] = replace(FOUND, pairs=base)
        played[Cell("t", 1.0, "adaptive", run, 100)] = replace(FOUND, pairs=base * 1.01 + 0.001 * (run % 2))
    pairs, _ = excesses(played, "adaptive")["t", 100, 1.0]
    assert pairs.runs == 30
    assert 0.01 < pairs.mean < pairs.bound < 0.013


def test_records_that_are_the_real_ones_have_no_error_and_strange_values_all_of_it() -> None:
    real = {name: np.arange(12) % (2 + place) for place, name in enumerate("abcd")}
    assert errors(real, real).pairs == errors(real, real).triples == 0
    assert errors(real, {name: column + 9 for name, column in real.items()}).pairs == 1
