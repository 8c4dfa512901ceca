"""Functions that Numba compiles, kept on disk between runs wherever there is a folder for them.

A container may have no folder that can be written, and a disk may be full: then kernels are compiled for each process
anew, which takes some seconds, and all else is as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

UNCACHED = (
    "no folder can be written to keep compiled kernels in: they are compiled anew, which takes some seconds a run. "
    "To keep them, set NUMBA_CACHE_DIR to a folder that can be written."
)


class UncachedKernelsWarning(UserWarning):
    """Kernels are compiled anew in each process."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator as Numba's own of that name, for which `cache=True` is a wish and not a condition."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            kernel = numba.njit(**options)(function)
        except RuntimeError:  # Numba found no folder to keep it in
            warnings.warn(UNCACHED, UncachedKernelsWarning, stacklevel=1)
            return numba.njit(**{**options, "cache": False})(function)
        _forgive(kernel)
        return kernel

    return compiled


def _forgive(kernel: Any) -> None:
    """Go on without the file of a kernel that cannot be written, or that is there and damaged."""
    cache = getattr(kernel, "_cache", None)
    for name in ("load_overload", "save_overload"):
        if hasattr(cache, name):
            setattr(cache, name, _forgiving(getattr(cache, name)))


def _forgiving(work: Callable[..., Any]) -> Callable[..., Any]:
    def tried(*given: Any) -> Any:
        try:
            return work(*given)
        except Exception:  # a disk that is full, or a file of which Numba makes nothing
            return None

    return tried
