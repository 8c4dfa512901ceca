"""NIST-MST as it was submitted: its own noise, bins for the wage, 7,500 plain mirror-descent steps.

For comparison only. Noise is that of the moments accountant of 2018; the estimate begins at the product of the
one-way marginals and is taken as it is after so many steps; noisy tables are not shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.mechanisms import NIST_MST, Fit
from understudy.mechanisms.mechanism import Allotment
from understudy.mechanisms.one_way import measure_and_compress
from understudy.model import MarkovField, estimate
from understudy.model.fitting import starting_point
from understudy.model.fitting.mirror_descent import descend
from understudy.model.fitting.observations import Observations
from understudy.model.fitting.refinement import Goal
from understudy.model.tree.junction_tree import build_tree
from understudy.privacy import Budget, Curator, Gaussian, Group

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Submitted:
    """The recipe `settings` with one noise scale for both rounds and a fixed number of steps."""

    settings: NIST_MST
    sigma: float
    steps: int

    @property
    def name(self) -> str:
        return "nist-mst as submitted"

    def layout(self, domain: Domain) -> tuple[Group, ...]:
        """One group a round, equal shares; the noise is not calibrated to them but given."""
        return tuple(Group(name, "measure", Fraction(1, 2)) for name in ("one-way", "selected"))

    def cliques(self, domain: Domain) -> list[Clique]:
        """What would be measured if no code were merged."""
        return self.settings.cliques(domain)

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        recipe, loss = self.settings, Gaussian(self.sigma)
        step = measure_and_compress(
            curator,
            loss,
            weights=recipe.one_way_weights,
            threshold=recipe.threshold,
            exempt=recipe.kept_whole,
        )
        log = [*step.log, *recipe.measure_selected(step, loss)]
        field = plain_mirror_descent(step.curator.domain, log, step.log, self.steps)
        return Fit(tuple(log), field, step.compression)


def plain_mirror_descent(
    domain: Domain, log: Sequence[Measurement], one_way: Sequence[Measurement], steps: int
) -> MarkovField:
    """The field after so many steps from the product of the one-way estimates, converged or not."""
    warm = estimate(domain, one_way)
    observations = Observations(build_tree(domain, [m.clique for m in log]), log)
    tables = starting_point.warm(observations.layout, warm)
    goal = Goal(target=0.0, fine=0.0, patience=0, limit=steps)
    marginals, _ = descend(log, observations, tables, None, warm.total, Squares(), goal, None)
    return MarkovField(observations.layout.tree, observations.layout.split(marginals), warm.total)


class Squares:
    """Half the sum of squared errors in units of noise: the loss of the paper's equation for theta."""

    def value(self, answers: Floats, values: Floats, stddev: Floats) -> float:
        apart = (answers - values) / stddev
        return 0.5 * float(apart @ apart)

    def gradient(self, answers: Floats, values: Floats, stddev: Floats) -> Floats:
        return np.asarray((answers - values) / stddev**2)
