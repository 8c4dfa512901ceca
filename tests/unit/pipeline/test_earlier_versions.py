"""What an earlier version wrote is read by this one: releases of every mechanism, and their ledger."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import understudy as us
from understudy.domain import Schema
from understudy.pipeline import release_file
from understudy.privacy import Ledger
from understudy.report import release_page

WRITTEN = Path(__file__).parents[2] / "data" / "version-0.1.0"
RELEASES = sorted(path.stem for path in WRITTEN.glob("*.release"))


@pytest.mark.parametrize("name", RELEASES)
def test_an_earlier_release_opens_verifies_samples_and_shows(name: str) -> None:
    release = us.load(WRITTEN / f"{name}.release")
    verdict = release.verify()
    assert verdict.holds, verdict.why
    assert verdict.private is (name == "private")
    drawn = release.sample(50, seed=1)
    assert drawn.num_rows == 50 and drawn.column_names == ["sex", "age", "income", "city"]
    assert "<html" in release_page(release)


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
