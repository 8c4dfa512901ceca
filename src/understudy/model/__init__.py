"""The fitted distribution: Private-PGM."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.model.estimation import estimate
    from understudy.model.factor import Factor
    from understudy.model.junction_tree import JunctionTree, build_tree
    from understudy.model.log_potential import LogPotential
    from understudy.model.markov_field import MarkovField
    from understudy.model.markov_field import MarkovField as Field
    from understudy.model.sample import Sample

# Public name -> its file and its name there. Loaded on first use: estimation brings a compiler with it.
_FILES = {
    "Factor": ("factor", "Factor"),
    "Field": ("markov_field", "MarkovField"),
    "JunctionTree": ("junction_tree", "JunctionTree"),
    "LogPotential": ("log_potential", "LogPotential"),
    "MarkovField": ("markov_field", "MarkovField"),
    "Sample": ("sample", "Sample"),
    "build_tree": ("junction_tree", "build_tree"),
    "estimate": ("estimation", "estimate"),
}

__all__ = [
    "Factor",
    "Field",
    "JunctionTree",
    "LogPotential",
    "MarkovField",
    "Sample",
    "build_tree",
    "estimate",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'understudy.model' has no attribute {name!r}")
    file, inside = _FILES[name]
    value = getattr(import_module(f"understudy.model.{file}"), inside)
    globals()[name] = value
    return value
