"""A studio to talk to without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from studio_visit import CANARY, ORIGIN, Visit

from understudy.studio.application import application
from understudy.studio.gate import Locks
from understudy.studio.workspace import Workspace


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    """A studio in a folder with a table of four hundred people, one of whom has a name that no page may show."""
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    lines = [f"{'MF'[i % 2]},{i % 90},{i % 7 * 1000.5},town {i % 5}" for i in range(400)]
    lines += [f"{CANARY},47,123456.75,{CANARY}"] * 3
    (tmp_path / "people.csv").write_text("sex,age,income,home\n" + "\n".join(lines) + "\n")
    here = Workspace(tmp_path)
    locks = Locks((ORIGIN, "http://localhost:8500"))
    with TestClient(application(here, locks), base_url=ORIGIN) as client:
        assert client.get(f"/?token={locks.token}").status_code == 200
        yield Visit(here, locks, client)
