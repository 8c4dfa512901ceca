"""The page about PostgreSQL runs as it is written, against a real server."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from test_documents import ROOT, run
from warm_programs import WarmPrograms

from postgres_server import OWNER, Server, binaries
from understudy.data import write
from understudy.presets import town

BLOCK = re.compile(r"^```(sh|python) postgresql\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_a_reader_with_a_server_who_types_what_the_page_says_gets_no_error(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_programs: WarmPrograms
) -> None:
    monkeypatch.setenv("PGHOST", str(postgres.folder))
    monkeypatch.setenv("PGUSER", OWNER)
    monkeypatch.setenv("PATH", f"{binaries()}{os.pathsep}{os.environ['PATH']}")
    write(town.simulate(3000, seed=1), tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(town.SCHEMA)
    found = BLOCK.findall((ROOT / "docs" / "postgresql.md").read_text())
    assert len(found) == 3
    for language, text in found:
        run(warm_programs, language, text, tmp_path)
    assert (tmp_path / "synthetic.csv").exists() and (tmp_path / "sample.parquet").exists()
