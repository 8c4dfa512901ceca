"""A run that begins at a public table: its first step, and its measurements, each pulled towards what was expected.

No code is merged where a public table is of use: what a rare one goes with is as the public table says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.domain import Clique, Domain
from understudy.marginals import Counter, Measurement
from understudy.mechanisms.empty_slots import without_empty_slots
from understudy.mechanisms.mechanism import Allotment
from understudy.mechanisms.one_way import OneWay
from understudy.mechanisms.public.public_prior import CELLS, NEAR, WORK, Supposed, likely_columns, supposed
from understudy.mechanisms.repeated_measurement import averaged
from understudy.mechanisms.shrinkage import pooled_column, surer
from understudy.mechanisms.tables.least_risk import shrunk
from understudy.mechanisms.tables.noise_price import Cells
from understudy.mechanisms.tables.scaled_tables import scaled
from understudy.model import MarkovField, estimate
from understudy.model.fitting.record_total import estimate_total
from understudy.model.tree.junction_tree import build_tree
from understudy.privacy import Curator

PASSES = 200  # of a refit at least, however many cells it has
MOST_CELLS = 600_000  # of a model that began at a public one, of `public_prior.CELLS` at most


@dataclass(frozen=True)
class Begun:
    """A first step whose columns are as measured, no code merged, and what the public table suggests of them.

    `likely` is what the columns likely hold: pulled towards the public ones.
    """

    step: OneWay
    likely: tuple[Measurement, ...]
    known: Supposed


def begin(
    public: Counter | None,
    curator: Curator,
    log: Sequence[Measurement],
    losses: Allotment,
    *,
    cell_limit: int = CELLS,
) -> Begun | None:
    """Begin at the public table, if that is found nearer to the records than independence is; asked where it may be.

    `log` measures the curator's columns, one each.
    """
    if public is None or NEAR not in losses:
        return None
    domain = curator.domain
    compression = without_empty_slots(domain, log)
    step = OneWay(
        curator.recode(compression.maps), compression, tuple(compression.measurement(m) for m in log)
    )
    known_public = public.recode(compression.maps)
    likely = pulled_columns(known_public, step.log)
    start = estimate(step.curator.domain, likely, total=estimate_total(domain, log))
    known = supposed(known_public, step.curator, start, likely, losses, cell_limit=cell_limit)
    return None if known is None else Begun(step, likely, known)


def pulled_columns(public: Counter, log: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The columns' measurements, pulled towards the public columns where those are of use."""
    likely = likely_columns(public, log)
    return tuple(m if likely is None else Measurement(m.clique, likely[m.clique[0]], m.stddev) for m in log)


class PublicStart:
    """A field that begins at public tables, and is fitted anew to what is measured.

    A public table is held until its columns are measured together, and left where it would make the model too large.
    What is measured is pulled towards what the field said of it before, as far as its noise suggests; with `shrink`
    off it is taken as it is. `haste` says how many times less is worked on a fit where others follow.
    """

    def __init__(
        self,
        alone: Sequence[Measurement],
        known: Supposed,
        *,
        shrink: bool = True,
        cell_limit: int = MOST_CELLS,
        haste: int = 1,
    ) -> None:
        self._domain, self._total = known.field.domain, known.field.total
        self._log, self._public = list(alone), known.tables
        self._shrink, self._limit, self._haste = shrink, cell_limit, haste
        self._fitted: list[Measurement] = []  # what the field was last fitted to
        self._found: dict[Clique, list[Measurement]] = {}
        self._prior: dict[Clique, Cells] = {}
        self.field: MarkovField = known.field

    def add(self, measured: Sequence[Measurement]) -> MarkovField:
        """Take in what was measured at once; the field that is fitted to all there is."""
        self._log += measured
        for m in measured:
            if len(m.clique) > 1:
                if m.clique not in self._prior:
                    self._prior[m.clique] = np.asarray(self.field.marginal(m.clique).counts, np.float64)
                self._found.setdefault(m.clique, []).append(m)
        columns = columns_of(self._domain, self._log)
        tables = [averaged(several) for several in self._found.values()]
        if self._shrink:
            alone = estimate(self._domain, columns, total=self._total)
            tables = [self._pulled(m, alone) for m in tables]
        self._fitted = [*columns, *self._held(), *tables]
        return self._refitted(self._haste)

    def settle(self) -> MarkovField:
        """The field, fitted without haste once all is measured."""
        return self._refitted(1) if self._fitted and self._haste > 1 else self.field

    def _refitted(self, haste: int) -> MarkovField:
        cells = build_tree(self._domain, [m.clique for m in self._fitted]).cells
        work = max(WORK, float(PASSES * cells)) / haste
        self.field = estimate(self._domain, self._fitted, total=self._total, warm_start=self.field, work=work)
        return self.field

    def _pulled(self, measured: Measurement, alone: MarkovField) -> Measurement:
        sums = [np.asarray(alone.marginal((name,)).counts, np.float64) for name in measured.clique]
        prior = scaled(self._prior[measured.clique], sums)
        found = shrunk(measured.values.reshape(prior.shape), prior, float(measured.stddev))
        return surer(measured, found, prior)

    def _held(self) -> list[Measurement]:
        """Public tables that nothing measured speaks of: as many as the model holds, those first that tell most."""
        left = [m for m in self._public if not any(set(m.clique) <= set(clique) for clique in self._found)]
        fits, too_many = 0, len(left) + 1
        held = len(left)  # mostly all of them
        while too_many - fits > 1:
            cliques = [*self._found, *(m.clique for m in left[:held])]
            if build_tree(self._domain, cliques, limit_cells=None).cells <= self._limit:
                fits = held
            else:
                too_many = held
            held = (fits + too_many) // 2
        return left[:fits]


def columns_of(domain: Domain, log: Sequence[Measurement]) -> list[Measurement]:
    """What all measurements of each column, alone and with others, say of it together; none where none does."""
    told = {name: [_summed(domain, m, name) for m in log if name in m.clique] for name in domain}
    found = (pooled_column(domain, name, measured) for name, measured in told.items())
    return [m for m in found if m is not None]


def _summed(domain: Domain, measured: Measurement, name: str) -> Measurement:
    """What a measurement says of one of its columns."""
    if len(measured.clique) < 3:  # which pooling sums itself
        return measured
    shape = domain.shape(measured.clique)
    others = tuple(axis for axis, other in enumerate(measured.clique) if other != name)
    variance = np.broadcast_to(measured.stddev**2, measured.values.shape).reshape(shape).sum(axis=others)
    return Measurement((name,), measured.values.reshape(shape).sum(axis=others), np.sqrt(variance))
