"""What a run will cost in noise, memory and time, from the schema alone; spends nothing."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from understudy.domain import Clique, Domain, Schema
from understudy.errors import ParameterError
from understudy.mechanisms import Mechanism
from understudy.model.junction_tree import BYTES_PER_CELL, LIMIT_CELLS, build_tree
from understudy.pipeline.scans import Scans, scans
from understudy.pipeline.synthesizer import known_domain, plan_of
from understudy.privacy import Budget, Choice, Gaussian, Loss, Neighbours, calibrate

# Rates of one core of a laptop, for a rough forecast; `make bench` prints the real ones of a machine.
INCREMENTS_PER_SECOND = 1.5e9
STEPS = 60  # of estimation, typically
CELLS_PER_SECOND = 1.5e8
VALUES_PER_SECOND = 2e7
START = 1.0  # seconds before the first record is read


@dataclass(frozen=True)
class PlannedGroup:
    """One group of questions: how many, and with how much noise."""

    name: str
    share: str
    marginals: int
    sigma: float | None
    epsilon: float | None


@dataclass(frozen=True)
class PlannedMarginal:
    """What to expect of one measured marginal."""

    clique: Clique
    cells: int
    scale: float
    error: (
        float | None
    )  # mean total variation distance that the noise alone causes; None without a row figure


@dataclass(frozen=True)
class Plan:
    """The forecast of a run."""

    epsilon: float
    delta: float
    rows: int | None
    columns: int
    learned: dict[str, tuple[str, ...]]
    groups: tuple[PlannedGroup, ...]
    marginals: tuple[PlannedMarginal, ...]
    cells: int
    limit_cells: int
    bytes: int
    seconds: float | None
    scans: Scans
    advice: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the largest model the mechanism could choose fits before codes are merged."""
        return self.cells <= self.limit_cells

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON values."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rows": self.rows,
            "columns": self.columns,
            "learned_privately": {name: list(left) for name, left in self.learned.items()},
            "groups": [
                {
                    "name": g.name,
                    "share": g.share,
                    "sigma": g.sigma,
                    "epsilon": g.epsilon,
                    "marginals": g.marginals,
                }
                for g in self.groups
            ],
            "marginals": [
                {"columns": list(m.clique), "cells": m.cells, "scale": m.scale, "expected_error": m.error}
                for m in self.marginals
            ],
            "cells": self.cells,
            "limit_cells": self.limit_cells,
            "fits": self.fits,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "scans": asdict(self.scans),
            "advice": list(self.advice),
        }


def plan(
    schema: Schema,
    mechanism: Mechanism,
    budget: Budget,
    *,
    rows: int | None = None,
    neighbours: Neighbours | None = None,
) -> Plan:
    """The forecast of a run of the mechanism on a table of so many rows (the schema's figure when left out)."""
    rows = schema.rows if rows is None else rows
    if rows is not None and rows < 0:
        raise ParameterError(f"rows {rows} is negative.", hint="give the table's size, roughly.")
    groups = plan_of(schema, mechanism)
    losses = calibrate(budget, groups, neighbours or Neighbours()).losses
    domain = known_domain(schema)
    largest = mechanism.cliques(domain)
    cells = build_tree(domain, largest, limit_cells=None).cells
    marginals = _marginals(domain, largest, losses, rows)
    return Plan(
        epsilon=budget.epsilon,
        delta=budget.delta,
        rows=rows,
        columns=len(domain),
        learned=schema.unlearned,
        groups=tuple(
            PlannedGroup(group.name, str(group.share), *_noise(losses[group.name])) for group in groups
        ),
        marginals=marginals,
        cells=cells,
        limit_cells=LIMIT_CELLS,
        bytes=cells * BYTES_PER_CELL,
        seconds=None if rows is None else _seconds(domain, cells, rows),
        scans=scans(schema, domain, groups, largest, rows),
        advice=_advice(domain, cells),
    )


def _noise(loss: Loss) -> tuple[int, float | None, float | None]:
    if isinstance(loss, Gaussian):
        return len(loss.weights or (1,)), loss.sigma, None
    if isinstance(loss, Choice):
        return loss.count, None, loss.epsilon
    return 1, None, getattr(loss, "epsilon", None)


def _marginals(
    domain: Domain, largest: list[Clique], losses: dict[str, Loss], rows: int | None
) -> tuple[PlannedMarginal, ...]:
    """Each column, then the largest cliques that could be measured with it."""
    gaussians = {name: loss for name, loss in losses.items() if isinstance(loss, Gaussian)}
    found = []
    for name, loss in gaussians.items():
        cliques: list[Clique] = [(column,) for column in domain] if name == "one-way" else largest
        if name in ("bounds", "bins", "values"):
            continue
        scales = loss.scales if loss.weights is not None else ()
        for number, clique in enumerate(cliques):
            scale = scales[number] if number < len(scales) else loss.sigma * math.sqrt(max(1, len(cliques)))
            found.append(_expected(domain, clique, scale, rows))
    return tuple(found)


def _expected(domain: Domain, clique: Clique, scale: float, rows: int | None) -> PlannedMarginal:
    cells = domain.size(clique)
    noise = math.sqrt(2 / math.pi) * scale * cells
    return PlannedMarginal(clique, cells, scale, min(1.0, noise / (2 * rows)) if rows else None)


def _seconds(domain: Domain, cells: int, rows: int) -> float:
    pairs = len(domain) * (len(domain) - 1) / 2
    counting = rows * (pairs + len(domain)) / INCREMENTS_PER_SECOND
    return START + counting + STEPS * cells / CELLS_PER_SECOND + 3 * rows * len(domain) / VALUES_PER_SECOND


def _advice(domain: Domain, cells: int) -> tuple[str, ...]:
    """Which column to bin when the model would not fit, largest first."""
    if cells <= LIMIT_CELLS:
        return ()
    by_size = sorted(domain, key=lambda name: -domain[name])[:3]
    return tuple(
        f"column {name!r} has {domain[name]} codes: give it fewer bins, or a coarser list."
        for name in by_size
    )
