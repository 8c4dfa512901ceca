"""Linking a kernel that was compiled before to this process, without what Numba would load to compile another.

Numba readies all that it could be asked to compile before it links a kernel, which takes longer than all else that a
small run does. A kernel that is compiled needs only the functions whose names stand in its object code: where each of
them is there, it is linked to them; where one is not, Numba readies itself as ever. Nor are those modules of Numba's
loaded that a kernel took functions from: they are compiled in it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import binding
from numba.core import environment
from numba.core.compiler import CompileResult
from numba.core.runtime import _nrt_python

ELF_64 = b"\x7fELF\x02\x01"  # 64 bits, the last byte first: what Numba makes on Linux and Windows
SYMBOLS = 2  # the type of the section that lists them


def linked(target: Any, payload: Any) -> Any:
    """What Numba makes of a kernel that it wrote, linked to this process.

    Args:
        target: Numba's context of this processor.
        payload: what the kernel was reduced to when it was written.

    Returns:
        A `CompileResult`, as compiling gives.
    """
    _, kind, content = payload[0]
    _know_runtime()
    if kind != "object" or not _all_known(content[0]):
        target.refresh()
    return CompileResult._rebuild(target, *payload)


@contextmanager
def light_environments() -> Iterator[None]:
    """Meanwhile kernels are read without the modules of Numba's that they have functions of.

    Numba keeps a function's globals for code that goes through Python's own objects, of which a kernel has none.
    """
    whole = environment._rebuild_env

    def light(module: str, constants: Any, name: str) -> Any:
        if module in sys.modules or not module.startswith("numba."):
            return whole(module, constants, name)
        found = environment.lookup_environment(name)
        if found is None:
            found = environment.Environment({"__name__": module})
            found.consts[:] = constants
            found.env_name = name
            environment.Environment._memo[name] = found
        return found

    environment._rebuild_env = light
    try:
        yield
    finally:
        environment._rebuild_env = whole


def _all_known(code: bytes) -> bool:
    """Whether this process has all that the object code asks for; no, where the code's form is another."""
    names = _asked_for(code)
    return names is not None and all(binding.address_of_symbol(name) for name in names)


@cache
def _know_runtime() -> None:
    """Tell the linker of Numba's functions for arrays, which Numba does only when it compiles."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _asked_for(code: bytes) -> list[str] | None:
    """The names that object code expects elsewhere, or None where it is not ELF of 64 bits."""
    if not code.startswith(ELF_64):
        return None
    (sections,) = struct.unpack_from("<Q", code, 40)
    size, number = struct.unpack_from("<HH", code, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", code, sections + size * k) for k in range(number)]
    return [
        name
        for (_, kind, _, _, start, length, link, _, _, _) in headers
        if kind == SYMBOLS
        for name in _undefined(code[start : start + length], code[headers[link][4] :])
    ]


def _undefined(symbols: bytes, names: bytes) -> Iterator[str]:
    for place, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", symbols):
        if section == 0 and place:
            yield names[place : names.index(b"\0", place)].decode()
