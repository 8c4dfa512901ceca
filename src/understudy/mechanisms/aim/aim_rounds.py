"""The rounds of AIM: choose what the model explains worst, measure it, refit; halve noise that hid everything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.mechanisms.public.public_start import PublicStart
from understudy.mechanisms.workload.workload import whole_weights
from understudy.model import MarkovField, estimate
from understudy.model.tree.junction_tree import JunctionTree, predict
from understudy.privacy import Choice, Curator, Gaussian

_ABSOLUTE = math.sqrt(2 / math.pi)  # the mean distance of normal noise from zero, in standard deviations
STEPS = 200  # of a refit between rounds: more brings a model of many loops hardly nearer to the truth
OF_CHOICES = 0.1  # of a round's rho

Cells = npt.NDArray[np.float64]


class KnownMarginals:
    """What a field says of some cliques, worked out together. A curator's choice asks it of every candidate."""

    def __init__(self, field: MarkovField, cliques: Sequence[Clique]) -> None:
        found = field.marginals(cliques)
        self._known = {m.clique: np.asarray(m.counts, np.float64) for m in found}

    def __call__(self, clique: Clique) -> Cells:
        return self._known[clique]


@dataclass
class AimRounds:
    """What the rounds of one run share: who answers, what matters, and what is left of the rho.

    whole    the rho of the whole mechanism
    left     what is left of it for rounds
    a_round  what the next round costs
    """

    curator: Curator
    matters: Mapping[Clique, float]
    cell_limit: int
    whole: float
    left: float
    a_round: float

    def run(
        self, alone: Sequence[Measurement], field: MarkovField, begun: PublicStart | None = None
    ) -> tuple[list[Measurement], MarkovField]:
        """Every measurement, those of the columns first, and the field that is fitted to them.

        Where the field began at a public table, `begun` fits it anew.
        """
        log = list(alone)
        while self.left > 0:
            if self.left < 2 * self.a_round:
                self.a_round = self.left
            self.left -= self.a_round
            scale = self._sigma * self.curator.neighbours.l2
            candidates = self._candidates(field, scale)
            estimates = KnownMarginals(field, candidates)
            chosen = self._choose(candidates, estimates, scale)
            measured = self.curator.measure([chosen], budget=Gaussian(self._sigma))
            log += measured
            field = self._refitted(log, field) if begun is None else begun.add(measured)
            moved = float(np.abs(field.marginal(chosen).counts - estimates(chosen)).sum())
            if moved <= self._noise(chosen, scale):
                self.a_round *= 4  # the noise is halved, and the epsilon of a choice doubled
        return log, field

    def _refitted(self, log: Sequence[Measurement], field: MarkovField) -> MarkovField:
        return estimate(self.curator.domain, log, total=field.total, warm_start=field, max_steps=STEPS)

    def _choose(self, candidates: Sequence[Clique], estimates: KnownMarginals, scale: float) -> Clique:
        weights = whole_weights([self.matters[clique] for clique in candidates])
        costs = [
            round(weight * self._noise(clique, scale))
            for clique, weight in zip(candidates, weights, strict=True)
        ]
        loss = Choice(math.sqrt(8 * OF_CHOICES * self.a_round))
        return candidates[self.curator.choose(candidates, estimates, loss, costs=costs, weights=weights)]

    @property
    def _sigma(self) -> float:
        """The noise of this round's measurement, at sensitivity one."""
        return math.sqrt(0.5 / ((1 - OF_CHOICES) * self.a_round))

    def _noise(self, clique: Clique, scale: float) -> float:
        """How far noise alone is likely to take a marginal from the truth, in records."""
        return _ABSOLUTE * scale * self.curator.domain.size(clique)

    def _candidates(self, field: MarkovField, scale: float) -> list[Clique]:
        """What may be chosen: what the model holds already, or can hold within its share of the cells.

        Left out are marginals of which noise alone exceeds all that a misfit can be: twice the records.
        """
        tree, limit = field.tree, self.cell_limit * (1 - self.left / self.whole)
        return [
            clique
            for clique in self.matters
            if len(clique) == 1
            or (self._noise(clique, scale) <= 2 * field.total and _fits(tree, clique, limit))
        ]


def _fits(tree: JunctionTree, clique: Clique, limit: float) -> bool:
    return predict(tree, clique) <= limit or tree.home(clique) is not None
