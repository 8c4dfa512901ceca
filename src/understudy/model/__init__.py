"""The fitted distribution: Private-PGM.

tree        factors, junction trees, and belief propagation over their flat layout
queries     what a calibrated tree answers: marginals, events, likelihoods, and in which order it generates columns
sampling    records whose marginals match it
field_file  a field as one safe file
markov_field  the distribution itself: the three above as methods
fitting     a field from noisy measurements, to a certified optimum
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.model.fitting.estimation import estimate
    from understudy.model.markov_field import MarkovField
    from understudy.model.markov_field import MarkovField as Field
    from understudy.model.sampling.sample import Sample
    from understudy.model.tree.factor import Factor
    from understudy.model.tree.junction_tree import JunctionTree, build_tree

# Public name -> its file and its name there. Loaded on first use: estimation brings a compiler with it.
_FILES = {
    "Factor": ("tree.factor", "Factor"),
    "Field": ("markov_field", "MarkovField"),
    "JunctionTree": ("tree.junction_tree", "JunctionTree"),
    "MarkovField": ("markov_field", "MarkovField"),
    "Sample": ("sampling.sample", "Sample"),
    "build_tree": ("tree.junction_tree", "build_tree"),
    "estimate": ("fitting.estimation", "estimate"),
}

__all__ = [
    "Factor",
    "Field",
    "JunctionTree",
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
