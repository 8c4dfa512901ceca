"""What a model says of sets of columns, as a curator asks it: of one set after the other, of some again."""

from __future__ import annotations

from collections.abc import Iterable

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

    def expect(self, cliques: Iterable[Clique]) -> None:
        """Work out what will be asked, as far as there is room for: together, that is less work."""
        wanted, room = [], self._room
        for clique in cliques:
            size = self.field.domain.size(clique)
            if clique not in self._known and size <= room:
                wanted.append(clique)
                room -= size
        for clique, marginal in zip(wanted, self.field.marginals(wanted), strict=True):
            self._known[clique] = np.asarray(marginal.counts, dtype=np.float64)
        self._room = room

    def __call__(self, clique: Clique) -> npt.NDArray[np.float64]:
        known = self._known.get(clique)
        if known is not None:
            return known
        found = np.asarray(self.field.marginal(clique).counts, dtype=np.float64)
        if found.size <= self._room:
            self._known[clique] = found
            self._room -= found.size
        return found
