"""A ledger's entries, each sealed with the one before it, so that an edit anywhere shows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from understudy.errors import LedgerError

FIRST = "0" * 64  # what the first entry names as the one before it


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, to which table's name, in which job.

    `body` is JSON; `content` is the digest of the stored answer (empty where there is none). `seal`
    covers every other field and the seal before, so the last seal vouches for the whole ledger.
    """

    seq: int
    time: str
    kind: str
    name: str
    job: str
    body: str
    content: str
    previous: str
    seal: str

    @property
    def data(self) -> dict[str, Any]:
        """The body, read."""
        loaded: dict[str, Any] = json.loads(self.body)
        return loaded


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(content: bytes) -> str:
    """SHA-256 of some bytes; empty for no bytes."""
    return hashlib.sha256(content).hexdigest() if content else ""


def _seal(*fields: Any) -> str:
    return hashlib.sha256(canonical(fields).encode()).hexdigest()


def seal(
    previous: Entry | None, time: str, *, kind: str, name: str, job: str, body: Any, content: bytes
) -> Entry:
    """The next entry after `previous` (None: the first)."""
    seq, before = (0, FIRST) if previous is None else (previous.seq + 1, previous.seal)
    text, mark = canonical(body), digest(content)
    fields = (seq, time, kind, name, job, text, mark, before)
    return Entry(*fields, _seal(*fields))


def follow(previous: Entry | None, entry: Entry) -> None:
    """Raise a LedgerError unless `entry` is whole and follows `previous`."""
    seq, before = (0, FIRST) if previous is None else (previous.seq + 1, previous.seal)
    fields = (entry.seq, entry.time, entry.kind, entry.name, entry.job, entry.body, entry.content)
    try:
        whole = _seal(*fields, entry.previous)
    except (TypeError, ValueError):  # a damaged page can hold bytes where a text should be
        whole = ""
    if (entry.seq, entry.previous, entry.seal) != (seq, before, whole):
        raise LedgerError(
            f"the ledger is damaged or was edited: entry {seq} does not follow the one before it.",
            hint="restore the newest copy of the ledger together with its .mark and .notes files.",
        )
