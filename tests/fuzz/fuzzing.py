"""Doors tried with damaged things, one after the other, in a process that may break: what is thrown, told, taken.

    python tests/fuzz/fuzzing.py SEED FOLDER DOOR:FIRST:COUNT...

A case is a seed, a door and a number: the same three, the same bytes. Each case is written down before it is tried,
so that the parent knows of a process that died which case it was.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import file_doors
import stranger_doors
from file_doors import NUMBER, SECRET

from understudy.errors import UnderstudyError

# Door -> how it is tried, and how many cases of it a short run has.
DOORS: dict[str, tuple[Callable[[Random, Path], None], int]] = {
    "text": (file_doors.text_door, 40),
    "header": (file_doors.header_door, 25),
    "gzip": (file_doors.packed_door, 25),
    "parquet": (file_doors.parquet_door, 60),
    "arrow": (file_doors.arrow_door, 60),
    "json lines": (file_doors.json_lines_door, 25),
    "excel": (file_doors.excel_door, 20),
    "release": (stranger_doors.release_door, 80),
    "field": (stranger_doors.field_door, 60),
    "ledger": (stranger_doors.ledger_door, 80),
    "schema": (stranger_doors.schema_door, 80),
    "statement": (stranger_doors.statement_door, 80),
    "address": (stranger_doors.address_door, 80),
    "condition": (stranger_doors.condition_door, 60),
    "key": (stranger_doors.key_door, 20),
}
SLOW, SECONDS = 1.0, 10.0  # of processor time: what is tried twice, and the most that a case may take
HANG = 120.0  # seconds by the clock, on a crowded machine
MEMORY = 400 << 20  # bytes more than before, the most that a case may take


def main(words: list[str]) -> None:
    """Try the cases, and print a line of JSON for each finding and each door."""
    seed, folder = words[0], Path(words[1])
    warnings.simplefilter("ignore")
    for asked in words[2:]:
        door, first, count = asked.rsplit(":", 2)
        place = folder / door.replace(" ", "-")
        place.mkdir(exist_ok=True)
        _try_door(door, seed, place, range(int(first), int(first) + int(count)))


def _try_door(door: str, seed: str, folder: Path, numbers: range) -> None:
    opened = refused = 0
    slowest = most = 0.0
    for number in numbers:
        (folder.parent / "case").write_text(f"{door}:{number}")
        faulthandler.dump_traceback_later(HANG, exit=True)
        found, took, grown = _measured(door, seed, number, folder)
        if took > SLOW:  # it may have compiled kernels
            found, took, _ = _measured(door, seed, number, folder)
        faulthandler.cancel_dump_traceback_later()
        opened, refused = opened + (found == ""), refused + (found is None)
        slowest, most = max(slowest, took), max(most, grown)
        if not found and took > SECONDS:
            found = f"took {took:.1f} s of processor time"
        if not found and grown > MEMORY:
            found = f"took {grown >> 20:,} MB"
        if found:
            _say(door=door, number=number, found=found)
    _say(door=door, opened=opened, refused=refused, cases=len(numbers), slowest=slowest, grown=most)


def _measured(door: str, seed: str, number: int, folder: Path) -> tuple[str | None, float, int]:
    """What is wrong with a case, the seconds of processor time that it took, and the bytes."""
    before, started = _peak(), time.process_time()
    found = _try(door, Random(f"{seed}/{door}/{number}"), folder)
    return found, time.process_time() - started, _peak() - before


def _try(door: str, random: Random, folder: Path) -> str | None:
    """What is wrong with a case; where nothing is, "" if it was opened and None if it was refused."""
    try:
        DOORS[door][0](random, folder)
    except UnderstudyError as error:
        told = str(error)
        return "a record's value is told" if SECRET in told or str(NUMBER)[:6] in told else None
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        ours = [at for at in traceback.extract_tb(error.__traceback__) if "understudy/" in at.filename]
        at = (
            f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
            if ours
            else f"{place.filename}:{place.lineno}"
        )
        return f"{type(error).__name__} at {at}: {str(error)[:150]}"
    return ""


def _peak() -> int:
    """The most memory that this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _say(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
