"""Constraints as structural zeros: cells of a marginal that no record may be in have no probability in the field.

All of it is post-processing of a fitted field and of public rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Column, Schema
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.condition_truth import CodeCells, truth
from understudy.domain.conditions import Condition, IsMissing, columns_of, leaves
from understudy.domain.constraints import Constraint
from understudy.domain.ordered_differences import held_by_coding
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.mechanisms import Fit
from understudy.mechanisms.tables.scaled_tables import scaled
from understudy.model import MarkovField, estimate
from understudy.model.tree.junction_tree import build_tree
from understudy.transforms.compress import Compression

MOST_CELLS = 1 << 22  # of one rule's marginal, in the schema's own codes
MOST_MODEL = 10_000_000  # cells of the model with the rules in it, or as many as it has without them

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Imposed:
    """A fit whose field holds some rules by itself, and which ones."""

    fit: Fit
    held: frozenset[Constraint]


def zeros_of(condition: Condition, columns: Mapping[str, Column], clique: Clique) -> Mask:
    """The cells of a clique that hold nothing but records that break a condition.

    A column that is coded by its difference from another has a code for all that break their order.
    """
    coded = held_by_coding(condition, columns)
    if coded is not None and len(clique) == 1:
        return np.equal(np.arange(coded.size), coded.astray)
    cells = CodeCells(columns, clique)
    found = truth(condition, cells)
    return np.broadcast_to(~(found.true | found.unknown), cells.shape)


def merged_zeros(
    condition: Condition, clique: Clique, columns: Mapping[str, Column], compression: Compression
) -> Mask:
    """The cells of a clique, in merged codes, that hold nothing but records that break a condition."""
    return ~compression.cells(clique, ~zeros_of(condition, columns, clique))


def clique_of(condition: Condition, columns: Mapping[str, Column]) -> Clique:
    """The columns whose codes tell which records break a condition."""
    coded = held_by_coding(condition, columns)
    names = columns_of(condition)
    return names if coded is None else tuple(name for name in names if columns[name] is coded)


def _is_blurred(condition: Condition, columns: Mapping[str, Column]) -> bool:
    """Whether codes tell next to nothing of a comparison: those of a column by its difference from a third."""
    return held_by_coding(condition, columns) is None and any(
        isinstance(columns[name], Difference)
        for leaf in leaves(condition)
        if not isinstance(leaf, IsMissing)
        for name in columns_of(leaf)
    )


def modelled(rule: Constraint, domain: Mapping[str, int], columns: Mapping[str, Column]) -> bool:
    """Whether zeros of a field could hold a rule: its columns are learned, and no marginal of them is too large."""
    if any(_is_blurred(condition, columns) for condition in rule.conditions()):
        return False
    cliques = [clique_of(condition, columns) for condition in rule.conditions()]
    return bool(cliques) and all(
        set(clique) <= set(domain) and math.prod(domain[name] for name in clique) <= MOST_CELLS
        for clique in cliques
    )


def impose(fit: Fit, schema: Schema) -> Imposed:
    """The fit with a field that is nearest to its own among those that hold the rules, as many as there is room for.

    Every measured marginal of the field is kept as well as the zeros allow: what the noise put into impossible
    cells goes to where the columns' own counts say it belongs.
    """
    field, domain = fit.field, schema.domain()
    if not isinstance(field, MarkovField):
        return Imposed(fit, frozenset())
    zeros: dict[Clique, Mask] = {}
    held: set[Constraint] = set()
    room = max(MOST_MODEL, field.tree.cells)
    for rule in schema.rules:
        if not modelled(rule, domain, schema.columns):
            continue
        masks = dict(zeros)
        for condition in rule.conditions():
            clique = domain.order(clique_of(condition, schema.columns))
            mask = merged_zeros(condition, clique, schema.columns, fit.compression)
            masks[clique] = masks[clique] | mask if clique in masks else mask
        if build_tree(field.domain, [*field.cliques, *masks], limit_cells=None).cells <= room:
            zeros, held = masks, held | {rule}
    zeros = {clique: mask for clique, mask in zeros.items() if mask.any()}
    if not zeros:
        return Imposed(fit, frozenset(held))
    try:
        found = estimate(field.domain, _answers(fit, field), total=max(field.total, 1.0), zeros=zeros)
    except ParameterError:  # what was learned leaves the rules no record: they are held one record at a time
        return Imposed(fit, frozenset())
    return Imposed(replace(fit, field=_with_pairs_of(field, found)), frozenset(held))


def _with_pairs_of(field: MarkovField, found: MarkovField) -> MarkovField:
    """The field that holds the rules, with what stood beside the other, where it has records at all."""
    pairs = {}
    for (clique, table), marginal in zip(field.beside.items(), found.marginals(field.beside), strict=True):
        counts = np.asarray(marginal.counts, np.float64)
        left = np.where(counts > 0, table, 0.0)
        if left.any():
            pairs[clique] = scaled(left * found.total, [counts.sum(1), counts.sum(0)])
    return found.with_beside(pairs)


def _answers(fit: Fit, field: MarkovField) -> list[Measurement]:
    """What the field says of every marginal that was measured, as sure of each as its noise allows."""
    found = []
    for measured in fit.measurements:
        if field.domain.order(measured.clique) in field.beside:
            continue
        counts = np.asarray(field.marginal(measured.clique).counts, dtype=np.float64).reshape(-1)
        if isinstance(measured.query, Interactions):  # the field knows the rest of the table as well
            found.append(Measurement(measured.clique, counts, measured.stddev / measured.query.cells))
            continue
        found.append(Measurement(measured.clique, measured.answers(counts), measured.stddev, measured.query))
    return found
