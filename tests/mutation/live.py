"""A mutant in a running interpreter: the changed code put into the functions that everybody already holds."""

from __future__ import annotations

import ast
import builtins
import functools
import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType

from mutants import Mutant, functions_of

Place = tuple[str, str, int]  # file, function, first line


class NotAppliedError(Exception):
    """A mutant that cannot be put into a running interpreter."""


class Live:
    """Every function of the package as it stands in memory, and every cache that could remember an old answer."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.functions: dict[Place, list[FunctionType]] = {}
        self.caches: list[functools._lru_cache_wrapper] = []  # type: ignore[type-arg]
        for found in gc.get_objects():  # by their very type: some tests hold objects that raise when asked
            if type(found) is FunctionType and found.__code__.co_filename.startswith(str(home)):
                self.functions.setdefault(place_of(found.__code__), []).append(found)
            elif type(found) is functools._lru_cache_wrapper and _ours(found):
                self.caches.append(found)

    def plant(self, mutant: Mutant, source: bytes) -> None:
        """Make the change here and now; a NotAppliedError where it cannot be."""
        file = str(self.home / mutant.path)
        try:
            whole = compile(mutant.applied(source), file, "exec")
        except SyntaxError as fault:
            raise NotAppliedError(str(fault)) from None
        if mutant.function:
            self._replace((file, mutant.function, mutant.first), whole)
        else:
            _rename(mutant, file, whole)
        for cache in self.caches:
            cache.cache_clear()

    def watch(self, sources: Mapping[str, bytes], called: set[tuple[str, str]]) -> None:
        """Have every function of these files note its file and name in `called` whenever it is called."""
        vars(builtins)["_called"] = called.add
        for path, source in sources.items():
            tree = ast.parse(source)
            for name, node in functions_of(tree):
                note = ast.parse(f"_called({(path, name)!r})").body[0]
                documented = isinstance(node.body[0], ast.Expr) and isinstance(
                    node.body[0].value, ast.Constant
                )
                node.body.insert(int(documented), ast.copy_location(note, node.body[0]))
            whole = compile(ast.fix_missing_locations(tree), str(self.home / path), "exec")
            for code in _codes(whole):
                with suppress(NotAppliedError):
                    self._put(place_of(code), code)

    def _replace(self, place: Place, whole: CodeType) -> None:
        changed = next((code for code in _codes(whole) if place_of(code) == place), None)
        if changed is None:
            raise NotAppliedError("no such function in the text")
        self._put(place, changed)

    def _put(self, place: Place, code: CodeType) -> None:
        if place not in self.functions:
            raise NotAppliedError("no such function in memory")
        for function in self.functions[place]:
            try:
                function.__code__ = code
            except ValueError as fault:  # another number of free variables
                raise NotAppliedError(str(fault)) from None


def _rename(mutant: Mutant, file: str, whole: CodeType) -> None:
    """Give a module's constants their changed values, there and wherever they were imported by name."""
    module = next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file)
    fresh = {"__name__": module.__name__, "__file__": file, "__package__": module.__package__}
    known = dict(vars(module))
    try:
        exec(whole, fresh)
    except Exception as fault:
        raise NotAppliedError(repr(fault)) from None
    changed = {
        name: value
        for name, value in fresh.items()
        if name in known and isinstance(value, int | float | tuple | str) and not _same(known[name], value)
    }
    if not changed:
        raise NotAppliedError("no plain constant changed")
    for other in [m for name, m in sys.modules.items() if name.startswith("understudy")]:
        for name, value in changed.items():
            if vars(other).get(name) is known[name]:
                setattr(other, name, value)


def _ours(cached: object) -> bool:
    return str(getattr(cached, "__module__", "")).startswith("understudy")


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def place_of(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno
