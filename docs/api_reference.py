"""Prints docs/api.md: what `help` says of every public name, and an example of each. `make docs` writes it."""

from __future__ import annotations

import inspect
import runpy
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from operator import attrgetter
from pathlib import Path
from textwrap import indent
from typing import Any

import understudy as us

INTRODUCTION = """\
Written by `make docs` from the program itself. All names are `understudy`'s own: `import understudy as us`, then
`us.fit(...)`. Types stand in the signatures, for editors and type checkers."""
SECTIONS = {
    "From a table to a release": "draft_schema plan Forecast fit MisfitWarning synth load evaluate Comparison "
    "Comparison.report audit Audit UnderstudyError",
    "A release": "Release Release.sample Release.sample_chunks Release.sample_spark Release.marginal "
    "Release.expected_error ExpectedErrors Release.query QueryAnswers Estimate Release.regress Regression "
    "Release.verify Verdict Release.report Release.save new_key",
    "A schema": "Schema Schema.domain Schema.load Schema.save Schema.from_toml Schema.to_toml "
    "Schema.replace_column Schema.with_columns",
    "Columns": "Column Category Integer Number Boolean Date Datetime Time Id Fake",
    "In the forms of other tools": "import_schema export_schema export_release",
    "Constraints": "Order Derived Determines Implies Never MissingTogether",
    "Mechanisms": "Adaptive MST AIM Workload Workload.of NIST_MST Fixed Independent",
    "For a mechanism of your own": "Mechanism Fit Generator Compression MechanismKind Setting Budget Neighbours "
    "Group Role Gaussian Choice Laplace table Counter Table Domain Marginal Measurement allot estimate Field "
    "Field.marginal Field.probability Field.conditional Field.sample Curator Curator.commit Curator.measure "
    "Curator.choose Curator.choose_dependent Curator.distances Curator.histogram Curator.discover Curator.unit_sizes "
    "Curator.bounded Curator.recode Curator.over",
    "The ledger": "Ledger Ledger.names Ledger.account Ledger.set_limit Ledger.open",
}
EXAMPLES: dict[str, str] = runpy.run_path(str(Path(__file__).with_name("api_examples.py")))["EXAMPLES"]


def documented() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function of the page, by name."""
    for names in SECTIONS.values():
        yield from ((name, attrgetter(name)(us)) for name in names.split())


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller may give: all parameters but `self`; none where there is nothing to call."""
    if inspect.isclass(function) and (_is_protocol(function) or issubclass(function, Enum | Warning)):
        return []
    return [given for given in inspect.signature(function).parameters.values() if given.name != "self"]


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def reference() -> str:
    """The public functions as one Markdown page."""
    parts = ["# The Python API", "", INTRODUCTION, ""]
    functions = dict(documented())
    for title, names in SECTIONS.items():
        parts += [f"## {title}", ""]
        for name in names.split():
            said = inspect.getdoc(functions[name]) or ""
            if name in EXAMPLES:
                said += "\n\nExample:\n" + indent(EXAMPLES[name].strip(), "    ")
            parts += [f"### {name}", "", "```text", _called(name, functions[name]), "", said, "```", ""]
    return "\n".join(parts)


def _called(name: str, function: Callable[..., Any]) -> str:
    """A call with every parameter and its default, without the types; the name where there is nothing to call."""
    if not parameters(function) and not inspect.isfunction(function):
        return name
    bare = [
        given.replace(annotation=given.empty, default=_default(given.default))
        for given in parameters(function)
    ]
    return f"{name}{inspect.Signature(bare)}"


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    return _Dots() if callable(value) or len(repr(value)) > 60 or repr(value).startswith("<") else value


class _Dots:
    """A default that has no short text."""

    def __repr__(self) -> str:
        return "..."


if __name__ == "__main__":
    sys.stdout.write(reference())
