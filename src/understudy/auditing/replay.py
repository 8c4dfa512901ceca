"""Half a million runs at once: the same questions, to a curator whose every cell is a run of its own.

Noise is independent from cell to cell. So a marginal whose cells all hold what the differing cell holds is as many
independent runs, priced, charged and drawn by the curator's own code with the operating system's randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.auditing.attacker_view import Batch, Floats
from understudy.domain import Clique, Domain
from understudy.errors import BudgetError, ParameterError
from understudy.marginals import Marginal as Counts
from understudy.privacy import Budget, Curator, Filtered, Gaussian, Group, Laplace, Loss, Neighbours
from understudy.privacy.accounting.losses import GaussianPortion

_CELLS = 2**22  # of one curator's marginals together
_MOST = 2**20  # of one histogram, whose cells are written down one by one


@dataclass(frozen=True)
class Wide:
    """An engine of one column a marginal, whose cells hold a few counts over and over."""

    cells: Mapping[str, npt.NDArray[np.int64]]

    @property
    def domain(self) -> Domain:
        return Domain({name: counts.size for name, counts in self.cells.items()})

    def count(self, cliques: Sequence[Clique]) -> list[Counts]:
        return [Counts(clique, self.cells[clique[0]].copy()) for clique in cliques]

    def recode(self, maps: Mapping[str, Any]) -> Wide:
        raise ParameterError("the engine of a replay has no codes to merge.")


@dataclass(frozen=True)
class Replay:
    """The batches of a run, to be asked again and again under the same plan and budget."""

    batches: tuple[Batch, ...]
    plan: tuple[Group, ...]
    budget: Budget
    neighbours: Neighbours

    def ratios(self, runs: int, *, present: bool) -> Floats:
        """The log-likelihood ratio of so many runs on one of the worlds."""
        widths = [max(1, len(m.with_)) for batch in self.batches for m in batch.marginals]
        at_once = max(1, min(_CELLS // max(1, sum(widths)), _MOST // max(widths, default=1)))
        parts = [min(at_once, runs - first) for first in range(0, runs, at_once)]
        return np.concatenate([self._some(part, present) for part in parts])

    def _some(self, runs: int, present: bool) -> Floats:
        cells: dict[str, npt.NDArray[np.int64]] = {}
        for i, batch in enumerate(self.batches):
            for j, marginal in enumerate(batch.marginals):
                held = (marginal.with_ if present else marginal.without) or (0,)
                cells[f"{i}.{j}"] = np.tile(np.array(held, np.int64), runs)
        curator = Curator(Wide(cells), self.budget, neighbours=self.neighbours)
        planned = list(curator.commit(self.plan).values())
        total = np.zeros(runs)
        for i, batch in enumerate(self.batches):
            names = [f"{i}.{j}" for j in range(len(batch.marginals))]
            for marginal, noisy in zip(
                batch.marginals, self._ask(curator, batch, names, planned), strict=True
            ):
                if marginal.with_:
                    total += marginal.ratio(noisy.reshape(runs, -1))
        return total

    def _ask(self, curator: Curator, batch: Batch, names: list[str], planned: list[Loss]) -> list[Floats]:
        """The noisy cells of a batch, at the loss that the plan has for it."""
        loss = batch.loss
        if isinstance(loss, Laplace):
            asked = next(p for p in planned if isinstance(p, Laplace) and p.epsilon == loss.epsilon)
            if batch.marginals[0].threshold:
                return [self._histogram(curator, names[0], asked, batch.marginals[0].threshold)]
            return [m.values for m in curator.measure(names, budget=asked)]
        weights = None if loss.weights is None else list(loss.weights)
        try:
            return [m.values for m in curator.measure(names, weights, self._planned(loss, planned))]
        except BudgetError:  # what was divided is used up: the run measured in place of choices
            refund = curator.refund()
            if refund is None:
                raise
        planned[:] = [p for p in planned if not isinstance(p, Gaussian) or p.weights is not None] + [refund]
        return [m.values for m in curator.measure(names, weights, self._planned(loss, planned))]

    def _planned(self, loss: Gaussian, planned: list[Loss]) -> Gaussian | GaussianPortion:
        """What the plan has for a batch of this loss: a loss of its own, or a portion of one that is divided."""
        gaussians = [p for p in planned if isinstance(p, Gaussian)]
        fitting = [p for p in gaussians if p.sigma == loss.sigma]
        if not fitting and any(isinstance(p, Filtered) for p in planned):
            return loss  # a filter takes whatever its rho allows
        if fitting:
            match = next((p for p in fitting if p.weights == loss.weights), fitting[0])
            planned.remove(match)
            return match
        divided = next(p for p in gaussians if p.weights is None)
        # A little less than its share, so that rounded shares do not add up to more than the whole.
        return divided.portion(Fraction((divided.sigma / loss.sigma) ** 2 * (1 - 1e-12)))

    def _histogram(self, curator: Curator, name: str, loss: Laplace, threshold: int) -> Floats:
        found = curator.histogram((name,), loss, threshold)
        cells = np.full(curator.domain[name], np.nan)
        cells[found.places] = found.counts
        return cells
