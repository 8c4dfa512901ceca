"""A studio to talk to without a browser: its application, behind its gate, on a folder with a small table."""

from __future__ import annotations

from typing import NamedTuple

from starlette.testclient import TestClient

from understudy.studio.gate import Locks
from understudy.studio.workspace import ChosenTable, Workspace

ORIGIN = "http://127.0.0.1:8500"
CANARY = "Zyxwvut-Qanary"
HTML = "<img src=x onerror=alert(1)>"


class Visit(NamedTuple):
    """A studio, and a browser that has its cookie."""

    here: Workspace
    locks: Locks
    client: TestClient

    def post(self, address: str, **fields: str) -> str:
        """Send a form as the studio's own pages do; the text of the page that it leads to."""
        answer = self.client.post(address, data=fields, headers={"origin": ORIGIN})
        assert answer.status_code < 400, answer.text
        return answer.text

    def get(self, address: str) -> str:
        """The text of a page."""
        answer = self.client.get(address)
        assert answer.status_code == 200, answer.text
        return answer.text

    def table(self, data: str = "people.csv") -> ChosenTable:
        """The table of that file, chosen on the first page."""
        self.post("/tables", data=data)
        return next(table for table in self.here.tables() if table.data.endswith(data))
