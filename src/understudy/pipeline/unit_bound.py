"""How many records of a unit are used, learned privately where nobody said: what is left out against the noise.

Noise grows with the bound, and a bound that is too low leaves records out. Noisy numbers of units by their records
tell of both: the least bound is taken that leaves out one record in twenty at most, as far as can be told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from understudy.domain import Schema
from understudy.errors import SchemaError
from understudy.pipeline.sources.records import CountsUnits, Records, Uncoded
from understudy.privacy import Budget, Curator
from understudy.privacy.curator.unit_sizes import UnitSizes

SHARE = 1 / 20  # of epsilon; of delta, which Laplace noise needs next to none of,
DELTA_SHARE = 2.0**-10
MOST_LEFT_OUT = 1 / 20  # of the records
HIGHEST = 100  # that is ever learned: more noise than that drowns nearly everything
STARTS = (1, 2, 3, 4, 5, 7, 10, 15, 25, 50, 100, 200, 500)  # records of units that are counted together
DOUBT = 0.05  # the chance that noise alone passes for units in any of the cells


@dataclass(frozen=True)
class UnitBound:
    """The bound on a unit's records, and about how many records there are and are left out, where that is known."""

    most: int
    records: float | None = None
    left_out: float | None = None

    @property
    def said(self) -> str:
        """The bound in words, for people."""
        records = "1 record of each unit is" if self.most == 1 else f"{self.most} records of each unit are"
        used = f"at most {records} used (learned)"
        if self.records is None or self.left_out is None:
            return f"{used}: there are too few units to tell how many records they have."
        share = self.left_out / max(1.0, self.records)
        counted = f"about {self.left_out:,.0f} of {self.records:,.0f} records ({share:.1%})"
        return f"{used}: by noisy counts, {counted} are left out."


def learns_bound(schema: Schema) -> bool:
    """Whether the bound is to be learned."""
    return schema.unit is not None and schema.max_records_per_unit == "learn"


def check_countable(records: Records, schema: Schema) -> bool:
    """Whether the bound is to be learned, once these records can be counted by unit: refused before the charge."""
    if learns_bound(schema) and not isinstance(records, CountsUnits):
        raise SchemaError(
            "table: max_records_per_unit cannot be learned from this kind of data.",
            hint="say how many records of a unit are used: max_records_per_unit = 1.",
        )
    return learns_bound(schema)


def learning_budget(budget: Budget) -> Budget:
    """What learning the bound may cost, out of the whole."""
    return Budget(
        budget.epsilon * SHARE, budget.delta * DELTA_SHARE, allow_large_epsilon=budget.allow_large_epsilon
    )


def rest_of(budget: Budget) -> Budget:
    """What is left of the whole for everything else, for a forecast."""
    return Budget(
        budget.epsilon * (1 - SHARE),
        budget.delta * (1 - DELTA_SHARE),
        allow_large_epsilon=budget.allow_large_epsilon,
    )


def learn_bound(curator: Curator, records: Records, schema: Schema) -> tuple[Curator, Schema, UnitBound]:
    """The schema with a bound, a curator of the records so bounded, and what is known of the bound."""
    found = chosen(curator.unit_sizes(STARTS, learning_budget(curator.budget)))
    bounded = replace(schema, max_records_per_unit=found.most)
    return curator.bounded(Uncoded(records, bounded), found.most), bounded, found


def chosen(sizes: UnitSizes) -> UnitBound:
    """The least bound that leaves out few records, by the cells that hold more than noise; 1 where none does."""
    # P(noise >= m) <= e^(-m/scale), in each of the cells.
    sure = sizes.scale * math.log(len(sizes.starts) / DOUBT)
    ends = [*(after - 1 for _, after in pairwise(sizes.starts)), sizes.starts[-1]]
    cells = [
        ((start + end) / 2, float(units))
        for start, end, units in zip(sizes.starts, ends, sizes.units.tolist(), strict=True)
        if units > sure
    ]
    if not cells:
        return UnitBound(1)
    records = sum(size * units for size, units in cells)

    def left_out(most: int) -> float:
        return sum(max(0.0, size - most) * units for size, units in cells)

    fitting = (most for most in range(1, HIGHEST) if left_out(most) <= MOST_LEFT_OUT * records)
    most = next(fitting, HIGHEST)
    return UnitBound(most, records, left_out(most))
