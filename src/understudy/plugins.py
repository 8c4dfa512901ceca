"""What other packages add to the house: kinds that their entry points offer, things named by a text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module, metadata
from typing import Any, TypeVar

from understudy.errors import ParameterError

Kind = TypeVar("Kind")


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


def entry_points(group: str) -> metadata.EntryPoints:
    """The entry points of a group that installed packages have, as of the first time that any group is asked for."""
    found: metadata.EntryPoints = _installed().select(group=group)
    return found


@cache
def _installed() -> Any:
    """Those of all groups: every package is looked through for them. What holds them differs between Pythons."""
    return metadata.entry_points()


def loaded(named: Any) -> Any:
    """What "package.module:Name" names; anything else is itself."""
    if not isinstance(named, str):
        return named
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)
