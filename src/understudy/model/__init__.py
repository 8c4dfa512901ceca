"""The fitted distribution: Private-PGM.

tree          factors, junction trees, and belief propagation over their flat layout
queries       what a calibrated tree answers: marginals, events, likelihoods; in which order it generates columns
sampling      records whose marginals match it
field_file    a field as one safe file
markov_field  the distribution itself: the three above as methods
fitting       a field from noisy measurements, to a certified optimum
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.model.fitting.estimation import estimate
    from understudy.model.markov_field import MarkovField
    from understudy.model.markov_field import MarkovField as Field
    from understudy.model.sampling.sample import Sample
    from understudy.model.tree.factor import Factor
    from understudy.model.tree.junction_tree import JunctionTree, build_tree

__all__ = ["Factor", "Field", "JunctionTree", "MarkovField", "Sample", "build_tree", "estimate"]

if not TYPE_CHECKING:  # estimation brings a compiler with it
    __getattr__, __dir__ = lazy_names(__name__)
