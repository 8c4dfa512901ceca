"""What the studio opens with: its folder, and the table that was named when it was started."""

from __future__ import annotations

from pathlib import Path

from understudy.studio.demo_town import demo_table
from understudy.studio.screens.choosing import chosen
from understudy.studio.workspace import Workspace


def opened(
    folder: Path, data: str | None = None, *, demo: bool = False, ledger: str | None = None
) -> tuple[Workspace, str]:
    """The folder, and the page to begin at: the statement of the table that was named, else the first one."""
    here = Workspace(folder, None if ledger is None else str(Path(ledger).resolve()))
    if demo:
        return here, f"/tables/{demo_table(here).id}"
    return here, "/" if data is None else f"/tables/{chosen(here, data).id}"
