"""A canary for private cells, and whoever looks for it in everything that is left behind."""

from __future__ import annotations

import gzip
import io
import logging
import os
import struct
import traceback
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

TEXT = "canary-7f3a"
NUMBER = 918_273_645
REAL = 48_151_623.4375
_SPELLINGS = [
    TEXT.encode(),
    TEXT.encode("utf-16-le"),
    str(NUMBER).encode(),
    b"918,273,645",
    struct.pack("<q", NUMBER),
    struct.pack("<i", NUMBER),
    struct.pack("<d", NUMBER),
    str(REAL).encode(),
    struct.pack("<d", REAL),
]

SCHEMA = """
[table]
name = "birds"
[columns.name]
type = "category"
discover = true
[columns.colour]
type = "category"
values = ["red", "blue"]
[columns.weight]
type = "integer"
min = 0
max = 1_000_000_000
bins = 4
[columns.wing]
type = "number"
bins = 4
"""


def table(rows: int = 240) -> pa.Table:
    """Records whose rare cells, in every column and in one that no schema knows, are the canary."""
    rare = [row % 60 == 7 for row in range(rows)]
    return pa.table(
        {
            "name": [f"{TEXT}-{row}" for row in range(rows)],
            "colour": [TEXT if odd else "red" for odd in rare],
            "weight": pa.array([NUMBER if odd else 17 for odd in rare], pa.int64()),
            "wing": [REAL if odd else 1.5 for odd in rare],
            "ring": [f"{TEXT}-{row}" for row in range(rows)],
        }
    )


def sings(content: bytes, depth: int = 0) -> bool:
    """Whether the canary is in there: as text, as a number, or packed."""
    if any(spelling in content for spelling in _SPELLINGS):
        return True
    if depth < 3 and content[:2] == b"PK" and zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as inside:
            return any(sings(inside.read(name), depth + 1) for name in inside.namelist())
    if depth < 3 and content[:2] == b"\x1f\x8b":
        return sings(gzip.decompress(content), depth + 1)
    return False


def said_by(error: BaseException) -> str:
    """Everything that an exception shows: its words and those of all that it names as its cause, repr and hint."""
    shown = "".join(traceback.format_exception(error))
    # Lines of source are code, never a record; the tests' own name the canary.
    return "\n".join(line for line in shown.splitlines() if not line.startswith("    ")) + repr(error)


class Watch:
    """All that a process says and leaves in a folder, apart from the private files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.private = folder, folder / "private"
        self.private.mkdir()
        self.said: list[str] = []

    def files(self) -> list[Path]:
        """What lies there for anyone to read."""
        return [
            path
            for path in self.folder.rglob("*")
            if path.is_file() and self.private not in path.parents and not path.is_symlink()
        ]

    @contextmanager
    def fault(
        self, kind: type[BaseException] | tuple[type[BaseException], ...] = Exception
    ) -> Iterator[None]:
        """Something that must fail; what it says is kept."""
        with pytest.raises(kind) as caught:
            yield
        self.said.append(said_by(caught.value))

    def check(self) -> None:
        """The canary is nowhere."""
        singing = [path.name for path in self.files() if sings(path.read_bytes())]
        assert not singing, f"the canary is in {singing}"
        assert not any(sings(path.name.encode()) for path in self.files())
        for text in self.said:
            assert not sings(text.encode()), text


@pytest.fixture
def watch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Watch]:
    """A folder in which everything is to happen, and at the end a look into all of it."""
    caplog.set_level(logging.DEBUG)
    found = Watch(tmp_path)
    (tmp_path / "tmp").mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield found
    found.said += [*capfd.readouterr(), caplog.text, *(str(warning.message) for warning in warned)]
    found.check()


def limits(**more: Any) -> dict[str, Any]:
    """Settings of a run that is quick and sees everything."""
    return {"epsilon": 2.0, "delta": 1e-6, **more}


def environment() -> dict[str, str]:
    """This process's environment, for one that it starts."""
    return dict(os.environ)
