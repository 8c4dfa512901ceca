"""Public names that are loaded on first use, so that importing a package does nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose public names live in these modules.

    `places` maps a name to "module", or to "module:Name" where it has another name there. Type checkers do not
    see through this: the package imports the same names `if TYPE_CHECKING`.
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, inside = places[name].partition(":")
        value = getattr(import_module(module), inside or name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(places)
