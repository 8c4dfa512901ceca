"""PyArrow without pandas, and Numba without SciPy and YAML, for commands that read files: half a second less to wait.

Where pandas is installed PyArrow loads it to ask whether what it is given is one of pandas' own; where SciPy is,
Numba looks at its version, and would call it for linear algebra, which no kernel does; where YAML is, Numba could
read a file of settings. What a command reads from a file is none of these.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

HIDDEN = ("pandas", "scipy", "yaml")
NUMBA_SETTINGS = ".numba_config.yaml"  # in the folder of a run: who has one wants it read


class Hidden:
    """A finder of modules by which pandas, SciPy and YAML are not installed, as long as it is `hiding` them.

    When pandas is loaded later PyArrow is told: it looks but once, and would take a frame for a list.
    """

    hiding = True

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A ModuleNotFoundError for what is hidden; None, for the finder that is asked next."""
        if self.hiding:
            if name.split(".", maxsplit=1)[0] in HIDDEN:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return None
        if name != "pandas":
            return None
        sys.meta_path.remove(self)
        found = find_spec(name)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def load_and_tell(module: ModuleType) -> None:
                load(module)
                _ = import_module("pyarrow").lib._pandas_api.pd

            found.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return found


def load_light(*sources: str | None) -> None:
    """Load both libraries without what they would load needlessly, where every source is a file that is here.

    A source of another kind may hand over frames of pandas'. Whoever asks for what was hidden after this gets it.
    """
    here = all(source is None or os.path.exists(source) for source in sources)
    if not here or "pandas" in sys.modules or Path(NUMBA_SETTINGS).exists():
        return
    hidden = Hidden()
    sys.meta_path.insert(0, hidden)
    gc.disable()
    try:
        import_module("numba")
        import_module("pyarrow").array([0])  # now PyArrow has looked for pandas
    finally:
        hidden.hiding = False
        # What was loaded stays: looking through it again and again for rings that nobody holds any more would cost
        # a tenth of a short command.
        gc.freeze()
        gc.enable()
