"""Small changes to the product's source, each of which some test should notice.

A mutant replaces one piece of one function's text, or of one constant's: a comparison, a constant, an operator, a
call, a statement that raises. Left alone are messages (whatever stands in a `raise`, an f-string or a docstring),
types, defaults of arguments, bodies of classes, and functions that Numba compiles.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.Mult(),
    ast.Pow: ast.Mult(),
    ast.LShift: ast.RShift(),
    ast.RShift: ast.LShift(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
}
SWAPS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "ceil": "floor",
    "floor": "ceil",
    "minimum": "maximum",
    "maximum": "minimum",
}
RETURNS = {"bool": ("True", "False"), "int": ("0",), "float": ("0.0",)}
UNSEEN = ("__repr__", "__str__")  # functions that only tell a person something


@dataclass(frozen=True)
class Mutant:
    """One change: bytes `start` to `end` of a file become `after`. No `function` means a constant of the module."""

    path: str
    function: str
    first: int
    start: int
    end: int
    line: int
    kind: str
    before: str
    after: str
    occurrence: int = 0
    around: str = ""

    @property
    def key(self) -> str:
        """What names the change while its function's text, which `around` digests, is the same, in any file."""
        where = self.function or Path(self.path).name
        said = (self.around, where, self.kind, self.before, self.after, str(self.occurrence))
        return hashlib.sha256("\0".join(said).encode()).hexdigest()[:12]

    def applied(self, source: bytes) -> bytes:
        """The file's text with the change made."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}"
        return (
            f"{where} {self.function or 'module'} [{self.kind}] {_short(self.before)} -> {_short(self.after)}"
        )


def _short(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= 90 else joined[:87] + "..."


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of its text."""
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    found: list[Mutant] = []
    seen: dict[tuple[str, ...], int] = {}
    for function, outer, node, kind, after in _changes(ast.parse(source)):
        first = min([outer.lineno, *(d.lineno for d in getattr(outer, "decorator_list", []))])
        text = b"".join(lines[first - 1 : outer.end_lineno])
        around = hashlib.sha256(text).hexdigest()[:12]
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        new = after if isinstance(node, ast.stmt) else f"({after})"
        same = (function, kind, before, after)
        place = seen[same] = seen.get(same, -1) + 1
        found.append(Mutant(path, function, first, start, end, node.lineno, kind, before, new, place, around))
    return found


Change = tuple[str, ast.stmt, "ast.expr | ast.stmt", str, str]  # function's name, where, node, kind, new text


def _changes(module: ast.Module) -> Iterator[Change]:
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield from (("", node, *change) for change in _within(node.value))
    for name, function in functions_of(module):
        yield from _of_function(function, name)


def functions_of(tree: ast.Module | ast.ClassDef, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function that stands in no other, with its name and its classes', but for those that Numba compiles."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from functions_of(node, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not _is_compiled(node):
            yield within + node.name, node


def _is_compiled(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)


def _of_function(node: ast.FunctionDef, name: str) -> Iterator[Change]:
    if node.name in UNSEEN:
        return
    returns = RETURNS.get(ast.unparse(node.returns) if node.returns else "", ())
    for statement in node.body:
        for change in _within(statement, returns):
            yield name, node, *change


def _within(node: ast.AST, returns: Sequence[str] = ()) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """The changes of a statement or expression and of all that stands in it."""
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.Raise):
        yield node, "no raise", "pass"
        return
    yield from _here(node, returns)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _within(child, () if isinstance(node, ast.FunctionDef | ast.Lambda) else returns)


def _here(node: ast.AST, returns: Sequence[str]) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """The changes of this very node."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            yield node, "comparison", f"{_of(left)} {COMPARISONS[type(op)]} {_of(right)}"
        case ast.Compare(left=left, ops=[one, other], comparators=[middle, right]):
            here = f"{_of(left)} {COMPARISONS[type(one)]} {_of(middle)} {_sign(other)} {_of(right)}"
            yield node, "comparison", here
            there = f"{_of(left)} {_sign(one)} {_of(middle)} {COMPARISONS[type(other)]} {_of(right)}"
            yield node, "comparison", there
        case ast.Constant(value=bool() as value):
            yield node, "constant", str(not value)
        case ast.Constant(value=int() as value):
            yield node, "constant", str(value + 1)
        case ast.Constant(value=float() as value):
            yield node, "constant", repr(value * 1.5 if value else 1.0)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield node, "sign", ast.unparse(operand)
        case ast.BoolOp(op=op, values=values):
            joint = " or " if isinstance(op, ast.And) else " and "
            yield node, "logic", joint.join(_of(value) for value in values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS and not _is_text(left, right):
            yield node, "operator", ast.unparse(ast.BinOp(left, OPERATORS[type(op)], right))
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in OPERATORS:
            yield node, "operator", ast.unparse(ast.AugAssign(target, OPERATORS[type(op)], value))
        case ast.Call(func=ast.Name(id=name) as func) if name in SWAPS:
            yield func, "swap", SWAPS[name]
        case ast.Call(func=ast.Attribute(value=value, attr=name) as func) if name in SWAPS:
            yield func, "swap", f"{_of(value)}.{SWAPS[name]}"
        case ast.Expr(value=ast.Call()):
            yield node, "no call", "pass"
        case ast.IfExp(body=body, orelse=orelse):
            yield node, "branch", ast.unparse(body)
            yield node, "branch", ast.unparse(orelse)
        case ast.If(test=test):
            yield test, "branch", "False"
        case ast.Return(value=value) if value is not None:
            for constant in returns:
                if ast.unparse(value) != constant:
                    yield node, "return", f"return {constant}"


def _is_text(*nodes: ast.expr) -> bool:
    """Whether an operator joins or fills texts, or joins types."""
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes | None))
        for node in nodes
    )


def _of(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _sign(op: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("a"), [op], [ast.Name("b")]))[2:-2]


def sampled(mutants: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """So many of them, from every file in proportion to how many it has, and at least two; the same for a seed."""
    files: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        files.setdefault(mutant.path, []).append(mutant)
    whole = sum(map(len, files.values()))
    if not 0 < size < whole:
        return [mutant for found in files.values() for mutant in found]
    chosen: list[Mutant] = []
    for path, found in sorted(files.items()):
        draw = random.Random(f"{seed} {path}")
        chosen += draw.sample(found, min(len(found), max(2, round(size * len(found) / whole))))
    random.Random(seed).shuffle(chosen)
    return chosen


def read(home: Path, patterns: Sequence[str]) -> dict[str, bytes]:
    """The text of every file of the package that a pattern names."""
    paths = sorted({path for pattern in patterns for path in home.glob(pattern)})
    return {str(path.relative_to(home)): path.read_bytes() for path in paths}
