"""How many real records break a constraint: a noisy count, and nothing else of them.

Where a rule's columns were measured together, its count is a sum of noisy cells and free. Where a rule asks to be
counted, it is a question of its own to the curator, for all such rules together a hundredth of the budget. Either
way a record is counted by its codes: one that breaks a rule within a bin is not seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Schema
from understudy.domain.conditions import Condition, columns_of
from understudy.domain.constraints import Constraint
from understudy.marginals import Measurement
from understudy.marginals.query import Binned
from understudy.pipeline.holding.structural_zeros import MOST_CELLS, merged_zeros, modelled, zeros_of
from understudy.privacy import Curator, Group, Loss, Role
from understudy.transforms.compress import Compression

GROUP = "constraints"
SHARE = Fraction(1, 100)

Mask = npt.NDArray[np.bool_]
Breaches = Mapping[Constraint, tuple[float, float]]  # the noisy count, and the variance of its noise


def groups(schema: Schema) -> tuple[Group, ...]:
    """The question that rules which want to be counted take."""
    conditions = _counted(schema)
    if not conditions:
        return ()
    return (Group(GROUP, "measure", SHARE, weights=(1.0,) * len(conditions), role=Role.RULES),)


def count(curator: Curator, schema: Schema, losses: Mapping[str, Loss]) -> Breaches:
    """The noisy counts of the rules that want them.

    Privacy: one batch of marginals, summed over groups of cells that public rules tell; at most one loss.
    """
    conditions = _counted(schema)
    if not conditions:
        return {}
    domain = schema.domain()
    cliques: list[Clique] = []
    queries: list[Binned] = []
    masks: list[Mask | None] = []
    for _, condition in conditions:
        clique = domain.order(columns_of(condition))
        if (
            domain.size(clique) > MOST_CELLS
        ):  # known only now: the question is still asked, of next to nothing
            cliques.append(clique[:1])
            queries.append(Binned((np.zeros(domain[clique[0]], np.int64),)))
            masks.append(None)
            continue
        zeros = zeros_of(condition, schema.columns, clique)
        bins = tuple(_alike(zeros, axis) for axis in range(zeros.ndim))
        cliques.append(clique)
        queries.append(Binned(bins))
        masks.append(zeros[np.ix_(*(np.unique(axis, return_index=True)[1] for axis in bins))])
    answers = curator.measure(cliques, budget=losses[GROUP], queries=queries)
    found: dict[Constraint, tuple[float, float]] = {}
    for (rule, _), mask, answer in zip(conditions, masks, answers, strict=True):
        if mask is not None:
            total, variance = found.get(rule, (0.0, 0.0))
            found[rule] = total + _sum(answer, mask), variance + _variance(answer, mask)
    return found


def measured_breaches(
    rule: Constraint, measurements: Sequence[Measurement], schema: Schema, compression: Compression
) -> tuple[float, float] | None:
    """The count of a rule from marginals that were measured anyway; None where its columns were not together."""
    domain = schema.domain()
    if not modelled(rule, domain):
        return None
    total, variance = 0.0, 0.0
    for condition in rule.conditions():
        clique = columns_of(condition)
        measured = next((m for m in measurements if {*m.clique} == {*clique} and m.query is None), None)
        if measured is None:
            return None
        mask = merged_zeros(condition, measured.clique, schema.columns, compression)
        total, variance = total + _sum(measured, mask), variance + _variance(measured, mask)
    return total, variance


def said(found: tuple[float, float] | None) -> dict[str, Any]:
    """A noisy count as a certificate has it."""
    return {} if found is None else {"broken": round(found[0]), "stddev": round(math.sqrt(found[1]), 1)}


def _counted(schema: Schema) -> list[tuple[Constraint, Condition]]:
    return [
        (rule, condition)
        for rule in schema.rules
        if rule.count
        for condition in rule.conditions()
        if set(columns_of(condition)) <= set(schema.synthesised)
    ]


def _alike(mask: Mask, axis: int) -> npt.NDArray[np.int64]:
    """A number for each code of an axis, the same for those that break a rule beside the same codes."""
    rows = np.moveaxis(mask, axis, 0).reshape(mask.shape[axis], -1)
    _, kinds = np.unique(np.packbits(rows, axis=1), axis=0, return_inverse=True)
    return np.asarray(kinds, np.int64).reshape(-1)


def _sum(answer: Measurement, mask: Mask) -> float:
    return float(answer.values[mask.reshape(-1)].sum())


def _variance(answer: Measurement, mask: Mask) -> float:
    return float(np.broadcast_to(answer.stddev**2, mask.size)[mask.reshape(-1)].sum())
