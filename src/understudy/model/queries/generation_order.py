"""The order in which columns are generated, and what each one is generated from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Array, Factor
from understudy.model.tree.junction_tree import JunctionTree


@dataclass(frozen=True)
class Family:
    """A column, the columns generated before it inside its clique, and that clique's place in the tree."""

    column: str
    parents: Clique
    clique: int


def families(tree: JunctionTree) -> tuple[Family, ...]:
    """Every column after its parents: reverse elimination order, from the roots of the tree down.

    Parents are all earlier columns of a junction-tree clique, not only measured neighbours: given
    them a column is independent of everything generated before, so the product of the families is the field.
    """
    found: list[Family] = []
    for i in reversed(range(len(tree.cliques))):
        before = tree.separator(i)
        for column in tree.cliques[i]:
            if column not in before:
                found.append(Family(column, before, i))
                before = (*before, column)
    return tuple(found)


def weights_of(field: CalibratedTree, family: Family) -> Array:
    """P(parents, column) as a matrix: one row a combination of parents (C order), one entry a code.

    A row without mass, which only a calibration error could ask for, falls back on the column's own marginal.
    """
    names = (*family.parents, family.column)
    joint = Factor(field.cliques[family.clique], field.tables[family.clique]).project(names)
    table = np.ascontiguousarray(joint.values).reshape(-1, field.domain[family.column])
    empty = ~table.any(axis=1)
    if empty.any():
        table = table.copy()
        table[empty] = table.sum(axis=0)
    return table


def group_keys(
    domain: Domain, parents: Sequence[str], codes: Mapping[str, npt.NDArray[Any]], rows: int
) -> npt.NDArray[np.int64]:
    """For every record the cell of its parents' codes, in C order."""
    if not parents:
        return np.zeros(rows, np.int64)
    keys = codes[parents[0]].astype(np.int64)
    for name in parents[1:]:
        keys *= domain[name]
        keys += codes[name]
    return keys
