"""What a model says of sets of columns, as a curator asks it: of one set after the other, of some again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.model import MarkovField

KEPT = 1 << 24  # cells: all pairs of 98 columns can have ten times as many, a gigabyte


class FieldEstimates:
    """What a field says of cliques; of as many as there is room for, worked out once.

    A curator's choice asks it of every candidate.
    """

    def __init__(self, field: MarkovField) -> None:
        self.field = field
        self._known: dict[Clique, npt.NDArray[np.float64]] = {}
        self._room = KEPT

    def __call__(self, clique: Clique) -> npt.NDArray[np.float64]:
        known = self._known.get(clique)
        if known is not None:
            return known
        found = np.asarray(self.field.marginal(clique).counts, dtype=np.float64)
        if found.size <= self._room:
            self._known[clique] = found
            self._room -= found.size
        return found
