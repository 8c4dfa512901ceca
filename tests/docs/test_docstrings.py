"""Public functions say what every parameter means, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import runpy
from collections.abc import Callable
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
    "understudy.privacy.curator.curator",
    "understudy.privacy.ledger.ledger",
    "understudy.mechanisms.mst",
    "understudy.mechanisms.nist_mst",
    "understudy.mechanisms.fixed",
    "understudy.mechanisms.independent",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an example's reader would be: with people.csv, people.toml and a release of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", os.fspath(tmp_path / "ledger.db"))
    rows = [f"{'FM'[i % 2]},{20 + i % 60}" for i in range(300)]
    Path("people.csv").write_text("\n".join(["sex,age", *rows]) + "\n")
    us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 99, bins=10)}, name="people").save(
        "people.toml"
    )
    us.fit("people.csv", "people.toml", epsilon=1.0, delta=1e-9, mechanism="independent").save(
        "people.release"
    )
    return tmp_path


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_parameter_of_a_public_function_is_documented(name: str) -> None:
    said = inspect.getdoc(DOCUMENTED[name]) or ""
    section = re.search(r"^Parameters:\n((?:    .*\n|\n)+)", said + "\n", re.MULTILINE)
    listed = re.findall(r"^    (\w+): ", section[1], re.MULTILINE) if section else []
    assert said and listed == [parameter.name for parameter in REFERENCE["parameters"](DOCUMENTED[name])]


def test_every_public_function_is_on_the_page() -> None:
    functions = {name for name in us.__all__ if inspect.isfunction(getattr(us, name))}
    assert functions <= set(DOCUMENTED)


ON_THE_SITE: dict[str, str] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "api_examples.py"))[
    "EXAMPLES"
]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_function_has_an_example(name: str) -> None:
    said = inspect.getdoc(DOCUMENTED[name]) or ""
    assert ("\nExample" in said) != (name in ON_THE_SITE)


@pytest.mark.parametrize("name", [name for name, text in ON_THE_SITE.items() if text])
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
