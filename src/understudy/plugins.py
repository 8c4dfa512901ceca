"""What other packages add to the house: kinds that their entry points offer, things named by a text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, TypeVar

from understudy.errors import ParameterError

Kind = TypeVar("Kind")
_SAID, _OURS = (
    (".dist-info", ".egg-info"),
    b"[understudy.",
)  # where a package says what it offers; how groups begin


def offered(group: str, wanted: type[Kind]) -> Iterator[tuple[str, Kind]]:
    """Who offers what under a group of entry points, in the order of their names: each one kind, or several."""
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            named = point.load()
        except Exception as error:
            raise ParameterError(
                f"the plug-in {point.value!r} cannot be loaded ({type(error).__name__}).",
                hint="mend or uninstall its package.",
            ) from None
        kinds = [named] if isinstance(named, wanted) else list(named)
        if not all(isinstance(kind, wanted) for kind in kinds):
            raise ParameterError(
                f"the plug-in {point.value!r} is no {wanted.__name__}.", hint="mend or uninstall its package."
            )
        yield from ((point.value, kind) for kind in kinds)


def entry_points(group: str) -> Iterable[Any]:
    """The entry points of a group that installed packages have, as of the first time that any group is asked for."""
    installed = _installed()
    return () if installed is None else installed.select(group=group)


@cache
def _installed() -> Any:
    """Those of all groups, or None where no package has one of ours. What holds them differs between Pythons."""
    if not _may_offer():
        return None
    from importlib import (
        metadata,  # with all of Python's library for e-mail, by which it reads what packages say
    )

    return metadata.entry_points()


def _may_offer() -> bool:
    """Whether some package may have an entry point of ours; no is for certain."""
    others = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    if any(finder is not PathFinder for finder in others):
        return True  # packages may lie elsewhere
    for place in sys.path:
        try:
            found = os.listdir(place or ".")
        except NotADirectoryError:
            return True  # a package that is one file
        except OSError:
            continue
        for name in found:
            folder = os.path.join(place, name)
            if name.endswith(".egg") or (name.endswith(_SAID) and _names_ours(folder)):
                return True
    return False


def _names_ours(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as said:
            return _OURS in said.read()
    except OSError:  # it has none, or is a file without any
        return False


def loaded(named: Any) -> Any:
    """What "package.module:Name" names; anything else is itself."""
    if not isinstance(named, str):
        return named
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)
