"""How many processors this process may use, where it is bound to some of the machine's, and work for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

ItemT = TypeVar("ItemT")
DoneT = TypeVar("DoneT")


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def on_all_cores(work: Callable[[ItemT], DoneT], items: Iterable[ItemT]) -> list[DoneT]:
    """What the work makes of every item, in their order, done by as many threads as there are cores.

    It pays where most of the work is done in kernels and libraries, which let other threads run meanwhile.
    """
    from concurrent.futures import ThreadPoolExecutor

    waiting = list(items)
    threads = min(available_cores(), len(waiting))
    if threads < 2:
        return [work(item) for item in waiting]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, waiting))
