"""A kernel that was compiled before is linked alone where all that it asks for is there, and else as Numba does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from understudy import kernel_linking
from understudy.kernel_linking import _asked_for, linked

# A kernel of arrays, of an error that it raises, and of a function of the mathematical library.
KERNEL = """
import sys
import numpy as np
from understudy.compiled import njit

@njit(cache=True, nogil=True)
def grown(values, by):
    if by == 0:
        raise ValueError("by nothing")
    made = np.empty(values.size)
    for place in range(values.size):
        made[place] = np.exp(values[place]) / by
    return made

if __name__ == "__main__":
    print(grown(np.zeros(2), 2).tolist())
    try:
        grown(np.zeros(2), 0)
    except ValueError as error:
        print(error)
    print("numba.np.linalg" in sys.modules, "numba.np.arrayobj" in sys.modules)
"""


def test_kernels_of_an_earlier_process_run_without_what_compiling_loads(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNEL)
    source = Path(kernel_linking.__file__).parents[1]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(source)}
    said = [
        subprocess.run(
            [sys.executable, "kernels.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert said[0] == ["[0.5, 0.5]", "by nothing", "True True"]
    assert said[1] == ["[0.5, 0.5]", "by nothing", "False False"]


def test_numba_readies_itself_where_a_kernel_asks_for_what_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readied: list[bool] = []
    monkeypatch.setattr(CompileResult, "_rebuild", lambda target, *payload: payload)
    target = SimpleNamespace(refresh=lambda: readied.append(True))
    cpu_target.target_context.codegen()  # as whoever links a kernel has
    for asked, ready in (["numba_gil_ensure"], False), (["numba_gil_ensure", "is_nowhere"], True):
        readied.clear()
        monkeypatch.setattr(kernel_linking, "_asked_for", lambda code, asked=asked: asked)
        linked(target, (("name", "object", (b"", b"")),))
        assert bool(readied) == ready
    readied.clear()
    linked(target, (("name", "bitcode", b""),))
    assert readied


def test_names_that_object_code_asks_for_are_read_from_it() -> None:
    codegen = cpu_target.target_context.codegen()
    library = codegen.create_library("asks")
    asks = "define i32 @own() {\n %x = call i32 @asked()\n ret i32 %x\n}\ndeclare i32 @asked()\n"
    library.add_llvm_module(_parsed(asks, codegen))
    code = codegen._tm.emit_object(library._final_module)
    assert _asked_for(code) == (["asked"] if code.startswith(kernel_linking.ELF_64) else None)
    assert _asked_for(b"\xcf\xfa\xed\xfe of another system") is None


def _parsed(text: str, codegen: object) -> object:
    from llvmlite import binding

    module = binding.parse_assembly(text)
    module.triple = codegen._tm.triple  # type: ignore[attr-defined]  # Numba's own, untyped
    return module
