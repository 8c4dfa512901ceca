"""How much more memory this process may take: by its own limit, its container's, and what the machine has.

A process that takes more than its container allows is killed without a word, and one that takes more than `ulimit -v`
fails wherever it happens to ask: inside a library, which may abort. So who is about to need much asks here first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import SizeError
from understudy.processors import available_cores

START_BYTES = 400 << 20  # that any command takes, its libraries and compiled kernels among them
START_ADDRESSES = 900 << 20  # that its libraries reserve, most of which is never touched
THREAD_ADDRESSES = 16 << 20  # that the threads of a core reserve
_UNLIMITED = 1 << 60  # version 1 of control groups says "no limit" by a number near 2**63


@dataclass(frozen=True)
class MemoryLeft:
    """Bytes that may still be taken, and what sets that limit; `addresses` where it is one of addresses."""

    bytes: int
    limit: str
    addresses: bool = False

    @property
    def said(self) -> str:
        """The limit in words."""
        return f"{max(0, self.bytes) / 1e6:,.0f} MB ({self.limit})"


def memory_limits(root: Path = Path("/")) -> list[MemoryLeft]:
    """Every limit that is known here, the tightest first; none where a system tells of none.

    `root` is where `proc` and `sys` lie.
    """
    found = [*_own_limits(root), *_container(root), *_machine(root)]
    return sorted(found, key=lambda left: left.bytes)


def memory_left(root: Path = Path("/")) -> MemoryLeft | None:
    """The tightest limit, where one is known."""
    return next(iter(memory_limits(root)), None)


def check_memory_left(needed: int, what: str, hint: str) -> None:
    """Refuse (SizeError) what would need more bytes than may still be taken."""
    left = memory_left()
    if left is not None and left.bytes < needed:
        raise SizeError(
            f"{what} needs about {needed / 1e6:,.0f} MB more, and {left.said} are left.", hint=hint
        )


def affordable(wanted: int, least: int) -> int:
    """As many bytes as are wanted, but no more than a quarter of what may still be taken, nor fewer than `least`."""
    left = memory_left()
    return wanted if left is None else min(wanted, max(least, left.bytes // 4))


def check_start() -> None:
    """Refuse to begin where not even the libraries would fit; and where addresses are limited, spare them."""
    for left in memory_limits():
        addresses = START_ADDRESSES + THREAD_ADDRESSES * available_cores()
        needed = addresses if left.addresses else START_BYTES
        if left.bytes < needed:
            raise SizeError(
                f"Understudy needs {needed / 1e6:,.0f} MB of memory to begin with, and {left.said} are left.",
                hint="raise that limit; a run goes on where it stopped.",
            )
    if any(left.addresses for left in memory_limits()):
        _spare_addresses()


def _spare_addresses() -> None:
    """Have libraries reserve few addresses: a gigabyte by Arrow's own allocator, and 64 MB for every thread."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # read when Arrow is loaded: not yet
    with suppress(OSError, AttributeError):  # another C library than GNU's
        import ctypes

        ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX, which has no name outside of C


def _own_limits(root: Path) -> Iterator[MemoryLeft]:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    with suppress(OSError, ValueError):
        taken = int((root / "proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        yield MemoryLeft(most - taken, "ulimit -v", addresses=True)


def _container(root: Path) -> Iterator[MemoryLeft]:
    """What the control groups of this process leave, of either version; files that are cached do not count."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, place = [*line.split(":", 2), "", ""][:3]
        if controllers not in ("", "memory") and "memory" not in controllers.split(","):
            continue
        mounted = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        most, used = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
            if controllers
            else ("memory.max", "memory.current")
        )
        group = mounted / place.lstrip("/")
        # Inside a container the group's own place may not be there: its limit is then that of the root.
        for folder in (group, *group.parents):
            if not folder.is_relative_to(mounted):
                break
            with suppress(OSError, ValueError):  # "max" is no number
                limit = int((folder / most).read_text())
                if limit < _UNLIMITED:
                    taken = int((folder / used).read_text()) - _cached(folder)
                    yield MemoryLeft(limit - taken, "the container's limit")


def _cached(group: Path) -> int:
    """Bytes of files that a group has in memory, which give way to whoever needs them."""
    with suppress(OSError, ValueError):
        lines = (group / "memory.stat").read_text().splitlines()
        figures = {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}
        return sum(
            figures.get(f"total_{name}", figures.get(name, 0)) for name in ("inactive_file", "active_file")
        )
    return 0


def _machine(root: Path) -> Iterator[MemoryLeft]:
    """What the machine has left, the space for swapped pages included."""
    with suppress(OSError, ValueError, KeyError, IndexError):
        lines = (line.split() for line in (root / "proc/meminfo").read_text().splitlines())
        figures = {line[0].rstrip(":"): int(line[1]) << 10 for line in lines}
        yield MemoryLeft(figures["MemAvailable"] + figures.get("SwapFree", 0), "what the machine has")
