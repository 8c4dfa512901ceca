"""One thread for NumPy's linear algebra while learners are fitted: their matrices are small.

Threads of OpenBLAS that wait for each other do so by spinning, which took twice the processor's time and more of the
clock's. Commands say so in the environment before NumPy is loaded; a program that calls us has loaded it already.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

# How NumPy's own wheels have named the two functions, the newest first.
_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra on one thread of this process; as before, where NumPy has no OpenBLAS of its own."""
    found = _openblas()
    if found is None:
        yield
        return
    get, put = found
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)


@cache
def _openblas() -> tuple[Any, Any] | None:
    """What asks and what sets the number of threads, of the library that NumPy's wheel brought along."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for place in sorted(folder.glob("*openblas*")):
            with suppress(OSError):
                library = ctypes.CDLL(str(place))  # loaded already: this one is the same
                for name in _NAMES:
                    if hasattr(library, name.format("set")):
                        return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None
