"""Public names say what every parameter means, what comes back and what is raised, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import runpy
import shutil
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest

import understudy as us

REFERENCE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "api_reference.py"))
DOCUMENTED: dict[str, Callable[..., Any]] = dict(REFERENCE["documented"]())
EXAMPLES = [
    "understudy.pipeline.synthesizer",
    "understudy.pipeline.forecast",
    "understudy.pipeline.draft",
    "understudy.pipeline.release",
    "understudy.evaluation.two_tables",
    "understudy.model.fitting.estimation",
    "understudy.auditing.auditor",
    "understudy.exchange.forms",
    "understudy.domain.schema",
    "understudy.privacy.ledger.ledger",
    "understudy.mechanisms.mst",
    "understudy.mechanisms.nist_mst",
    "understudy.mechanisms.fixed",
    "understudy.mechanisms.independent",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an example's reader would have: people.csv, people.toml and a release of them."""
    there = tmp_path_factory.mktemp("people")
    rows = [f"{'FM'[i % 2]},{20 + i % 60}" for i in range(300)]
    (there / "people.csv").write_text("\n".join(["sex,age", *rows]) + "\n")
    columns = {"sex": us.Category(("F", "M")), "age": us.Integer(0, 99, bins=10)}
    us.Schema(columns, name="people").save(there / "people.toml")
    given = {"epsilon": 1.0, "delta": 1e-9, "mechanism": "independent", "ledger": there / "ledger.db"}
    us.fit(there / "people.csv", there / "people.toml", **given).save(there / "people.release")
    return there


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where that reader would be."""
    for name in ("people.csv", "people.toml", "people.release"):
        shutil.copyfile(made / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", os.fspath(tmp_path / "ledger.db"))
    return tmp_path


def listed(name: str, heading: str) -> list[str]:
    """The names that a section of a docstring lists; none where it has no such section."""
    said = inspect.getdoc(DOCUMENTED[name]) or ""
    section = re.search(rf"^{heading}:\n((?:    .*\n|\n)+)", said + "\n", re.MULTILINE)
    return re.findall(r"^    (\w+): ", section[1], re.MULTILINE) if section else []


# What these do cannot be refused, or is refused by whoever is handed what they hold.
RAISE_NOTHING = {
    "Schema.to_toml",
    "Curator.over",
    "Fit",
    "Compression",
    "MechanismKind",
    "Setting",
    "Independent",
    "UnderstudyError",
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_parameter_of_a_public_name_is_documented(name: str) -> None:
    found = DOCUMENTED[name]
    given = [parameter.name for parameter in REFERENCE["parameters"](found)]
    if inspect.isclass(found) and issubclass(found, us.Column) and found is not us.Column:
        assert "those of" in (found.__doc__ or "") and "`Column`" in (found.__doc__ or "")
        own = listed(name, "Parameters")
        rest = set(given) - set(listed("Column", "Parameters"))
        assert own and len(set(own)) == len(own) and rest <= set(own) <= set(given)
        return
    assert (listed(name, "Parameters") or listed(name, "Attributes") or given) == (
        given or [*_members(found)]
    )


def _members(found: Any) -> list[str]:
    """What a list of names must describe where there is nothing to call: the members of an enumeration."""
    return [member.name for member in found] if inspect.isclass(found) and issubclass(found, Enum) else []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_says_what_it_gives_back_and_raises(name: str) -> None:
    found, said = DOCUMENTED[name], inspect.getdoc(DOCUMENTED[name]) or ""
    assert said
    if inspect.isclass(found):
        called = bool(listed(name, "Parameters"))  # else it comes from a function, which says it
    else:
        called = True
        gives = inspect.signature(found).return_annotation not in ("None", None)
        assert ("\nReturns:\n" in said) == gives
    assert not called or ("\nRaises:\n" in said) != (name in RAISE_NOTHING)


@pytest.mark.parametrize(
    "name", [name for name in us.__all__ if getattr(getattr(us, name), "_is_protocol", False)]
)
def test_every_member_of_a_public_protocol_is_documented(name: str) -> None:
    members = {word: member for word, member in vars(getattr(us, name)).items() if not word.startswith("_")}
    assert members and all(inspect.getdoc(member) for member in members.values())


def test_every_public_name_is_on_the_page() -> None:
    assert set(us.__all__) - {"__version__"} <= set(DOCUMENTED)


ON_THE_SITE: dict[str, str] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "api_examples.py"))[
    "EXAMPLES"
]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_has_an_example(name: str) -> None:
    said = inspect.getdoc(DOCUMENTED[name]) or ""
    assert ("\nExample" in said) != (name in ON_THE_SITE)


@pytest.mark.parametrize("name", ON_THE_SITE)
def test_the_examples_of_the_site_run(name: str, folder: Path) -> None:
    known = {"us": us, "np": numpy, "Fraction": Fraction}
    example = doctest.DocTestParser().get_doctest(ON_THE_SITE[name], known, name, None, None)
    said: list[str] = []
    done = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert done.attempted and not done.failed, "".join(said)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_run(name: str, folder: Path) -> None:
    done = doctest.testmod(import_module(name))
    assert done.attempted and not done.failed
