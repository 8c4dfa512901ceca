"""Public functions say what every parameter means, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import understudy as us

DOCUMENTED: dict[str, Callable[..., Any]] = {
    **{name: getattr(us, name) for name in ("fit", "synth", "plan", "draft_schema", "evaluate", "load")},
    **{name: getattr(us, name) for name in ("table", "estimate", "audit", "allot")},
    **{name: getattr(us, name) for name in ("MST", "NIST_MST", "Fixed", "Schema", "Ledger")},
    **{
        f"Release.{name}": getattr(us.Release, name)
        for name in ("sample", "sample_chunks", "sample_spark", "marginal", "report", "save")
    },
    "Comparison.report": us.Comparison.report,
    **{
        f"Schema.{name}": getattr(us.Schema, name)
        for name in ("load", "save", "from_toml", "replace_column", "with_columns")
    },
    **{f"Ledger.{name}": getattr(us.Ledger, name) for name in ("account", "set_limit", "open")},
}
EXAMPLES = [
    "understudy.pipeline.synthesizer",
    "understudy.pipeline.forecast",
    "understudy.pipeline.draft",
    "understudy.pipeline.release",
    "understudy.evaluation.two_tables",
    "understudy.model.fitting.estimation",
    "understudy.auditing.auditor",
    "understudy.domain.schema",
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
    assert section, f"{name} has no section of parameters"
    listed = re.findall(r"^    (\w+): ", section[1], re.MULTILINE)
    taken = [parameter for parameter in inspect.signature(DOCUMENTED[name]).parameters if parameter != "self"]
    assert listed == taken


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_run(name: str, folder: Path) -> None:
    done = doctest.testmod(import_module(name))
    assert done.attempted and not done.failed
