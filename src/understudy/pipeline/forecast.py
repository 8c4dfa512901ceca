"""What a run will cost in noise, memory and time, from the schema alone; spends nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from understudy.display import html_table
from understudy.domain import Clique, Domain, Schema
from understudy.domain.given_schema import given_schema
from understudy.domain.ordered_differences import through_differences
from understudy.errors import ParameterError
from understudy.mechanisms import Mechanism
from understudy.mechanisms.mechanism import Sized
from understudy.mechanisms.registry import DEFAULT, as_mechanism
from understudy.model.tree.junction_tree import LIMIT_CELLS
from understudy.pipeline.accuracy.expected_codes import expected_codes, pair_scale
from understudy.pipeline.accuracy.expected_noise import likely_pair_error, mean_pair_error, noise_left
from understudy.pipeline.accuracy.expected_size import model_size
from understudy.pipeline.accuracy.expected_time import Refits, expected_seconds
from understudy.pipeline.holding.upheld import planned
from understudy.pipeline.run_plan import foreseen, known_domain, neighbours_of, plan_of
from understudy.pipeline.scans import Scans, scans
from understudy.pipeline.unit_bound import SHARE, learning_budget, learns_bound, rest_of
from understudy.privacy import Budget, Choice, Gaussian, Group, Laplace, Loss, Neighbours, Role
from understudy.privacy.accounting.calibration import forecast_losses

BASE_BYTES = 280 << 20  # of the program itself
BOUNDS = (1, 2, 4, 8)  # on a unit's records, whose noise is told
_MEASURED = (Role.ONE_WAY, Role.MARGINALS)  # groups that ask for marginals of a model
COPIES = 8  # bytes of a cell of the table in memory: as read, as codes, and again as synthetic records


@dataclass(frozen=True)
class PlannedGroup:
    """One group of questions: how many, and with how much noise."""

    name: str
    share: str
    marginals: int
    sigma: float | None
    epsilon: float | None

    def noise(self, sigma: str = "") -> str:
        """How much noise each question has, as a short text; `sigma` is what a scale is called."""
        if self.sigma is None and self.epsilon is None:
            return "by earlier answers"
        return f"{sigma}{self.sigma:.3f}" if self.sigma else f"epsilon {self.epsilon:.4f} each"


@dataclass(frozen=True)
class PlannedMarginal:
    """What to expect of a measured marginal; `expected` is what is left of the error once more is known of it."""

    clique: Clique
    cells: int
    scale: float
    error: float | None  # total variation that noise alone causes, at most; None without a row figure
    expected: float | None = None


@dataclass(frozen=True)
class Forecast:
    """The forecast of a run: what `us.plan` returns.

    Attributes:
        epsilon: the budget.
        delta: the same.
        rows: about how many records there are; None where nobody said.
        columns: how many are synthesised.
        learned: a column -> what of it is learned privately.
        groups: the steps of the plan: their shares, questions and noise.
        marginals: those that are known beforehand, with the error that their noise causes.
        cells: of the largest model that could be chosen.
        expected_cells: of a model whose pairs are as large as the average one.
        limit_cells: the most that a model may have.
        bytes: memory.
        seconds: time, on two cores; None without a row figure.
        scans: how often the records are read.
        advice: sentences for a person: what would be better.
        constraints: each, and which way it will be held.
        pair_error: the error that is expected of pairs, in the mean, as a share of the records: of all pairs where
            the default mechanism decides what it measures, else of those that are measured.
        intentions: what a mechanism that adapts will likely do, in sentences.
        model_bytes: of the memory, what fitting the model takes.
        of_all_pairs: whether `pair_error` is of all pairs.
    """

    epsilon: float
    delta: float
    rows: int | None
    columns: int
    learned: dict[str, tuple[str, ...]]
    groups: tuple[PlannedGroup, ...]
    marginals: tuple[PlannedMarginal, ...]
    cells: int
    expected_cells: int
    limit_cells: int
    bytes: int
    seconds: float | None
    scans: Scans
    advice: tuple[str, ...]
    constraints: tuple[tuple[str, str], ...] = ()
    pair_error: float | None = None
    intentions: tuple[str, ...] = ()
    model_bytes: int = 0
    of_all_pairs: bool = False

    @property
    def column_error(self) -> float | None:
        """The error that is expected of columns by themselves, in the mean; None where none is measured alone."""
        alone = [m.expected for m in self.marginals if len(m.clique) == 1 and m.expected is not None]
        return math.fsum(alone) / len(alone) if alone else None

    @property
    def fits(self) -> bool:
        """Whether even the largest model that the mechanism could choose fits."""
        return self.cells <= self.limit_cells

    def _repr_html_(self) -> str:
        """The noise of every group, for a notebook."""
        about = "no row figure" if self.rows is None else f"about {self.rows:,} records"
        seconds = "" if self.seconds is None else f", about {self.seconds:.0f} s on two cores"
        return html_table(
            f"Plan: epsilon {self.epsilon:g}, delta {self.delta:g}, {self.columns} columns, {about}",
            ["group", "share", "questions", "noise"],
            [[g.name, g.share, g.marginals, g.noise("sigma ")] for g in self.groups],
            [
                *self.intentions,
                f"A model of {self.expected_cells:,} cells, {self.cells:,} at most.",
                f"Memory: about {self.bytes / 1e6:,.0f} MB{seconds}.",
                *(f"Learned privately: {', '.join(left)} of {name}." for name, left in self.learned.items()),
                *(f"{rule}: held by {way}." for rule, way in self.constraints),
                *self.advice,
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain JSON values."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rows": self.rows,
            "columns": self.columns,
            "learned_privately": {name: list(left) for name, left in self.learned.items()},
            "groups": [asdict(group) for group in self.groups],
            "marginals": [
                {
                    "columns": list(m.clique),
                    "cells": m.cells,
                    "scale": m.scale,
                    "expected_error": m.expected,
                    "error_at_most": m.error,
                }
                for m in self.marginals
            ],
            "expected_errors": {"columns": self.column_error, "pairs": self.pair_error},
            "cells": self.cells,
            "expected_cells": self.expected_cells,
            "limit_cells": self.limit_cells,
            "fits": self.fits,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "scans": asdict(self.scans),
            "advice": list(self.advice),
            "constraints": [{"rule": rule, "held": way} for rule, way in self.constraints],
            "intentions": list(self.intentions),
        }


def plan(
    schema: Schema | str | os.PathLike[str],
    *,
    epsilon: float,
    delta: float,
    mechanism: Mechanism | str = DEFAULT,
    rows: int | None = None,
    neighbours: str = "add-remove",
    check: bool = True,
    allow_large_epsilon: bool = False,
) -> Forecast:
    """What a run would cost in noise, memory and time. Reads no data and spends nothing.

    Parameters:
        schema: what is known of the table, or the path of a schema file.
        epsilon: how much may be revealed of any one person: above 0, at most 20 unless allowed. Smaller is safer.
        delta: the chance that the bound does not hold: above 0, well below 1 / records.
        mechanism: what to measure: a mechanism, or the name of one. "adaptive" by default, which needs nothing
            but the table.
        rows: about how many records there are, a public figure; the schema's by default. Without any, errors and
            time are not forecast.
        neighbours: tables to be told apart differ by one person more ("add-remove", the usual promise), or by one
            person changed ("replace").
        check: whether 3% of the budget are for the check of errors, as for `fit`; on by default.
        allow_large_epsilon: accept an epsilon above 20, where the promise is next to empty.

    Returns:
        A `Forecast`: the noise of every group of questions, the error that it causes, the model's size, and advice.

    Raises:
        ParameterError: a parameter is out of its range, or the mechanism needs to be told more.
        BudgetError: epsilon or delta is not one that can be spent.
        SchemaError: the schema cannot be used.

    Example:
        >>> import understudy as us
        >>> schema = us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 99)}, rows=5000)
        >>> found = us.plan(schema, epsilon=1.0, delta=1e-9)
        >>> [group.name for group in found.groups]
        ['look', 'measure', 'tree', 'rounds', 'late rounds', 'check']
    """
    described = through_differences(given_schema(schema))
    budget = Budget(epsilon, delta, allow_large_epsilon=allow_large_epsilon)
    relation = neighbours_of(described, neighbours)
    return forecast(described, as_mechanism(mechanism), budget, rows=rows, neighbours=relation, check=check)


def forecast(
    schema: Schema,
    mechanism: Mechanism,
    budget: Budget,
    *,
    rows: int | None = None,
    neighbours: Neighbours | None = None,
    check: bool = True,
) -> Forecast:
    """The forecast of a run of the mechanism on a table of so many rows (the schema's figure when left out)."""
    rows = schema.rows if rows is None else rows
    if rows is not None and rows < 0:
        raise ParameterError(f"rows {rows} is negative.", hint="give the table's size, roughly.")
    learned = learns_bound(schema)
    relation = neighbours or Neighbours()
    foresight = foreseen(schema, mechanism, budget, relation, rows=rows, check=check)
    mechanism = foresight.mechanism
    groups = plan_of(schema, mechanism, check=check)
    losses = forecast_losses(rest_of(budget) if learned else budget, groups, relation)
    whole = known_domain(schema)
    ordered = {name for name, column in schema.synthesised.items() if column.ordered}
    alone = next((losses[group.name] for group in groups if group.role is Role.ONE_WAY), None)
    scale = pair_scale(mechanism, len(whole), groups, losses, relation.l2)
    domain = expected_codes(whole, ordered, mechanism, alone, scale, rows)

    l1 = relation.l1
    choosing = any(g.kind in ("choose", "filter") for g in groups) and not isinstance(mechanism, Sized)
    size = model_size(
        mechanism,
        domain,
        losses,
        rows,
        relation.l1,
        budget.epsilon,
        choosing=choosing,
        rounds=foresight.rounds,
    )
    largest, cells = size.cliques, size.cells
    marginals = _marginals(whole, domain, largest, groups, losses, rows, l1, scale, foresight.column_noise)
    questions = sum(group.count for group in groups)
    refits = Refits(foresight.rounds, scale, foresight.at_once)
    return Forecast(
        epsilon=budget.epsilon,
        delta=budget.delta,
        rows=rows,
        columns=len(domain),
        learned=schema.unlearned,
        groups=(
            *([PlannedGroup("units", f"{SHARE:g}", 1, None, learning_budget(budget).epsilon)] * learned),
            *(PlannedGroup(group.name, str(group.share), *_noise(losses[group.name])) for group in groups),
        ),
        marginals=marginals,
        cells=cells,
        limit_cells=LIMIT_CELLS,
        expected_cells=size.expected,
        bytes=BASE_BYTES + size.bytes + (rows or 0) * len(domain) * COPIES,
        model_bytes=size.bytes,
        seconds=None if rows is None else expected_seconds(domain, size.expected, rows, questions, refits),
        scans=scans(schema, domain, groups, largest, rows),
        advice=(
            *(_advice(domain, largest, cells) if choosing or cells > LIMIT_CELLS else ()),
            *_bound_advice(schema, marginals),
        ),
        constraints=planned(schema, domain),
        pair_error=_pair_error(domain, marginals, scale, rows, choosing=choosing)
        if foresight.column_noise is None or scale is None or not rows
        else likely_pair_error(domain, whole, scale, foresight.column_noise, rows),
        intentions=foresight.intentions,
        of_all_pairs=foresight.column_noise is not None and scale is not None,
    )


def _noise(loss: Loss) -> tuple[int, float | None, float | None]:
    if isinstance(loss, Gaussian):
        return len(loss.weights or (1,)), loss.sigma, None
    if isinstance(loss, Choice | Laplace):
        return loss.count, None, loss.epsilon
    return 1, None, getattr(loss, "epsilon", None)


def _pair_error(
    domain: Domain,
    marginals: Sequence[PlannedMarginal],
    scale: float | None,
    rows: int | None,
    *,
    choosing: bool,
) -> float | None:
    """The mean error to expect of measured pairs: of any, where they are chosen, else of those that are planned."""
    if choosing:
        return mean_pair_error(domain, scale, rows) if scale and rows else None
    known = [m.expected for m in marginals if len(m.clique) > 1 and m.expected is not None]
    return math.fsum(known) / len(known) if known else None


def _marginals(
    whole: Domain,
    merged: Domain,
    largest: list[Clique],
    groups: Sequence[Group],
    losses: Mapping[str, Loss],
    rows: int | None,
    l1: int,
    of_pairs: float | None,
    of_columns: float | None,
) -> tuple[PlannedMarginal, ...]:
    """Each column before codes are merged, then the largest cliques that could be measured after it.

    `of_columns` is the noise that columns have in the end, where they are measured again.
    """
    found = []
    for group in groups:
        loss, alone = losses[group.name], group.role is Role.ONE_WAY
        if isinstance(loss, Laplace) and loss.count == len(largest):
            found += [_expected_of_laplace(merged, clique, l1 / loss.epsilon, rows) for clique in largest]
        if not isinstance(loss, Gaussian) or group.role not in _MEASURED:
            continue
        cliques: list[Clique] = [(column,) for column in whole] if alone else largest
        scales = loss.scales if loss.weights is not None else ()
        for number, clique in enumerate(cliques):
            scale = scales[number] if number < len(scales) else of_pairs or loss.sigma
            cells = (whole if alone else merged).size(clique)
            at_most, expected = _errors(cells, scale, rows)
            if alone and of_columns is not None:
                expected = _errors(cells, of_columns, rows)[1]
            found.append(PlannedMarginal(clique, cells, scale, at_most, expected))
    return tuple(found)


@lru_cache(maxsize=4096)  # of many columns, many are alike
def _errors(cells: int, scale: float, rows: int | None) -> tuple[float | None, float | None]:
    """The error that noise causes in such a table, at most and expected; None without a row figure."""
    if not rows:
        return None, None
    noise = math.sqrt(2 / math.pi) * scale * cells
    return min(1.0, noise / (2 * rows)), float(noise_left(cells, scale, rows))


def _expected_of_laplace(domain: Domain, clique: Clique, scale: float, rows: int | None) -> PlannedMarginal:
    """`_expected` for Laplace noise, where cells beyond the number of records are taken to be cut off."""
    cells = domain.size(clique)
    error = min(1.0, scale * min(cells, rows) / (2 * rows)) if rows else None
    return PlannedMarginal(clique, cells, scale, error, error)


def _bound_advice(schema: Schema, marginals: Sequence[PlannedMarginal]) -> tuple[str, ...]:
    """What each bound on a unit's records costs in noise, which grows in proportion."""
    if schema.unit is None or not marginals:
        return ()
    most = 1 if learns_bound(schema) else schema.records_per_unit
    one = marginals[0].scale / most
    costs = ", ".join(f"{one * bound:.3g} with {bound}" for bound in BOUNDS)
    learned = "it is learned privately; the noise above is for 1"
    known = learned if learns_bound(schema) else f"it is {most} here"
    return (
        f"max_records_per_unit decides how many records of a unit count, and the noise: of column "
        f"{marginals[0].clique[0]!r}, {costs}. {known[0].upper()}{known[1:]}.",
    )


def _advice(domain: Domain, largest: list[Clique], cells: int) -> tuple[str, ...]:
    """Which column to bin when the largest model would not fit, or when columns are too large to be paired."""
    joined = {name for clique in largest if len(clique) > 1 for name in clique}
    alone = [name for name in domain if name not in joined]
    if cells <= LIMIT_CELLS and (not alone or len(domain) == 1):
        return ()
    largest_columns = sorted(domain if cells > LIMIT_CELLS else alone, key=lambda name: -domain[name])[:3]
    return tuple(
        f"column {name!r} has about {domain[name]:,} codes: give it fewer (bins, a coarser `every`, a shorter "
        f"list), or {'its largest pairs are left out' if name in joined else 'it is paired with no other'}."
        for name in largest_columns
    )
