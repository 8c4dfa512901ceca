"""The accuracy command on a tiny table: cells are played once, kept, and played again when their code has changed."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

cells = pytest.importorskip("benchmarks.accuracy.cells", reason="benchmarks/ is not beside the tests")
from benchmarks.accuracy import __main__ as command  # noqa: E402
from benchmarks.accuracy import page, rivals, targets  # noqa: E402
from benchmarks.accuracy.cells import Cell, Outcome, Store  # noqa: E402
from benchmarks.accuracy.scores import errors  # noqa: E402
from benchmarks.accuracy.systems import NEW  # noqa: E402
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
    words += [
        "--cache",
        str(folder / "cache"),
        "--out",
        str(folder / "page.md"),
        "--kept",
        str(folder / "none"),
    ]
    assert command.main(words) == 0
    fresh = capsys.readouterr()
    assert not (folder / "page.md").exists()  # a part of the cells makes no page
    assert "tiny epsilon 1 independent run 0:" in fresh.err
    monkeypatch.setattr(command, "play_ours", None)  # a second call has nothing to play
    assert command.main(words) == 0
    assert capsys.readouterr().out == fresh.out
    (outcome,) = Store(folder / "cache").played().values()
    assert 0 < outcome.pairs < outcome.triples < 1
    assert "src/understudy/mechanisms/independent.py" in _listed(folder / "cache")
    assert not [name for name in _listed(folder / "cache") if name.endswith("adaptive.py")]
    assert command.main([*words, "--page"]) == 0
    said = (folder / "page.md").read_text()
    shown = f"{outcome.pairs:.4f} / {outcome.triples:.4f}".replace("0.", ".")
    assert f"| independent |  | {shown} |" in said
    assert (folder / "page-tiny.svg").read_text().count("<circle") == 2 * 1 + 1  # two panels and the legend


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
    store.put(replace(cell, epsilon=10.0), old)
    assert store.played() == {cell: now}
    assert store.played(stale=True) == {cell: now, replace(cell, epsilon=10.0): old}  # runs are not mixed


def test_a_line_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("tiny", 1.0, "mst", 0)
    found = replace(
        FOUND, code=store.put_code({"pyproject.toml": cells.digest_of(cells.ROOT / "pyproject.toml")})
    )
    store.put(cell, found)
    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"cell": {"data": "ti')
    store.put(replace(cell, run=1), found)
    assert list(store.played()) == [cell, replace(cell, run=1)]


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


def _store(tmp_path: Path, errors_of: dict[str, float | None]) -> Store:
    store = Store(tmp_path / "cache")
    code = store.put_code({"pyproject.toml": cells.digest_of(cells.ROOT / "pyproject.toml")})
    for system, error in errors_of.items():
        said = replace(FOUND, code=code, pairs=error, triples=error, version="mbi 2.0")
        store.put(
            Cell("adult", 1.0, system, 0), said if error else replace(said, failed="not finished in 600 s")
        )
    return store


@pytest.mark.parametrize(("peer", "verdict"), [(0.02, "**not met**"), (0.04, "met")])
def test_the_page_says_where_a_peer_is_ahead(tmp_path: Path, peer: float, verdict: str) -> None:
    store = _store(tmp_path, {NEW: 0.03, "mst": 0.05, "mbi MST": peer, "dpmm AIM": None})
    page.write(store, tmp_path / "accuracy.md", ["adult"])
    said = (tmp_path / "accuracy.md").read_text()
    assert f"- {verdict}: {NEW} is below every peer" in said
    assert ("- mbi MST on adult at 1: 0.0200 / 0.0200" in said) == (peer < 0.03)
    assert "- dpmm AIM on adult at 1: not finished in 600 s" in said
    assert "Versions: mbi 2.0. Played:\n\n- mbi MST: adult at 1\n" in said
    assert "Not played anywhere yet: dpmm MST, " in said
    assert "| dpmm AIM |  | not finished |  |" in said


def test_a_target_is_met_missed_or_open(tmp_path: Path) -> None:
    for error, verdict in ((0.03, "open"), (0.5, "**not met**")):
        found = summaries(_store(tmp_path / verdict, {NEW: error}).played())
        assert f"- {verdict}: adult: " in targets.section(found, {}, {})


def test_cells_of_peers_travel_with_the_code_that_played_them(tmp_path: Path) -> None:
    here = replace(_store(tmp_path, {"mbi MST": 0.1, "mst": 0.2}), kept=tmp_path / "peers.jsonl")
    here.keep(rivals.PEERS)
    there = Store(tmp_path / "elsewhere", tmp_path / "peers.jsonl")
    assert [cell.system for cell in there.played()] == ["mbi MST"]


def test_a_peer_is_run_on_files_and_stopped_at_its_limit(folder: Path, monkeypatch) -> None:
    """A stand-in for a peer: it copies the table it was given, or never ends."""
    script = "import shutil, sys, time\nshutil.copy(sys.argv[2], sys.argv[4])\n"
    (folder / "coded_files.py").write_text("")
    (folder / "good.py").write_text(script)
    (folder / "slow.py").write_text(script + "time.sleep(60)\n")
    (folder / "bad.py").write_text("raise SystemExit('no luck')\n")
    monkeypatch.setattr(rivals, "SCRIPTS", folder)
    monkeypatch.setattr(rivals, "ROOT", folder)
    monkeypatch.setenv("UNDERSTUDY_PEER_PIP", sys.executable)
    peers = {
        f"peer {word}": rivals.Peer("pip", "pip", f"{word}.py", "MST") for word in ("good", "slow", "bad")
    }
    monkeypatch.setattr(rivals, "PEERS", peers)
    monkeypatch.setattr(rivals, "PATIENCE", 1)
    limits = dict.fromkeys(peers, 600.0) | {"peer slow": 1.5}
    found = {
        word: rivals.play_peer(Cell("tiny", 1.0, word, 0), Store(folder), limit)
        for word, limit in limits.items()
    }
    assert found["peer good"].pairs == 0 and found["peer good"].version.startswith("pip ")
    assert found["peer slow"].failed.startswith("not finished in ")
    assert found["peer bad"].failed == "no luck"
