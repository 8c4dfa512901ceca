"""The first step of MST and NIST-MST: measure every column, merge its rare codes, leave out its empty slots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import CodeLayout, Domain
from understudy.marginals import Measurement
from understudy.mechanisms.empty_slots import empty_slots, unseen
from understudy.mechanisms.shrinkage import Cells, coarse_to_fine
from understudy.mechanisms.tables.column_readings import read_columns
from understudy.privacy import Curator, Loss
from understudy.processors import on_all_cores
from understudy.transforms.compress import Compression, compress
from understudy.transforms.runs import runs

THRESHOLD = 3.0  # standard deviations below which codes are merged, as in the paper
RUN = 6.0  # standard deviations of a pair's cells that a run should hold: enough to tell what its records are like


@dataclass(frozen=True)
class OneWay:
    """One-way measurements, re-expressed on the domain that they themselves compressed."""

    curator: Curator
    compression: Compression
    log: tuple[Measurement, ...]

    def values(self, whole: Domain) -> dict[str, int]:
        """How many of a column's first codes are no slots; all of them where no value has a code of its own."""
        found = {}
        for name, size in self.curator.domain.items():
            slots = self.compression.possible(name)
            slots = slots[slots >= whole[name] - whole.layout(name).slots]
            found[name] = int(self.compression.maps[name][slots].min(initial=size)) or size
        return found

    def unstated(self, whole: Domain) -> dict[str, npt.NDArray[np.bool_]]:
        """Which of a column's codes stand for slots alone, so for no value: not one that rare values share."""
        found = {}
        for name, size in self.curator.domain.items():
            codes = self.compression.maps[name]
            old = self.compression.possible(name)
            slots = old >= whole[name] - whole.layout(name).slots
            found[name] = np.isin(np.arange(size), codes[old[slots]]) & ~np.isin(
                np.arange(size), codes[old[~slots]]
            )
        return found


def measure_and_compress(
    curator: Curator,
    loss: Loss,
    *,
    weights: Mapping[str, float],
    threshold: float,
    least: float = 0.0,
    exempt: Sequence[str] = (),
    pair_noise: float | None = None,
) -> OneWay:
    """All one-way marginals, and the curator of the same records with rare codes merged.

    Paper, "Domain compression": a noisy count below 3 sigma is likely noise. In the scale of the counts
    themselves, sigma is each measurement's own standard deviation. `least` is a threshold in records. A slot
    that cannot be told from an empty one is left out, in exempt columns too. With `pair_noise`, the scale that pairs
    will have, neighbours in ordered columns are joined into runs before other rare codes are merged.
    """
    names = curator.domain.names
    log = curator.measure(
        [(name,) for name in names], [weights.get(name, 1.0) for name in names], budget=loss
    )
    return compressed(curator, log, threshold, least=least, exempt=exempt, pair_noise=pair_noise)


def compressed(
    curator: Curator,
    log: Sequence[Measurement],
    threshold: float,
    *,
    least: float = 0.0,
    exempt: Sequence[str] = (),
    pair_noise: float | None = None,
    likely: Mapping[str, Cells] | None = None,
) -> OneWay:
    """What `measure_and_compress` makes of the columns' measurements, one a column.

    `likely` is what each column's codes are thought to hold. By default neighbours are joined by what `smoothed`
    says, and records of merged codes are spread by that and by what columns have in common, in equal parts.
    """
    counts = {m.clique[0]: m.values for m in log}
    thresholds = {m.clique[0]: max(threshold * float(m.stddev), least) for m in log}
    joined: dict[str, npt.NDArray[np.int64]] = {}
    spread: dict[str, Cells] = {}
    if pair_noise is not None:
        records = float(np.median([values.sum() for values in counts.values()]))
        most = records / (RUN * pair_noise) if pair_noise else math.inf
        layouts = {m.clique[0]: curator.domain.layout(m.clique[0]) for m in log}
        if likely is not None:
            smooth = spread = dict(likely)
        else:
            found = on_all_cores(lambda m: smoothed(m, layouts[m.clique[0]]), log)
            smooth = {m.clique[0]: cells for m, cells in zip(log, found, strict=True)}
            alike = read_columns(log, records)
            spread = {name: (cells + alike[name]) / 2 for name, cells in smooth.items()}
        for m in log:
            layout = layouts[m.clique[0]]
            if layout.ordered > 1:
                joined[m.clique[0]] = runs(
                    smooth[m.clique[0]][: layout.ordered],
                    float(m.stddev),
                    threshold=threshold,
                    most=most,
                    starts=layout.starts,
                )
    empty = empty_slots(curator.domain, log)
    compression = compress(
        counts,
        thresholds,
        tuple(exempt),
        empty,
        runs=joined,
        weights=spread,
        unseen=unseen(curator.domain, log, empty),
    )
    return OneWay(
        curator.recode(compression.maps), compression, tuple(compression.measurement(m) for m in log)
    )


def smoothed(measured: Measurement, layout: CodeLayout) -> Cells:
    """What the codes of a column likely hold: neighbours alike, unless the noisy counts say otherwise."""
    noisy = np.asarray(measured.values, np.float64)
    even = np.full(noisy.size, max(float(noisy.sum()), 1.0) / noisy.size)
    return coarse_to_fine(noisy, even, float(measured.stddev), values=[noisy.size - layout.slots])
