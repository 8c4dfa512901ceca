"""NIST-MST, the contest's winning entry in general form: select on public data, measure the private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter, Measurement
from understudy.marginals.query import Binned
from understudy.mechanisms.mechanism import Allotment, Fit, allot, shares
from understudy.mechanisms.one_way import OneWay, measure_and_compress
from understudy.mechanisms.public.public_selection import Selection, select_on_public
from understudy.mechanisms.repeated_measurement import measure_repeated
from understudy.mechanisms.shrinkage import fit
from understudy.privacy import Budget, Curator, Group, Loss, Role
from understudy.transforms.compress import compress

RARE = 5e-4  # of the public records: codes below are merged before the selection, as they will be in private


@dataclass(frozen=True)
class NIST_MST:
    """Selects 2- and 3-way marginals on a public table with the same columns; private data is only measured.

    What to measure is decided before the private table is touched, on the public one with its own rare codes
    merged, so the noise is calibrated to the very batch that is asked.

    Parameters:
        public: a public table with the same columns, as `us.table` makes it.
        forced: cliques to measure whatever the public data says; none by default.
        weights: how much a clique matters, above 0; 1 where left out.
        bins: for some cliques and columns, a bin for each code: the clique is measured with that column in bins.
        one_way_weights: how much a column alone matters, above 0; 1 where left out.
        exempt: columns whose codes are never merged; none by default.
        one_way: the share of the budget for columns alone, above 0; taken, like the next, as a part of their sum.
            Halves by default, as in the contest.
        selected: the share for the selected marginals.
        threshold: codes whose noisy count is below so many standard deviations are merged, at least 0; the
            paper's 3.
        triple_threshold: how far a triple must be from what its pairs imply, as an L1 distance of frequencies,
            from 0 to 2; the contest's 0.1 by default.
        limit_cells: marginals with more cells are left out; a million by default, beyond which noise drowns them.
        shrink: pull noisy tables towards simpler ones before the fit. On by default, as it lowers the error;
            the contest entry did not.

    Raises:
        ParameterError: a share or a threshold is out of its range.

    Example:
        >>> import understudy as us
        >>> public = us.table("people.csv", "people.toml")  # a table that anyone may see
        >>> us.NIST_MST(public).name
        'nist-mst'
    """

    public: Counter
    forced: tuple[Clique, ...]
    weights: Mapping[Clique, float]
    bins: Mapping[Clique, Mapping[str, tuple[int, ...]]]
    one_way_weights: Mapping[str, float]
    exempt: tuple[str, ...]
    one_way: Fraction
    selected: Fraction
    threshold: float
    triple_threshold: float
    limit_cells: int
    shrink: bool

    def __init__(
        self,
        public: Counter,
        *,
        forced: Sequence[Clique] = (),
        weights: Mapping[Clique, float] | None = None,
        bins: Mapping[Clique, Mapping[str, Sequence[int]]] | None = None,
        one_way_weights: Mapping[str, float] | None = None,
        exempt: Sequence[str] = (),
        one_way: Fraction | float = Fraction(1, 2),
        selected: Fraction | float = Fraction(1, 2),
        threshold: float = 3.0,
        triple_threshold: float = 0.1,
        limit_cells: int = 10**6,
        shrink: bool = True,
    ) -> None:
        if not (threshold >= 0 and triple_threshold >= 0 and limit_cells >= 1):
            raise ParameterError("threshold, triple_threshold and limit_cells must not be negative.")
        values: dict[str, Any] = {
            **shares(one_way=one_way, selected=selected),
            "public": public,
            "forced": tuple(tuple(clique) for clique in forced),
            "weights": dict(weights or {}),
            "bins": {
                tuple(clique): {name: tuple(codes) for name, codes in columns.items()}
                for clique, columns in (bins or {}).items()
            },
            "one_way_weights": dict(one_way_weights or {}),
            "exempt": tuple(exempt),
            "threshold": float(threshold),
            "triple_threshold": float(triple_threshold),
            "limit_cells": int(limit_cells),
            "shrink": bool(shrink),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "nist-mst"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        self._check(domain)
        weights = tuple(self.one_way_weights.get(name, 1.0) for name in domain)
        if not self.selection.cliques:  # one column, or none of its pairs is small enough
            return (Group("one-way", "measure", Fraction(1), weights=weights, role=Role.ONE_WAY),)
        return (
            Group("one-way", "measure", self.one_way, weights=weights, role=Role.ONE_WAY),
            Group("selected", "measure", self.selected, weights=self._weights),
        )

    def cliques(self, domain: Domain) -> list[Clique]:
        """What would be measured if no code were merged."""
        self._check(domain)
        return list(self.selection.within(domain, self.limit_cells))

    @cached_property
    def selection(self) -> Selection:
        """The cliques that the public table suggests."""
        return select_on_public(
            self.merged_public(),
            forced=self.forced,
            triple_threshold=self.triple_threshold,
            limit_cells=self.limit_cells,
        )

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        if isinstance(budget, Budget) and not all(self._fits(domain, c) for c in self.bins.values()):
            raise ParameterError(  # nothing is charged yet; learned columns may have codes that nobody foresaw
                "bins are given for other codes than the private table's.", hint="give one bin a code."
            )
        losses = allot(curator, self.plan(domain), budget)
        step = measure_and_compress(
            curator,
            losses["one-way"],
            weights=self.one_way_weights,
            threshold=self.threshold,
            exempt=self.kept_whole,
        )
        log = list(step.log)
        if "selected" in losses:
            log += self.measure_selected(step, losses["selected"])
        return Fit(tuple(log), fit(step.curator.domain, log, shrink=self.shrink), step.compression)

    def measure_selected(self, step: OneWay, loss: Loss) -> list[Measurement]:
        """The selected marginals, in one batch, of a curator whose codes were merged."""
        cliques = self.selection.within(step.curator.domain, self.limit_cells)
        queries = [self._query(step, clique) for clique in cliques]
        return measure_repeated(step.curator, cliques, loss, self._weights, queries)

    def _fits(self, domain: Mapping[str, int], columns: Mapping[str, tuple[int, ...]]) -> bool:
        return all(len(codes) == domain[name] for name, codes in columns.items())

    def _check(self, domain: Domain) -> None:
        # Sizes may differ: another state has other cities, and selection is by column.
        if set(self.public.domain) != set(domain):
            raise ParameterError(
                "the public table's columns are not the private table's.", hint="give both the same columns."
            )

    @property
    def kept_whole(self) -> tuple[str, ...]:
        """Columns none of whose codes are merged."""
        return (*self.exempt, *(name for columns in self.bins.values() for name in columns))

    @property
    def _weights(self) -> tuple[float, ...]:
        given = {frozenset(clique): weight for clique, weight in self.weights.items()}
        return tuple(given.get(frozenset(clique), 1.0) for clique in self.selection.cliques)

    def merged_public(self) -> Counter:
        """The public table with its rare codes merged: about as the private one will be."""
        columns = [(name,) for name in self.public.domain if name not in self.kept_whole]
        counts = {m.clique[0]: np.asarray(m.counts, np.float64) for m in self.public.count(columns)}
        return self.public.recode(
            compress(counts, {name: RARE * float(cells.sum()) for name, cells in counts.items()}).maps
        )

    def _query(self, step: OneWay, clique: Clique) -> Binned | None:
        """The bins of a clique; none where they are not of the codes that its columns turned out to have.

        A column in bins is kept whole, but for the slots that were left out.
        """
        coded = {name: len(codes) for name, codes in step.compression.maps.items()}
        for given, columns in self.bins.items():
            if set(given) == set(clique) and self._fits(coded, columns):
                left = {n: np.asarray(bins)[step.compression.possible(n)] for n, bins in columns.items()}
                return Binned(tuple(left.get(name, np.arange(step.curator.domain[name])) for name in clique))
        return None
