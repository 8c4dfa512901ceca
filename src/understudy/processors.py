"""How many processors this process may use: fewer than the machine has, where it is bound to some of them."""

from __future__ import annotations

import os


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
