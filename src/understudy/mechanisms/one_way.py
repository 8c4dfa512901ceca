"""The first step of MST and NIST-MST: measure every column, merge its rare codes, leave out its empty slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.marginals import Measurement
from understudy.mechanisms.empty_slots import empty_slots
from understudy.privacy import Curator, Loss
from understudy.transforms.compress import Compression, compress

Cells = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OneWay:
    """One-way measurements, re-expressed on the domain that they themselves compressed."""

    curator: Curator
    compression: Compression
    log: tuple[Measurement, ...]


def measure_and_compress(
    curator: Curator,
    loss: Loss,
    *,
    weights: Mapping[str, float],
    threshold: float,
    least: float = 0.0,
    exempt: Sequence[str] = (),
) -> OneWay:
    """All one-way marginals, and the curator of the same records with rare codes merged.

    Paper, "Domain compression": a noisy count below 3 sigma is likely noise. In the scale of the counts
    themselves, sigma is each measurement's own standard deviation. `least` is a threshold in records. A slot
    that cannot be told from an empty one is left out, in exempt columns too.
    """
    names = curator.domain.names
    log = curator.measure(
        [(name,) for name in names], [weights.get(name, 1.0) for name in names], budget=loss
    )
    counts = {m.clique[0]: m.values for m in log}
    thresholds = {m.clique[0]: max(threshold * float(m.stddev), least) for m in log}
    compression = compress(counts, thresholds, tuple(exempt), empty_slots(curator.domain, log))
    return OneWay(
        curator.recode(compression.maps), compression, tuple(compression.measurement(m) for m in log)
    )


class Independence:
    """Estimates of pairs as the product of two one-way estimates: what a field of one-ways says of them."""

    def __init__(self, marginals: Mapping[str, Cells], total: float) -> None:
        self._shares = {name: cells / max(total, 1e-300) for name, cells in marginals.items()}
        self._total = total

    def __call__(self, clique: Clique) -> Cells:
        cells: Cells = np.array(self._total)
        for name in clique:
            cells = np.multiply.outer(cells, self._shares[name])
        return cells
