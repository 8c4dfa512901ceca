"""What was measured so far: each clique once, repeated measurements averaged, tables shrunk before the fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.mechanisms.adaptive.least_risk import shrunk
from understudy.mechanisms.adaptive.noise_price import Cells
from understudy.mechanisms.repeated_measurement import averaged
from understudy.model import MarkovField, estimate

WORK = 1e8  # of a refit, in cells times passes: enough to certify one of 50,000 cells, half a second or so


class MeasuredTables:
    """The measurements of a run on its compressed domain, and the field that is fitted to them.

    A table is pulled towards what the field said of it before it was first measured, and only as far as its noise
    suggests; so noise of one round is not taken for knowledge in the next.
    """

    def __init__(self, domain: Domain, alone: Sequence[Measurement], records: float) -> None:
        self.domain, self.records = domain, records
        self._alone = list(alone)
        self._prior: dict[Clique, Cells] = {}
        self._found: dict[Clique, list[Measurement]] = {}
        self.field: MarkovField = estimate(self.domain, self._alone, total=records)

    @property
    def cliques(self) -> list[Clique]:
        """The cliques that were measured after the columns, in their order."""
        return list(self._found)

    @property
    def log(self) -> list[Measurement]:
        """Every measurement after those of the columns, as it was released."""
        return [measured for several in self._found.values() for measured in several]

    def add(self, measured: Sequence[Measurement]) -> None:
        """Take in one batch, and fit the field anew."""
        for m in measured:
            if m.clique not in self._prior:
                self._prior[m.clique] = np.asarray(self.field.marginal(m.clique).counts, np.float64)
            self._found.setdefault(m.clique, []).append(m)
        pulled = [self._shrunk(clique, several) for clique, several in self._found.items()]
        self.field = estimate(
            self.domain, [*self._alone, *pulled], total=self.records, warm_start=self.field, work=WORK
        )

    def _shrunk(self, clique: Clique, several: Sequence[Measurement]) -> Measurement:
        prior, measured = self._prior[clique], averaged(several)
        table = shrunk(measured.values.reshape(prior.shape), prior, float(measured.stddev))
        return Measurement(clique, table, measured.stddev)
