"""What a model says of sets of columns, as a curator asks it: of one set after the other, of some again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.model import MarkovField


class FieldEstimates:
    """What a field says of cliques, each worked out once. A curator's choice asks it of every candidate."""

    def __init__(self, field: MarkovField) -> None:
        self.field = field
        self._known: dict[Clique, npt.NDArray[np.float64]] = {}

    def __call__(self, clique: Clique) -> npt.NDArray[np.float64]:
        if clique not in self._known:
            self._known[clique] = np.asarray(self.field.marginal(clique).counts, dtype=np.float64)
        return self._known[clique]
