"""How many real records break a constraint: a noisy count, and nothing else of them.

Where a rule's columns were measured together, its count is a sum of noisy cells and free. Where a rule asks to be
counted, it is a question of its own to the curator, for all such rules together a hundredth of the budget. Either
way a record is counted by its codes: one that breaks a rule within a bin is not seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Schema
from understudy.domain.conditions import Condition, columns_of
from understudy.domain.constraints import Constraint
from understudy.domain.ordered_differences import held_by_coding
from understudy.marginals import Measurement
from understudy.marginals.query import Binned
from understudy.pipeline.holding.structural_zeros import (
    MOST_CELLS,
    clique_of,
    merged_zeros,
    modelled,
    zeros_of,
)
from understudy.privacy import Curator, Group, Loss, Role
from understudy.transforms.compress import Compression

GROUP = "constraints"
SHARE = Fraction(1, 100)
MOST_ASKED = 1 << 25  # cells of all marginals together

Mask = npt.NDArray[np.bool_]
Breaches = Mapping[Constraint, tuple[float, float]]  # the noisy count, and the variance of its noise


def groups(schema: Schema) -> tuple[Group, ...]:
    """The question that rules which want to be counted take: one marginal for each set of columns."""
    cliques = _counted(schema)
    if not cliques:
        return ()
    return (Group(GROUP, "measure", SHARE, weights=(1.0,) * len(cliques), role=Role.RULES),)


def count(curator: Curator, schema: Schema, losses: Mapping[str, Loss]) -> Breaches:
    """The noisy counts of the rules that want them.

    Privacy: one batch of marginals, summed over groups of cells that public rules tell; at most one loss.
    """
    counted = _counted(schema)
    if not counted:
        return {}
    domain = schema.domain()
    room = min(MOST_CELLS, MOST_ASKED // len(counted))
    asked: dict[Clique, Binned] = {
        clique: Binned(_alike([zeros_of(condition, schema.columns, clique) for _, condition in rules]))
        for clique, rules in counted.items()
        if domain.size(clique) <= room
    }
    # One that is too large shows only once bounds are learned: another is asked in its place, and not used.
    others = chain.from_iterable(combinations(domain, size) for size in (1, 2, 3))
    spare = (c for c in others if c not in asked and domain.size(c) <= room)
    asked |= {
        c: Binned(tuple(np.zeros(domain[n], np.int64) for n in c))
        for c in islice(spare, len(counted) - len(asked))
    }
    answers = curator.measure(list(asked), budget=losses[GROUP], queries=list(asked.values()))
    found: dict[Constraint, tuple[float, float]] = {}
    for (clique, query), answer in zip(asked.items(), answers, strict=True):
        firsts = np.ix_(*(np.unique(axis, return_index=True)[1] for axis in query.bins))
        for rule, condition in counted.get(clique, ()):
            if domain.size(clique) <= room:
                mask = zeros_of(condition, schema.columns, clique)[firsts]
                total, variance = found.get(rule, (0.0, 0.0))
                found[rule] = total + _sum(answer, mask), variance + _variance(answer, mask)
    return found


def measured_breaches(
    rule: Constraint, measurements: Sequence[Measurement], schema: Schema, compression: Compression
) -> tuple[float, float] | None:
    """The count of a rule from marginals that were measured anyway; None where its columns were not together."""
    domain = schema.domain()
    if not modelled(rule, domain, schema.columns):
        return None
    total, variance = 0.0, 0.0
    for condition in rule.conditions():
        clique = clique_of(condition, schema.columns)
        measured = next((m for m in measurements if {*m.clique} == {*clique} and m.query is None), None)
        if measured is None:
            return None
        mask = merged_zeros(condition, measured.clique, schema.columns, compression)
        coded = held_by_coding(condition, schema.columns)
        if coded is not None and coded.astray in compression.never.get(clique[0], ()):
            variance += float(np.min(measured.stddev)) ** 2  # its count could not be told from none
            continue
        if not mask.any():
            return None  # codes that were merged do not tell
        total, variance = total + _sum(measured, mask), variance + _variance(measured, mask)
    return total, variance


def said(found: tuple[float, float] | None) -> dict[str, Any]:
    """A noisy count as a certificate has it."""
    return {} if found is None else {"broken": round(found[0]), "stddev": round(math.sqrt(found[1]), 1)}


def _counted(schema: Schema) -> dict[Clique, list[tuple[Constraint, Condition]]]:
    """The rules that want to be counted with their conditions, by their columns; from the schema's names alone."""
    order = {name: place for place, name in enumerate(schema.synthesised)}
    found: dict[Clique, list[tuple[Constraint, Condition]]] = {}
    for rule in schema.rules:
        for condition in rule.conditions() if rule.count else ():
            names = columns_of(condition)
            if all(name in order for name in names):
                found.setdefault(tuple(sorted(names, key=order.__getitem__)), []).append((rule, condition))
    return found


def _alike(masks: Sequence[Mask]) -> tuple[npt.NDArray[np.int64], ...]:
    """For each axis a number for each code, the same for those that break the same rules beside the same codes."""
    whole = np.stack(masks, axis=-1)
    found = []
    for axis in range(whole.ndim - 1):
        rows = np.moveaxis(whole, axis, 0).reshape(whole.shape[axis], -1)
        _, kinds = np.unique(np.packbits(rows, axis=1), axis=0, return_inverse=True)
        found.append(np.asarray(kinds, np.int64).reshape(-1))
    return tuple(found)


def _sum(answer: Measurement, mask: Mask) -> float:
    return float(answer.values[mask.reshape(-1)].sum())


def _variance(answer: Measurement, mask: Mask) -> float:
    return float(np.broadcast_to(answer.stddev**2, mask.size)[mask.reshape(-1)].sum())
