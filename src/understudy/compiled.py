"""Functions that Numba compiles, kept on disk between runs wherever there is a folder for them.

What a wheel brought along already compiled is not compiled at all (see `shipped_kernels`). A container may have no
folder that can be written, and a disk may be full: then kernels are compiled for each process anew, which takes some
seconds, and all else is as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

from understudy.kernel_linking import light_environments, linked
from understudy.shipped_kernels import are_shipped, shipped_kernel

UNCACHED = (
    "no folder can be written to keep compiled kernels in: they are compiled anew, which takes some seconds a run. "
    "To keep them, set NUMBA_CACHE_DIR to a folder that can be written."
)

KERNELS: list[Any] = []  # all of this process, in the order in which their modules were loaded


class UncachedKernelsWarning(UserWarning):
    """Kernels are compiled anew in each process."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator as Numba's own of that name, for which `cache=True` is a wish and not a condition."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            kernel = numba.njit(**options)(function)
        except RuntimeError:  # Numba found no folder to keep it in
            if not are_shipped():
                warnings.warn(UNCACHED, UncachedKernelsWarning, stacklevel=1)
            kernel = numba.njit(**{**options, "cache": False})(function)
        _forgive(kernel)
        return kernel

    return compiled


def _forgive(kernel: Any) -> None:
    """Take a kernel that was shipped; go on without the file of one that cannot be written, or that is damaged."""
    cache = getattr(kernel, "_cache", None)
    if cache is None:  # Numba was told not to compile
        return
    KERNELS.append(kernel)
    shipped, kept = _forgiving(shipped_kernel), _forgiving(_kept_kernel)
    as_numba_does = _forgiving(cache.load_overload)

    def load(types: Any, target: Any) -> Any:
        return (
            shipped(kernel.py_func, types, target)
            or kept(cache, types, target)
            or as_numba_does(types, target)
        )

    cache.load_overload, cache.save_overload = load, _forgiving(cache.save_overload)


def _kept_kernel(cache: Any, types: Any, target: Any) -> Any:
    """The kernel for arguments of these types that lies in Numba's folder, or None where none does."""
    with light_environments():
        found = cache._cache_file.load(cache._index_key(types, target.codegen()))
    return None if found is None else linked(target, found)


def _forgiving(work: Callable[..., Any]) -> Callable[..., Any]:
    def tried(*given: Any) -> Any:
        try:
            return work(*given)
        except Exception:  # a disk that is full, or a file of which Numba makes nothing
            return None

    return tried
