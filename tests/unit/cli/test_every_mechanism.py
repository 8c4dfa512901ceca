"""Every mechanism on the command line: planned, fitted, verified, sampled, reported, each time in words that fit."""

from __future__ import annotations

import json
import re

import pytest

MECHANISMS = {
    "mst": (),
    "adaptive": (),
    "aim": ("--workload", "sex,age", "--workload", "age,income=2"),
    "independent": (),
    "fixed": ("--clique", "sex,age"),
    "privsyn": (),
    "privbayes": (),
    "field-groups": ("--clique", "sex,income"),
}
BUDGET = ("--epsilon", "2", "--delta", "1e-6")


@pytest.fixture(params=MECHANISMS, name="words")
def _words(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return "--mechanism", request.param, *MECHANISMS[request.param]


def test_what_was_measured_is_said(folder, understudy, words) -> None:
    said = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, *words, "-o", "r")
    assert said.code == 0
    found = re.search(r"marginals measured: (.*); about [\d,]+ records", said.out)
    assert found and re.fullmatch(r"\d+ \d-way(, \d+ \d-way)*", found[1])
    assert re.search(r"\bthe claim holds\b", understudy("verify", "r").out)
    assert understudy("sample", "r", "-n", "30", "-o", "s.csv").code == 0
    assert len((folder / "s.csv").read_text().splitlines()) == 31
    assert understudy("report", "r", "-o", "r.html").code == 0
    shown = (folder / "r.html").read_text()
    orders = sum(int(part.split()[0]) for part in found[1].split(", "))
    assert f"{orders} marginals" in shown
    assert ('data-ends="' in shown) is ("2-way" in found[1])  # columns that were counted together are joined


def test_what_will_be_measured_is_planned(folder, understudy, words) -> None:
    said = understudy("plan", "people.toml", "--rows", "400", *BUDGET, *words, "--json")
    plan = json.loads(said.out)
    assert plan["marginals"] and plan["cells"] >= max(m["cells"] for m in plan["marginals"][-1:])
    assert {name for m in plan["marginals"] for name in m["columns"]} == {"sex", "age", "income"}
    assert all(0 < m["expected_error"] <= 1 for m in plan["marginals"])
    told = understudy("plan", "people.toml", *BUDGET, *words).out
    assert "no row figure" in told and "are read never" not in told


def test_groups_of_columns_are_counted_together_and_say_so(folder, understudy) -> None:
    words = ("--mechanism", "field-groups", "--clique", "sex,income")
    fitted = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, *words, "-o", "r", "--json")
    assert json.loads(fitted.out)["marginals"] == {"1-way": 1, "2-way": 1}
    planned = json.loads(understudy("plan", "people.toml", *BUDGET, *words, "--json").out)
    assert [m["columns"] for m in planned["marginals"]] == [["sex", "income"], ["age"]]
    assert planned["scans"]["codes"] == 3 and not planned["advice"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--mechanism", "field-groups"), "--clique"),
        (("--mechanism", "privbayes", "--clique", "sex,age"), "takes none"),
        (("--mechanism", "privsyn", "--public", "people.csv"), "takes none"),
        (("--mechanism", "field-groups", "--clique", "sex,age", "--clique", "age,income"), "two groups"),
        (("--mechanism", "field-groups", "--clique", "sex,height"), "'height'"),
    ],
)
def test_a_rival_that_cannot_run_says_what_to_type(folder, understudy, words, hint) -> None:
    said = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, *words, "-o", "r")
    assert said.code == 2 and hint in said.err
    assert not (folder / "r").exists()


def test_a_public_table_needs_codes_that_are_known(folder, understudy) -> None:
    schema = (folder / "people.toml").read_text().replace("max = 99\n", "")
    (folder / "open.toml").write_text(schema)
    for mechanism in ("nist-mst", "field-groups", "adaptive"):
        words = ("--mechanism", mechanism, "--public", "people.csv")
        said = understudy("fit", "people.csv", "--schema", "open.toml", *BUDGET, *words, "-o", "r")
        assert said.code == 2 and "complete schema" in said.err and "age" in said.err


def test_a_model_begins_at_a_public_table(folder, understudy) -> None:
    words = ("--mechanism", "adaptive", "--public", "people.csv")
    said = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, *words, "-o", "r")
    assert said.code == 0 and re.search(r"\bthe claim holds\b", understudy("verify", "r").out)
    planned = json.loads(understudy("plan", "people.toml", *BUDGET, *words, "--json").out)
    assert {"public", "independence"} <= {group["name"] for group in planned["groups"]}


def test_groups_are_found_on_a_public_table(folder, understudy) -> None:
    words = ("--mechanism", "field-groups", "--public", "people.csv")
    said = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, *words, "-o", "r")
    assert said.code == 0 and "marginals measured: " in said.out
