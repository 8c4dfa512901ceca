"""A wheel of somebody else's adds a mechanism, a column type and a source, and every command takes them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from wheels import SRC, Said, commands, make_wheel, run

POINTS = {
    "understudy.mechanisms": "first_pairs:KIND",
    "understudy.columns": "grade:Grade",
    "understudy.sources": "lines:KIND",
}
BUDGET = "--epsilon 1 --delta 1e-6 --mechanism first-pairs --pairs 2"
LINES = {
    "help": "fit --help",
    "plan": f"plan marks.toml --rows 400 {BUDGET} --json",
    "fit": f"fit people.csv --schema marks.toml {BUDGET} -o people.understudy --json",
    "synth": f"synth people.csv --schema marks.toml {BUDGET} -o synthetic.csv --json",
    "audit": "audit --help",
    "schema": "schema lines:people.jsonl -o drafted.toml",
    "fit a source": f"fit lines:people.jsonl --schema marks.toml {BUDGET} -o lines.understudy --json",
    "synth a source": f"synth lines:people.jsonl --schema marks.toml {BUDGET} -o lines.csv --json",
    "ledger": "ledger lines:people.jsonl --json",
}


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    return make_wheel(folder, "somebody", POINTS)


@pytest.fixture(scope="module")
def said(folder: Path, wheel: Path) -> dict[str, Said]:
    """What each command answers where the wheel is installed."""
    return dict(zip(LINES, commands(*LINES.values(), folder=folder, path=[SRC, wheel]), strict=True))


def test_every_command_takes_what_the_wheel_adds(said: dict[str, Said]) -> None:
    assert {name: (answer.code, answer.err) for name, answer in said.items() if answer.code} == {}


def test_help_lists_the_mechanism_and_its_option(said: dict[str, Said]) -> None:
    for command in ("help", "audit"):
        words = " ".join(said[command].out.split()).replace("first- pairs", "first-pairs")  # at a line's end
        assert "first-pairs, columns alone, and some neighbours" in words
        assert "--pairs INTEGER first-pairs: how many." in words


def test_plan_lists_each_question_once(said: dict[str, Said]) -> None:
    planned = json.loads(said["plan"].out)
    listed = [tuple(row["columns"]) for row in planned["marginals"]]
    assert sorted(listed) == sorted([("sex",), ("age",), ("mark",), ("sex", "age"), ("age", "mark")])


def test_fit_measures_what_the_option_says(said: dict[str, Said]) -> None:
    summary = json.loads(said["fit"].out)
    assert summary["mechanism"] == "first-pairs"
    assert summary["marginals"] == {"1-way": 3, "2-way": 2}
    assert [stage["stage"] for stage in summary["spent"]] == ["alone", "together", "check"]


def test_synthetic_records_hold_the_values_of_its_column_type(folder: Path, said: dict[str, Said]) -> None:
    with open(folder / "synthetic.csv", newline="") as file:
        marks = {record["mark"] for record in csv.DictReader(file)}
    assert marks <= set("ABCDEF") | {""} and len(marks) > 3


def test_a_source_is_fitted_like_the_same_records_in_a_file(folder: Path, said: dict[str, Said]) -> None:
    of_file, of_source = (json.loads(said[command].out) for command in ("fit", "fit a source"))
    assert of_source["marginals"] == of_file["marginals"]
    assert of_source["spent"] == of_file["spent"]
    assert abs(of_source["estimated_rows"] - 400) < 200
    assert (folder / "lines.csv").read_text().startswith("sex,age,mark\n")


def test_a_source_is_drafted_and_known_to_the_ledger(folder: Path, said: dict[str, Said]) -> None:
    assert "[columns.mark]" in (folder / "drafted.toml").read_text()
    assert "people" in said["ledger"].out


@pytest.mark.usefixtures("said")
def test_release_is_opened_sampled_reported_and_verified_elsewhere(folder: Path, wheel: Path) -> None:
    verified, reported, sampled, compared = commands(
        "verify people.understudy",
        "report people.understudy -o people.html",
        "sample people.understudy -o sample.csv --rows 50",
        "evaluate lines:people.jsonl synthetic.csv --schema marks.toml",
        folder=folder,
        path=[SRC, wheel],
    )
    assert verified.code == 0 and "the claim holds" in verified.out
    assert reported.code == 0 and "first-pairs" in (folder / "people.html").read_text()
    assert sampled.code == 0 and len((folder / "sample.csv").read_text().splitlines()) == 51
    assert compared.code == 0, compared.err


@pytest.mark.usefixtures("said")
def test_release_without_the_package_names_what_it_lacks(folder: Path) -> None:
    verified, refused = commands(
        "verify people.understudy", f"plan people.toml {BUDGET}", folder=folder, path=[SRC]
    )
    assert verified.code == 1 and "'grade'" in verified.err
    assert refused.code == 2 and "first-pairs" not in refused.out


def test_two_packages_with_one_mechanism_are_told(folder: Path, wheel: Path) -> None:
    twin = make_wheel(folder, "twin", POINTS)
    script = "from understudy.mechanisms.registry import kinds; kinds()"
    done = run(script, folder=folder, path=[SRC, wheel, twin])
    assert "two packages offer a mechanism 'first-pairs'" in done.stderr


@pytest.mark.parametrize("group", POINTS)
def test_a_broken_package_is_named(folder: Path, group: str) -> None:
    broken = make_wheel(folder, "broken", {group: "nowhere:KIND"})
    (said,) = commands(
        "fit people.csv --schema people.toml --epsilon 1 --delta 1e-6 -o x.understudy",
        folder=folder,
        path=[SRC, broken],
    )
    assert said.code == 2 and "the plug-in 'broken.nowhere:KIND' cannot be loaded" in said.err
