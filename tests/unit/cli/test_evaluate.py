"""`understudy evaluate` from the command line: files in, a table, a page and figures out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CANARY = "XCANARYX"


@pytest.fixture
def synthetic(folder: Path) -> Path:
    """A table like the real one, in another order, with one value that nobody knows and one column more."""
    rows = [f"{i % 5 * 1000.5},{i % 80},{'MF'[i % 3 % 2]},{i}" for i in range(299)]
    (folder / "synthetic.csv").write_text(
        "income,age,sex,extra\n" + "\n".join([*rows, f"1,2,{CANARY},3"]) + "\n"
    )
    return folder


def test_two_files_give_a_table_a_page_and_figures(synthetic, understudy) -> None:
    words = ("--schema", "people.toml", "-o", "page.html", "--json", "figures.json", "--target", "sex")
    said = understudy("evaluate", "people.csv", "synthetic.csv", *words)
    assert said.code == 0 and said.out.startswith("CONFIDENTIAL")
    assert "400 real and 300 synthetic records, 3 columns" in said.out
    for part in ("2-way total variation", "bootstrap", "sex by tree: accuracy", "columns farthest apart"):
        assert part in said.out
    assert "1 synthetic record holds a value unknown" in said.out and "synthetic table: extra." in said.out
    assert "CONFIDENTIAL" in Path("page.html").read_text()
    figures = json.loads(Path("figures.json").read_text())
    assert figures["rows"] == {"real": 400, "synthetic": 300}
    assert figures["records_with_unknown_values"] == {"real": 0, "synthetic": 1}
    assert {"name", "better", "synthetic", "bootstrap", "independent", "uniform"} <= set(
        figures["measures"][0]
    )


def test_a_value_of_a_record_is_neither_printed_nor_logged(synthetic, understudy) -> None:
    for words in ((), ("--schema", "people.toml")):
        said = understudy("evaluate", "people.csv", "synthetic.csv", *words)
        assert said.code == 0 and CANARY not in said.out + said.err


def test_the_same_seed_gives_the_same_figures_and_another_does_not(synthetic, understudy) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        understudy("evaluate", "people.csv", "synthetic.csv", "--seed", seed, "--json", f"{name}.json")
    a, b, c = (json.loads(Path(f"{name}.json").read_text())["measures"] for name in "abc")
    assert a == b != c


def test_tests_of_the_contest_are_drawn_once_and_then_kept(synthetic, understudy) -> None:
    roles = ("--sex", "sex", "--city", "age", "--wage", "income")
    words = ("evaluate", "people.csv", "synthetic.csv", "--contest-tests", "tests.json")
    first = understudy(*words, *roles)
    kept = Path("tests.json").read_bytes()
    second = understudy(*words)
    assert (first.code, second.code) == (0, 0) and Path("tests.json").read_bytes() == kept
    assert "Drew" in first.out and "income by city" in first.out
    assert "Scored by the tests" in second.out and "income by city" not in second.out


def test_a_text_that_looks_like_a_number_stays_the_text_that_it_is(folder, understudy) -> None:
    (folder / "a.csv").write_text("code\n" + "01\n2A\n" * 20)
    (folder / "b.csv").write_text("code\n" + "01\n01\n" * 20)
    understudy("evaluate", "a.csv", "b.csv", "--json", "figures.json")
    assert json.loads(Path("figures.json").read_text())["columns"][0]["total_variation"] == 0.5


REFUSED = {
    "no real file": (("nope.csv", "synthetic.csv"), 1, "nope.csv"),
    "no synthetic file": (("people.csv", "nope.csv"), 1, "nope.csv"),
    "no records": (("people.csv", "empty.csv"), 2, "the synthetic table has no records"),
    "nothing in common": (("people.csv", "other.csv"), 2, "no column in common"),
    "a schema's column is gone": (
        ("people.csv", "other.csv", "--schema", "people.toml"),
        2,
        "the synthetic table has no column 'sex'",
    ),
    "an unknown target": (("people.csv", "synthetic.csv", "--target", "nope"), 2, "target 'nope'"),
    "a role without tests": (("people.csv", "synthetic.csv", "--sex", "sex"), 2, "--contest-tests"),
    "one role of three": (
        ("people.csv", "synthetic.csv", "--contest-tests", "t.json", "--sex", "sex"),
        2,
        "--wage",
    ),
    "a role that is no column": (
        (
            "people.csv",
            "synthetic.csv",
            *["--contest-tests", "t.json", "--sex", "a", "--city", "age", "--wage", "income"],
        ),
        2,
        "column 'a'",
    ),
    "a role given twice": (
        ("people.csv", "synthetic.csv", "--contest-tests=t.json", "--sex=sex", "--city=age", "--wage=sex"),
        2,
        "name a column twice",
    ),
    "a page over the data": (("people.csv", "synthetic.csv", "-o", "people.csv"), 2, "is the table"),
    "nowhere to write": (("people.csv", "synthetic.csv", "-o", "nowhere/page.html"), 1, "nowhere"),
}


@pytest.mark.parametrize(("words", "code", "named"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_evaluated_is_refused_by_name(synthetic, understudy, words, code, named) -> None:
    (synthetic / "empty.csv").write_text("sex,age,income\n")
    (synthetic / "other.csv").write_text("x,y\n1,2\n")
    said = understudy("evaluate", *words)
    assert (said.code, named in said.err, said.out) == (code, True, "")
    assert not (synthetic / "t.json").exists()


def test_help_does_not_wait_for_the_measures() -> None:
    code = (
        "import sys; from understudy.cli import understudy;"
        "understudy(['evaluate', '--help'], standalone_mode=False);"
        "sys.exit(bool({'numba', 'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
