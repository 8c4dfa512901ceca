"""Which module of a package imports which, read from the sources without running them.

Every import counts: at the top of a file, inside a function, for the type checker alone, and the names
that `understudy.lazy.names` imports at their first use (told by the block under `TYPE_CHECKING` beside it).
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path


def modules_under(root: Path, package: str) -> dict[str, Path]:
    """Every module of `package`, whose folder is `root`, by its dotted name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))
        found[name] = path
    return found


def import_graph(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """For each module, the modules among `modules` that it imports."""
    return {name: set(_imported(name, path, modules)) for name, path in modules.items()}


def _imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            candidates = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(name, path, node)
            # `from package import module` imports the module; `from package import name` the package.
            candidates = [
                inner if (inner := f"{base}.{alias.name}") in modules else base for alias in node.names
            ]
        else:
            continue
        yield from (each for each in candidates if each in modules and each != name)


def _absolute(name: str, path: Path, node: ast.ImportFrom) -> str:
    """The dotted name that `from ... import` starts from, relative ones resolved."""
    if not node.level:
        return node.module or ""
    up = node.level - (path.name == "__init__.py")
    base = name.split(".")[: len(name.split(".")) - up]
    return ".".join([*base, *([node.module] if node.module else [])])


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other in a circle, each written as one shortest such circle."""
    groups = [sorted(group) for group in _strongly_connected(graph) if len(group) > 1]
    return [_circle(graph, group) for group in sorted(groups)]


def _circle(graph: Mapping[str, set[str]], group: list[str]) -> list[str]:
    """The shortest way from the group's first module back to itself, the first named at both ends."""
    start = group[0]
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for following in sorted(graph[way[-1]] & set(group)):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    raise AssertionError(f"{start} reaches itself, or it would not be in a group")


def _strongly_connected(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Kosaraju's algorithm: modules in one group reach each other."""
    order: list[str] = []
    seen: set[str] = set()
    for module in graph:
        _visit(graph, module, seen, order)
    backwards: dict[str, set[str]] = {module: set() for module in graph}
    for module, imported in graph.items():
        for each in imported:
            backwards[each].add(module)
    seen = set()
    groups = []
    for module in reversed(order):
        if module not in seen:
            group: list[str] = []
            _visit(backwards, module, seen, group)
            groups.append(set(group))
    return groups


def _visit(graph: Mapping[str, set[str]], module: str, seen: set[str], order: list[str]) -> None:
    """Append to `order` everything that `module` reaches and `seen` lacks, each after what it reaches."""
    if module in seen:
        return
    seen.add(module)
    for each in graph[module]:
        _visit(graph, each, seen, order)
    order.append(module)
