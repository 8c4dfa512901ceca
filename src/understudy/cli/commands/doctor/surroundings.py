"""What a run needs of a machine: versions, randomness, a ledger, memory and disk."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from understudy.cli.commands.doctor.symptom import Symptom, fault, fine, note
from understudy.errors import UnderstudyError
from understudy.memory_left import START_BYTES, memory_limits
from understudy.processors import available_cores
from understudy.version import __version__

LEAST_PYTHON = (3, 11)
CORE = ("numpy", "numba", "pyarrow", "duckdb", "click", "rich", "jinja2")
WORDS = 1 << 15  # that are drawn to look at the randomness
MANY_SIGMAS = 8  # off the mean, which a fair source is less than once in 10**15 times
LITTLE_MEMORY = 1 << 30
LITTLE_DISK = 1 << 30


def versions() -> Iterator[Symptom]:
    """Of Understudy, of Python, and of what it cannot do without."""
    yield fine("understudy", f"{__version__}, in {Path(__file__).parents[3]}")
    said = (
        f"{platform.python_version()} ({platform.system()}, {platform.machine()}), {available_cores()} cores"
    )
    if sys.version_info < LEAST_PYTHON:
        yield fault("python", said, f"use Python {'.'.join(map(str, LEAST_PYTHON))} or later")
    else:
        yield fine("python", said)
    least = _least_versions()
    for name in CORE:
        try:
            import_module(name)
            found = version(name)
        except (ImportError, OSError, PackageNotFoundError) as error:
            yield fault(name, f"cannot be loaded ({type(error).__name__})", f"pip install --upgrade {name}")
            continue
        wanted = least.get(name, "")
        if _numbers(found) < _numbers(wanted):
            yield fault(name, f"{found}, older than {wanted}", f'pip install "{name}>={wanted}"')
        else:
            yield fine(name, found)


def randomness() -> Iterator[Symptom]:
    """Whether the operating system's generator gives words that differ and whose bits are even."""
    import numpy as np

    from understudy.privacy.noise.randomness import OperatingSystem

    first, second = (OperatingSystem().words(WORDS) for _ in range(2))
    bits = np.unpackbits(np.concatenate([first, second]).view(np.uint8))
    off = abs(int(bits.sum()) - bits.size / 2) / (bits.size / 4) ** 0.5
    if np.array_equal(first, second) or off > MANY_SIGMAS or len(np.unique(first)) < WORDS:
        yield fault("randomness", "words of the operating system repeat or lean", "use another machine")
    else:
        yield fine("randomness", f"the operating system's, {bits.size:,} bits looked at")


def ledger(path: str | None) -> Iterator[Symptom]:
    """Whether the ledger can be read in full and its chain holds; or where it will be made."""
    from understudy.privacy.ledger.ledger import Ledger, default_ledger_path

    try:
        place = Path(path) if path else default_ledger_path()
        if place.exists():
            found = Ledger(place, create=False)
            tables = len(found.names())
            if not os.access(place, os.W_OK) or not os.access(place.parent, os.W_OK):
                yield fault("ledger", f"{place} cannot be written", "let this user write it, and its folder")
            else:
                yield fine("ledger", f"{place}, {tables} table{'' if tables == 1 else 's'}, its chain holds")
            return
    except UnderstudyError as error:
        yield fault("ledger", error.message, error.hint)
        return
    above = next((parent for parent in place.parents if parent.exists()), Path("."))
    if os.access(above, os.W_OK):
        yield fine("ledger", f"none yet; the first run makes {place}")
    else:
        yield fault(
            "ledger", f"none, and {above} cannot be written", "name a file: --ledger, or UNDERSTUDY_LEDGER"
        )


def memory() -> Iterator[Symptom]:
    """What is left of memory, by every limit that is known."""
    limits = memory_limits()
    if not limits:
        yield note("memory", "this system does not say what is left", "see that a gigabyte is free")
        return
    said = "; ".join(left.said for left in limits)
    if limits[0].bytes < START_BYTES:
        yield fault("memory", f"{said} left", "raise that limit, or end other programs")
    elif limits[0].bytes < LITTLE_MEMORY:
        yield note(
            "memory", f"{said} left", "enough for small tables; `understudy plan` says what a run takes"
        )
    else:
        yield fine("memory", f"{said} left")


def disk() -> Iterator[Symptom]:
    """Whether temporary files, and compiled kernels, have a place with room."""
    from understudy.data.scratch import scratch_folder

    place = scratch_folder()
    free = shutil.disk_usage(place).free
    said = f"{place}, {free / 1e9:,.1f} GB free"
    if not os.access(place, os.W_OK):
        yield fault("temporary files", f"{place} cannot be written", "set TMPDIR to a folder that can be")
    elif free < LITTLE_DISK:
        yield note("temporary files", said, "set TMPDIR to a folder with room for about a byte a cell")
    else:
        yield fine("temporary files", said)


def _least_versions() -> dict[str, str]:
    """The least version of each package, as Understudy's own metadata has it; nothing from a bare checkout."""
    try:
        lines = requires("understudy") or []
    except PackageNotFoundError:
        return {}
    parted = (re.match(r"([\w.-]+)\s*>=\s*([\d.]+)$", line) for line in lines)
    return {match[1].lower(): match[2] for match in parted if match}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
