"""Runs where there is next to nothing: no home, no folder for kernels, another locale, asserts switched off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import patience
import understudy as us
from understudy.compiled import njit
from understudy.errors import LedgerError
from understudy.privacy.ledger.ledger import default_ledger_path

NOWHERE = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "NUMBA_CACHE_DIR": "/dev/null/none"}
SCHEMA = '[table]\nname = "people"\n[columns.sex]\ntype = "category"\nvalues = ["F", "M"]\n'


def python(*words: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Python run with hardly any variable set."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=kept | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience.SECONDS,
    )


def test_kernels_are_compiled_anew_where_no_folder_keeps_them(tmp_path: Path) -> None:
    code = (
        "import numpy as np, warnings\n"
        "from understudy.data.files.text import record_ends\n"
        "from understudy.privacy.noise import table_lookup\n"
        "from understudy.compiled import njit\n"
        "print(njit(cache=True)(lambda x: x + 1)(41))\n"
    )
    said = python("-c", code, folder=tmp_path, **NOWHERE)
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip() == "42" and "NUMBA_CACHE_DIR" in said.stderr


def test_a_kernel_that_cannot_be_kept_or_read_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core import caching

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    monkeypatch.setattr(caching.IndexDataCacheFile, "load", full)

    @njit(cache=True)
    def twice(x: int) -> int:
        return 2 * x

    assert twice(21) == 42


def test_a_run_needs_no_home_no_locale_and_no_asserts(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text("sex\n" + "F\nM\n" * 50)
    fit = ("fit", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--delta", "1e-6", "--no-check")
    fit = (*fit, "--mechanism", "independent", "--ledger", "ledger.db", "-o", "people.release")
    cache = os.environ.get("NUMBA_CACHE_DIR")
    known = {"NUMBA_CACHE_DIR": cache} if cache else {}
    said = python("-O", "-m", "understudy", *fit, folder=tmp_path, LC_ALL="C", LANG="C", **known)
    assert said.returncode == 0, said.stderr
    assert us.load(tmp_path / "people.release").verify().holds


@pytest.mark.parametrize(
    "locale",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "cp1252"}],
    ids=["C", "cp1252"],
)
def test_what_is_said_has_every_character_in_any_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    (tmp_path / "people.toml").write_text(SCHEMA.replace("people", "Städte"), encoding="utf-8")
    (tmp_path / "people.csv").write_text("sex\n" + "F\nM\n" * 50)
    us.fit(
        tmp_path / "people.csv",
        tmp_path / "people.toml",
        epsilon=1,
        delta=1e-6,
        mechanism="independent",
        ledger=tmp_path / "ledger.db",
    ).save(tmp_path / "people.release")
    said = python("-m", "understudy", "report", "people.release", folder=tmp_path, **locale)
    assert said.returncode == 0 and "Städte" in said.stdout, said.stderr
    (tmp_path / "people.csv").write_text("größe\n" + "1\n2\n" * 50, encoding="utf-8")
    said = python("-m", "understudy", "schema", "people.csv", folder=tmp_path, **locale)
    assert said.returncode == 0 and '[columns."größe"]' in said.stdout, said.stderr


def test_a_user_without_a_home_is_asked_for_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UNDERSTUDY_LEDGER", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", lambda self: (_ for _ in ()).throw(RuntimeError("no home")))
    with pytest.raises(LedgerError, match="--ledger"):
        default_ledger_path()
