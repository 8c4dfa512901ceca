"""Public names that are loaded on first use, so that importing a package does nothing heavy."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that imports its public names `if TYPE_CHECKING`.

    Type checkers take those imports as they stand. Here they are read, and one is made when its name is first used.
    """
    spec: Any = sys.modules[package].__spec__
    source = spec.loader.get_source(package)
    places = {
        name.asname or name.name: (imported.module or "", name.name)
        for imported in ast.walk(ast.parse(source))
        if isinstance(imported, ast.ImportFrom)
        for name in imported.names
    }
    public = sorted(name for name in sys.modules[package].__all__ if not name.startswith("__"))

    def get(name: str) -> Any:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = places[name]
        value = getattr(import_module(module), inside)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: public
