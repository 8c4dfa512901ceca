"""What an earlier version wrote is read by this one: releases of every mechanism, and their ledger."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import understudy as us
from understudy.domain import Schema
from understudy.pipeline import release_file
from understudy.privacy import Ledger
from understudy.privacy.ledger import append_only_log
from understudy.report.release_page import release_page

KEPT = Path(__file__).parents[2] / "data"
WRITTEN = KEPT / "version-0.1.0"
RELEASES = sorted(str(path.relative_to(KEPT).with_suffix("")) for path in KEPT.glob("version-*/*.release"))
RULED = {"who", "came", "left", "city", "income", "paid", "tax"}


@pytest.mark.parametrize("name", RELEASES)
def test_an_earlier_release_opens_verifies_samples_and_shows(name: str) -> None:
    release = us.load(KEPT / f"{name}.release")
    verdict = release.verify()
    assert verdict.holds, verdict.why
    assert verdict.private is name.endswith("/private")
    drawn = release.sample(50, seed=1)
    assert drawn.num_rows == 50
    assert set(drawn.column_names) == (RULED if name.endswith("/ruled") else {"sex", "age", "income", "city"})
    assert "<html" in release_page(release)


def test_every_form_that_a_version_wrote_is_kept() -> None:
    """Four forms were written so far; a fifth needs files of its own here: tests/data/write_version.py."""
    forms = {"version-0.1.0", "version-1.0.0rc1", "version-1.0.0rc1-beside", "version-1.0.0rc1-promised"}
    assert {path.parent.name for path in KEPT.glob("version-*/ledger")} == forms
    assert release_file.MAGIC == b"UNDERSTUDY RELEASE 1\n" and append_only_log.VERSION == 1


@pytest.mark.parametrize("version", sorted(path.name for path in KEPT.glob("version-*")))
def test_an_earlier_ledger_knows_what_each_release_cost(version: str, tmp_path: Path) -> None:
    for name in ("ledger", "ledger.mark"):
        shutil.copy(KEPT / version / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    ledger = Ledger(tmp_path / "ledger")
    spent = sum(ledger.account(name).spent[0] for name in ledger.names())
    said = [us.load(path).certificate["epsilon"] for path in (KEPT / version).glob("*.release")]
    assert spent == sum(said)


def test_what_was_promised_of_weights_stands_in_a_kept_certificate_and_verifies() -> None:
    release = us.load(KEPT / "version-1.0.0rc1-promised" / "promised.release")
    said = [loss.get("largest") for charge in release.certificate["charges"] for loss in charge["losses"]]
    assert any(largest is not None and largest < 1 for largest in said)
    assert release.verify().holds and release.verify().epsilon <= 20


def test_pairs_beside_a_kept_field_are_read_and_followed() -> None:
    release = us.load(KEPT / "version-1.0.0rc1-beside" / "beside.release")
    field = release.field
    assert len(field.beside) == 3
    off = {}
    for method in ("synthetic", "iid"):
        drawn = field.sample(4000, seed=1, method=method)
        off[method] = [
            np.abs(np.asarray(drawn.counts(pair).counts) / 4000 - table).sum() / 2
            for pair, table in field.beside.items()
        ]
    assert max(off["synthetic"]) < 0.1 and max(off["iid"]) > 0.5


def test_an_earlier_closed_list_keeps_its_slot_for_others(tmp_path: Path) -> None:
    content = release_file.read(WRITTEN / "mst.release")
    schema = Schema.from_toml(content.sections["schema"])
    assert isinstance(schema["sex"], us.Category) and schema["sex"].missing is None
    closed = schema.replace_column("sex", replace(schema["sex"], missing=False))  # one slot, as it has
    release_file.write(
        tmp_path / "closed.release",
        release_file.Content({**content.sections, "schema": closed.to_toml()}, content.arrays),
    )
    release = us.load(tmp_path / "closed.release")
    assert release.schema["sex"].rule == "other" and release.verify().holds
    assert release.sample(50, seed=1).num_rows == 50
    release.save(tmp_path / "again.release")
    assert us.load(tmp_path / "again.release").schema == release.schema


def test_an_earlier_ledger_opens_and_goes_on(tmp_path: Path) -> None:
    for name in ("ledger", "ledger.mark"):
        shutil.copy(WRITTEN / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    ledger = Ledger(tmp_path / "ledger")
    before = ledger.account("people-private")
    assert [float(part) for part in before.spent] == [1.0, 1e-6]
    us.fit(
        {"a": [1, 2]},
        epsilon=0.5,
        delta=1e-7,
        ledger=ledger,
        name="people-private",
        mechanism=us.Independent(),
    )
    assert float(ledger.account("people-private").spent[0]) == 1.5
