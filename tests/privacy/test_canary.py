"""A canary in every private cell: it is found in no ledger, mark, journal, error, log or certificate."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from plain_engine import PlainEngine

from understudy.cli import understudy as cli
from understudy.domain import Domain
from understudy.errors import UnderstudyError
from understudy.privacy import Approximate, Budget, Choice, Curator, Gaussian, Job, Ledger

CANARY = "canary-7f3a"


def test_a_private_value_is_found_nowhere_outside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    texts = {"name": [f"{CANARY}-{row}" for row in range(200)]}
    engine = PlainEngine({"sex": [0, 1] * 100}, Domain({"sex": 2}), texts)
    ledger = Ledger(tmp_path / "ledger")
    curator = Curator(engine, Budget(4.0, 1e-6), ledger=ledger, job=Job("people", "x", title="test"))
    said = [repr(curator), repr(ledger)]
    said.append(repr(curator.measure(["sex"], budget=Gaussian(10.0))))
    said.append(repr(curator.discover("name", Approximate(0.3, 1e-8))))
    said.append(repr(curator.choose([("sex",)], lambda _: np.zeros(2), Choice(0.1))))
    for fault in (
        lambda: curator.measure(["name"], budget=Gaussian(10.0)),
        lambda: curator.discover("name", Budget(9.0, 1e-8)),
        lambda: curator.choose([("name",)], lambda _: np.zeros(2), Choice(0.1)),
    ):
        with pytest.raises(UnderstudyError) as refusal:
            fault()
        said.append(str(refusal.value))
    said.append(json.dumps(curator.certificate()))
    for arguments in (["ledger"], ["ledger", "people"], ["ledger", "people", "--json"]):
        shown = CliRunner().invoke(cli, [*arguments, "--ledger", str(ledger.path)])
        assert shown.exit_code == 0
        said.append(shown.output)
    said += [*capfd.readouterr(), caplog.text]
    assert not any(CANARY in text for text in said)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.name for file in files} == {"ledger", "ledger.mark", "ledger.notes"}
    assert not any(CANARY.encode() in file.read_bytes() for file in files)


def test_an_engine_that_fails_leaves_its_charge_and_no_record(tmp_path: Path) -> None:
    class Failing(PlainEngine):
        def count(self, cliques: Any) -> Any:
            raise OSError("the disk is gone")

    ledger = Ledger(tmp_path / "ledger")
    curator = Curator(
        Failing({"sex": [0]}, Domain({"sex": 2})), Budget(1.0, 1e-9), ledger=ledger, job=Job("people", "x")
    )
    with pytest.raises(OSError, match="disk"):
        curator.measure(["sex"], budget=Gaussian(20.0))
    assert ledger.account("people").spent[0] == 1, "the job was paid for when it was opened"
    assert len(curator.charges) == 1, "what was charged stays spent"
