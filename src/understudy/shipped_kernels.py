"""Compiled kernels that a wheel for one platform brings along, so that a first run does not wait for a compiler.

A file beside this module holds what Numba made of each kernel: object code for processors of a baseline that nearly
all have. It is used only where it is sure to be the same as compiling: the same Python, Numba and operating system, a
processor that has all of the baseline, and the very sources that the kernels were compiled from. Anything else is
compiled, as it is where no such file lies (a checkout, a platform without a baseline).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core.serialize import dumps

from understudy.kernel_linking import light_environments, linked

PLACE = Path(__file__).with_name("kernels.bin")

# What a processor must be able to do: the baseline x86-64-v3, which nearly all of the last ten years have.
BASELINE = (
    *("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16"),
    *("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
)


class Shipped(NamedTuple):
    """The content of the file."""

    made_with: tuple[str, ...]
    sources: str  # a digest of them
    modules: tuple[str, ...]  # those with kernels
    kernels: dict[tuple[str, str], bytes]  # of a kernel's name and the types of its arguments


def shipped_kernel(function: Any, types: Any, target: Any) -> Any:
    """What compiling this function for these types gives, or None where none was shipped for this machine."""
    shipped = _content(PLACE)
    if shipped is None or not _runs_baseline(target.codegen()):
        return None
    found = shipped.kernels.get((_name(function), repr(types)))
    if found is None:
        return None
    with light_environments():
        payload = pickle.loads(zlib.decompress(found))
    return linked(target, payload)


def are_shipped() -> bool:
    """Whether kernels were shipped that fit this Python, Numba and source."""
    return _content(PLACE) is not None


def ship(kernels: Iterable[Any], place: Path) -> int:
    """Write what was compiled of these kernels to a file, and say how many there are.

    The process must have compiled them itself, for the baseline: see `compile_kernels.py`.
    """
    compiled = {
        (_name(kernel.py_func), repr(types)): zlib.compress(dumps(made._reduce()))
        for kernel in kernels
        for types, made in kernel.overloads.items()
    }
    modules = tuple(sorted({kernel.py_func.__module__ for kernel in kernels}))
    place.write_bytes(pickle.dumps(Shipped(_here(), _digest(modules), modules, compiled), protocol=5))
    return len(compiled)


@cache
def _content(place: Path) -> Shipped | None:
    """The file's content, or None where there is none that fits."""
    try:
        shipped: Shipped = pickle.loads(place.read_bytes())
        fits = shipped.made_with == _here() and shipped.sources == _digest(shipped.modules)
    except Exception:  # there is none, as in a checkout, or it is damaged
        return None
    return shipped if fits else None


def _here() -> tuple[str, ...]:
    """Which Python and Numba this is."""
    return sys.platform, str(sys.implementation.cache_tag), numba.__version__


@cache
def _runs_baseline(codegen: Any) -> bool:
    """Whether this processor has all of the baseline, and nobody asked for code for another one."""
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        return False
    triple, _, features = codegen.magic_tuple()
    return triple.startswith("x86_64") and {f"+{name}" for name in BASELINE} <= set(features.split(","))


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _digest(modules: Iterable[str]) -> str:
    """One digest of the sources of these modules, which lie below this one's folder."""
    found, root = hashlib.sha256(), Path(__file__).parent
    for module in modules:
        path = root.joinpath(*module.split(".")[1:])
        found.update(path.with_suffix(".py").read_bytes())
    return found.hexdigest()
