"""Prints docs/api.md: what `help` says of every public function. `make docs` writes it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import understudy as us

INTRODUCTION = """\
Written by `make docs` from the program itself. All names are `understudy`'s own: `import understudy as us`, then
`us.fit(...)`. Types stand in the signatures, for editors and type checkers."""
SECTIONS = {
    "From a table to a release": "draft_schema plan fit synth load evaluate audit",
    "A release": "Release.sample Release.sample_chunks Release.sample_spark Release.marginal Release.expected_error "
    "Release.query Release.verify Release.report Release.save new_key Comparison.report",
    "A schema": "Schema Schema.domain Schema.load Schema.save Schema.from_toml Schema.to_toml "
    "Schema.replace_column Schema.with_columns",
    "In the forms of other tools": "import_schema export_schema export_release",
    "Constraints": "Order Derived Determines Implies Never MissingTogether",
    "Mechanisms": "MST Adaptive AIM Workload.of NIST_MST Fixed Independent",
    "For a mechanism of your own": "table allot estimate Curator Curator.commit Curator.measure Curator.choose "
    "Curator.choose_dependent Curator.distances Curator.histogram Curator.discover Curator.unit_sizes "
    "Curator.bounded Curator.recode Curator.over",
    "The ledger": "Ledger Ledger.names Ledger.account Ledger.set_limit Ledger.open",
}


def documented() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function of the page, by name."""
    for names in SECTIONS.values():
        yield from ((name, attrgetter(name)(us)) for name in names.split())


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller may give: all parameters but `self`."""
    return [given for given in inspect.signature(function).parameters.values() if given.name != "self"]


def reference() -> str:
    """The public functions as one Markdown page."""
    parts = ["# The Python API", "", INTRODUCTION, ""]
    functions = dict(documented())
    for title, names in SECTIONS.items():
        parts += [f"## {title}", ""]
        for name in names.split():
            said = inspect.getdoc(functions[name]) or ""
            parts += [f"### {name}", "", "```text", _called(name, functions[name]), "", said, "```", ""]
    return "\n".join(parts)


def _called(name: str, function: Callable[..., Any]) -> str:
    """A call with every parameter and its default, without the types."""
    bare = [
        given.replace(annotation=given.empty, default=_default(given.default))
        for given in parameters(function)
    ]
    return f"{name}{inspect.Signature(bare)}"


def _default(value: Any) -> Any:
    return _Dots() if callable(value) and value is not inspect.Parameter.empty else value


class _Dots:
    """A default that has no short text."""

    def __repr__(self) -> str:
        return "..."


if __name__ == "__main__":
    sys.stdout.write(reference())
