"""CONTRIBUTING.md's table is true: each thing is added where its row says, in a copy of the house, and works.

Nothing but the places that a row names is touched; a place that the row leaves out is refused here.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from wheels import ATELIER, SRC, Said, commands, run

ROOT = Path(__file__).parents[2]
BUDGET = "--epsilon 1 --delta 1e-6"

HELLO = '''"""`understudy hello`: as simple as a command gets."""

import click


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Greet somebody."""
    click.echo(f"hello, {name}")
'''


class Row(NamedTuple):
    """A row of the table: what somebody wants to add, and the files that it takes, `<name>` for any name."""

    thing: str
    write: list[str]
    register: list[str]


def table() -> dict[str, Row]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (an? [^|]*?) \|([^|]*)\|([^|]*)\|", text, re.M)
    return {thing: Row(thing, _paths(write), _paths(register)) for thing, write, register in rows}


def _paths(cell: str) -> list[str]:
    return re.findall(r"`([\w<>/]+\.py)`", cell)


class House:
    """A copy of the sources, to which things are added by the rows of the table."""

    def __init__(self, src: Path, folder: Path) -> None:
        self.src, self.folder = src, folder

    def add(self, thing: str, new: dict[str, str], lines: dict[str, dict[str, str]]) -> None:
        """Write new files, and after a line of a register write another, all of them where the row says."""
        row = table()[thing]
        home = self.src / "understudy"
        for path, text in new.items():
            assert any(re.fullmatch(place.replace("<name>", r"\w+"), path) for place in row.write), path
            assert not (home / path).exists()
            (home / path).write_text(text)
        for path, added in lines.items():
            assert path in row.register
            for before, line in added.items():
                text = (home / path).read_text()
                assert text.count(before) == 1, f"{path} has no one place {before!r}"
                (home / path).write_text(text.replace(before, f"{before}\n{line}\n"))

    def typed(self, *lines: str) -> list[Said]:
        """What each command answers in this house; all of them must go well."""
        answers = commands(*lines, folder=self.folder, path=[self.src])
        assert {line: said.err for line, said in zip(lines, answers, strict=True) if said.code} == {}
        return answers


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> House:
    """One copy for all rows, compiled kernels included: things that are added do not get in each other's way."""
    src = tmp_path_factory.mktemp("house") / "src"
    shutil.copytree(SRC, src, ignore=shutil.ignore_patterns("*.nbi.tmp*", "*.nbc.tmp*"))
    return House(src, folder)


def test_every_row_of_the_table_is_executed_here() -> None:
    assert set(table()) == {
        "a mechanism",
        "a source",
        "a column type",
        "a command",
        "a question to the records",
    }


def test_every_place_that_the_table_names_is_there() -> None:
    for row in table().values():
        for place in row.register:
            assert (SRC / "understudy" / place).is_file(), place
        for place in row.write:
            assert (SRC / "understudy" / place).parent.is_dir(), place


def test_a_mechanism_is_a_file_and_a_line(house: House) -> None:
    house.add(
        "a mechanism",
        {"mechanisms/first_pairs.py": (ATELIER / "first_pairs.py").read_text()},
        {
            "mechanisms/registry.py": {
                "BUILT_IN = (": '    MechanismKind("first-pairs", "understudy.mechanisms.first_pairs:FirstPairs",'
                ' "some neighbours", (Setting("pairs", "pairs", "integer", "how many"),)),'
            }
        },
    )
    chosen = f"{BUDGET} --mechanism first-pairs --pairs 1"
    told, planned, fitted, verified = house.typed(
        "fit --help",
        f"plan people.toml {chosen} --json",
        f"fit people.csv --schema people.toml {chosen} -o pairs.understudy --json",
        "verify pairs.understudy",
    )
    assert "first-pairs: how many." in told.out
    assert len(json.loads(planned.out)["marginals"]) == 3
    assert json.loads(fitted.out)["marginals"] == {"1-way": 2, "2-way": 1}
    assert "the claim holds" in verified.out


def test_a_source_is_a_file_and_a_line(house: House) -> None:
    house.add(
        "a source",
        {"pipeline/sources/lines.py": (ATELIER / "lines.py").read_text()},
        {
            "pipeline/sources/registry.py": {
                "BUILT_IN = (": '    SourceKind("lines", "understudy.pipeline.sources.lines:LinesSource",'
                ' "lines of JSON", ("lines:",)),'
            }
        },
    )
    house.typed(
        "schema lines:people.jsonl -o drafted.toml",
        f"fit lines:people.jsonl --schema people.toml {BUDGET} -o lines.understudy",
        f"synth lines:people.jsonl --schema people.toml {BUDGET} -o lines.csv",
        "evaluate lines:people.jsonl lines.csv --schema people.toml",
        "ledger lines:people.jsonl",
    )


def test_a_column_type_is_a_file_and_a_line(house: House) -> None:
    house.add(
        "a column type",
        {"domain/columns/grade.py": (ATELIER / "grade.py").read_text()},
        {
            "domain/columns/registry.py": {
                "import annotations": "from understudy.domain.columns.grade import Grade",
                "BUILT_IN: tuple[type[Column], ...] = (": "Grade,",
            }
        },
    )
    _, drawn, _, compared = house.typed(
        f"fit people.csv --schema marks.toml {BUDGET} -o marks.understudy",
        "sample marks.understudy -o drawn.csv --rows 30",
        "report marks.understudy -o marks.html",
        "evaluate people.csv drawn.csv --schema marks.toml",
    )
    assert "30 synthetic records" in drawn.out
    assert "mark" in compared.out
    assert {line.split(",")[2] for line in (house.folder / "drawn.csv").read_text().splitlines()[1:]} <= {
        *"ABCDEF",
        "",
    }


def test_a_command_is_a_file_and_a_line(house: House) -> None:
    house.add(
        "a command",
        {"cli/commands/hello.py": HELLO},
        {"cli/__init__.py": {"COMMANDS = {": '    "hello": "Greet somebody.",'}},
    )
    listed, greeted = house.typed("--help", "hello stranger")
    assert "Greet somebody." in listed.out
    assert greeted.out == "hello, stranger\n"


def test_a_question_is_a_file_a_method_and_its_verification(house: House) -> None:
    """Its proof and the test of its breach are the reviewer's business: nothing here can tell whether they hold."""
    house.add(
        "a question to the records",
        {"privacy/curator/total.py": (ATELIER / "total.py").read_text()},
        {
            "privacy/curator/curator.py": {
                "from understudy.privacy.plain_values import plain_domain": "from understudy.privacy.curator.total"
                " import TotalQuestion",
                "        return self._session.certificate()": "\n    def total(self, budget: Budget) -> int:\n"
                "        return self._ask(TotalQuestion.of(self.domain, budget))",
            },
            "privacy/curator/verification.py": {
                '    "measure": _measure,': '    "total": lambda charge, losses, neighbours:'
                " _gaussian(losses[0], _scales(charge, 1), neighbours),"
            },
        },
    )
    done = run(ASKED, folder=house.folder, path=[house.src])
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert abs(said["total"] - 1000) < 100
    assert said["charges"] == ["total"]
    assert 0.9 < said["epsilon"] <= 1.0


ASKED = """
import json
from understudy import Budget, Curator, Domain, Table
from understudy.privacy.curator.verification import recompute

curator = Curator(Table(Domain({"a": 2}), {"a": [0, 1] * 500}), Budget(1.0, 1e-9))
total = curator.total(Budget(1.0, 1e-9))
certificate = curator.certificate()
charges = [charge["question"] for charge in certificate["charges"]]
print(json.dumps(dict(total=total, charges=charges, epsilon=recompute(certificate))))
"""
