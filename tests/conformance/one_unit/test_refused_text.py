"""A record that is no record of a text file is the operator's fault: found before any charge, told without its words.

These are the only records of which a run may speak. No count could include them: where a line has a field too many,
nobody can say which cell is whose. Everything else that a cell may hold is counted (`test_one_unit.py`).
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from unit_cells import TEXTS
from unit_people import SETTINGS
from unit_sources import SOURCES
from unit_worlds import Setting, run

from understudy.data.files.text import text_file

CANARY = b"Zebedee-4711"
FIELDS = 10

# Whatever a line holds that makes a file no table of text.
REFUSED: dict[str, bytes] = {
    "bytes that are no UTF-8": CANARY + b"\xff\xfe" + b"," * (FIELDS - 1),
    "half a letter": CANARY + b"\xc3" + b"," * (FIELDS - 1),
    "a NUL": CANARY + b"\x00" + b"," * (FIELDS - 1),
    "a field too few": CANARY + b"," * (FIELDS - 2),
    "a field too many": CANARY + b"," * FIELDS,
    "a quote that is never closed": b'"' + CANARY + b"," * (FIELDS - 1),
}
FILES = ("CSV", "CSV, streamed", "CSV, packed", "CSV, packed, streamed", "CSV, folder", "CSV beside Parquet")
ASKED = ("complete", "learned", "no schema", "transforms", "unit, 1")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "PIECE", 1500)


@pytest.mark.parametrize("setting", [SETTINGS[asked] for asked in ASKED], ids=ASKED)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_a_line_that_is_no_record_is_refused_before_any_charge(
    line: bytes, name: str, setting: Setting, tmp_path: Path
) -> None:
    base = TEXTS.base()
    data = SOURCES[name].put([base[:30], base[30:50], base[50:]], tmp_path)
    _append(sorted(tmp_path.glob("*.csv*"))[-1], line)
    world = run(data, setting)
    assert world.error is not None and world.error.startswith("FileError: ")
    assert CANARY.decode() not in repr(world.told)
    assert not world.seen
    assert not [said for said in world.told if said[0] == "question"]


def _append(file: Path, line: bytes) -> None:
    packed = file.name.endswith(".gz")
    content = gzip.decompress(file.read_bytes()) if packed else file.read_bytes()
    content += line + b"\n"
    file.write_bytes(gzip.compress(content, mtime=0) if packed else content)
