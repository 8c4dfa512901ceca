"""How many processors this process may use, where it is bound to some of the machine's, and work for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")
DoneT = TypeVar("DoneT")


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def all_cores() -> Iterator[Callable[..., Iterable[Any]]]:
    """A `map` whose work is done by as many threads as there are cores, to be used again and again.

    It pays where most of the work is done in kernels and libraries, which let other threads run meanwhile.
    """
    from concurrent.futures import ThreadPoolExecutor

    threads = available_cores()
    if threads < 2:
        yield map
        return
    with ThreadPoolExecutor(threads) as pool:
        yield pool.map


def on_all_cores(work: Callable[[ItemT], DoneT], items: Iterable[ItemT]) -> list[DoneT]:
    """What the work makes of every item, in their order, done on all cores."""
    with all_cores() as each:
        return list(each(work, items))
