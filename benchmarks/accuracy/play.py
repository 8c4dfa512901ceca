"""Plays cells in processes of their own, each with a limit, and keeps what comes of them."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

from benchmarks.accuracy.cells import ROOT, Cell, Outcome, Store, all_code


def play_ours(cells: Sequence[Cell], store: Store, limit_s: float) -> Iterator[tuple[Cell, Outcome]]:
    """The outcomes of cells that differ by their runs alone, as they end; kept before they are handed on."""
    first = cells[0]
    job = {"data": first.data, "epsilon": first.epsilon, "system": first.system, "rows": first.rows}
    command = [sys.executable, "-m", "benchmarks.accuracy.ours"]
    left = {cell.run: cell for cell in cells}
    nothing = Outcome(None, None, 0.0, 0.0, 0.0, os.getloadavg()[0], limit_s, "", "")
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            [*command, json.dumps({**job, "runs": list(left)})],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        try:
            for line in _lines(child, limit_s):
                found = json.loads(line)
                cell, code = left.pop(found.pop("run")), store.put_code(found.pop("files"))
                outcome = replace(nothing, code=code, **found)
                store.put(cell, outcome)
                yield cell, outcome
            child.wait()
            why = ""
        except TimeoutError:
            why = f"not finished in {limit_s:g} s"
        finally:
            child.kill()
            child.wait()
        said.seek(0)
        why = why or last_line(said)
    for cell in list(left.values())[:1]:
        outcome = replace(nothing, failed=why or "ended without a word", code=store.put_code(all_code()))
        store.put(cell, outcome)
        yield cell, outcome


def last_line(said: IO[str]) -> str:
    """The last line with a word in it of what a process said: the error that ended it."""
    lines = [line for line in said.read().splitlines() if any(letter.isalpha() for letter in line)]
    return lines[-1].strip()[:200] if lines else ""


def _lines(child: subprocess.Popen[str], limit_s: float) -> Iterator[str]:
    """What a process prints, line by line; a TimeoutError when the next takes longer than the limit."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    source = child.stdout
    assert source is not None

    def read() -> None:
        with source:
            for line in source:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=limit_s)
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            return
        yield line
