"""Propagation of what is known about each of many records: from the leaves of the field up.

Families (a column and its parents) form a tree: a column tells the last generated of its parents what is
known at and below it. The message of a column is a table over its free parents, one a distinct combination
of what is known there, so records that know the same share all work. This is exact: no rejection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.model.queries.generation_order import Family, families, weights_of
from understudy.model.queries.partial_records import known_first, labels
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Array, align

Known = Mapping[str, npt.NDArray[np.int64]]
BLOCK_CELLS = 1 << 21
HELD_CELLS = 1 << 25  # of all messages together: 256 MiB


@dataclass(frozen=True, eq=False)
class Message:
    """What is known at and below a column, as its parents see it, scaled to a largest entry of one.

    Record i sees `table[group[i]]`, whose axes are the free parents; `log` is what scaling took out.
    """

    free: Clique
    group: npt.NDArray[np.int64]
    table: Array
    log: Array


class Evidence:
    """All messages about `rows` records of which the columns of `known` are known."""

    def __init__(self, field: CalibratedTree, known: Known, rows: int) -> None:
        self.field, self.known, self.rows = field, known, rows
        self.order = families(field.tree)
        self._rank = {family.column: i for i, family in enumerate(self.order)}
        self.below: dict[str, list[Message]] = {family.column: [] for family in self.order}
        self.log_probability = np.zeros(rows)
        for family in reversed(self.order):
            if family.column not in known and not self.below[family.column]:
                continue
            message = self._message(family)
            if family.parents:
                self.below[max(family.parents, key=self._rank.__getitem__)].append(message)
            else:
                with np.errstate(divide="ignore"):
                    self.log_probability += (np.log(message.table) + message.log)[message.group]

    def _message(self, family: Family) -> Message:
        domain = self.field.domain
        fixed, free = known_first(family.parents, self.known)
        seen = family.column in self.known
        index = (*fixed, family.column) if seen else fixed
        axes = free if seen else (*free, family.column)
        inner = self.below[family.column]
        group, shown = labels(
            [(self.known[name], domain[name]) for name in index] + [(m.group, len(m.table)) for m in inner],
            self.rows,
        )
        conditional = self._conditional(family, index, axes)
        table = np.empty((len(shown), *domain.shape(free)))
        log = np.empty(len(shown))
        step = max(1, BLOCK_CELLS // prod(domain.shape(axes)))
        for first in range(0, len(shown), step):
            block = slice(first, first + step)
            rows = shown[block]
            part = self._joined(conditional, index, axes, inner, rows)
            part = part if seen or part.ndim == len(free) + 1 else part.sum(axis=-1)
            peak = part.reshape(len(rows), -1).max(axis=1)
            peak = np.where(peak > 0, peak, 1.0)
            table[block] = part / peak.reshape(-1, *[1] * len(free))
            log[block] = np.log(peak) + sum((m.log[m.group[rows]] for m in inner), np.zeros(len(rows)))
        return Message(free, group, table, log)

    def _joined(
        self,
        conditional: Array,
        index: Clique,
        axes: Clique,
        inner: list[Message],
        rows: npt.NDArray[np.intp],
    ) -> Array:
        """P(column | parents) times the messages below, for some records; the column summed out if that is quick."""
        if not index and all(m.free == axes[-1:] for m in inner):  # one matrix product for all records
            seen = inner[0].table[inner[0].group[rows]]
            for m in inner[1:]:
                seen = seen * m.table[m.group[rows]]
            flat = conditional.reshape(-1, conditional.shape[-1])
            return np.asarray(seen @ flat.T).reshape(len(rows), *conditional.shape[:-1])
        part = conditional[tuple(self.known[name][rows] for name in index)] if index else conditional[None]
        for m in inner:
            part = part * align(("", *m.free), m.table[m.group[rows]], ("", *axes))
        return np.asarray(part)

    def _conditional(self, family: Family, index: Clique, axes: Clique) -> Array:
        """P(column | parents) with the known columns' axes first, then `axes`."""
        names = (*family.parents, family.column)
        rows = weights_of(self.field, family)
        table = (rows / rows.sum(axis=1, keepdims=True)).reshape(self.field.domain.shape(names))
        moved: Array = table.transpose([names.index(name) for name in (*index, *axes)])
        return moved


def rows_at_once(field: CalibratedTree, known: Sequence[str], rows: int) -> int:
    """How many records, should all differ, may be propagated together within memory."""
    cells = 0
    for family in families(field.tree):
        _, free = known_first(family.parents, dict.fromkeys(known))
        cells += field.domain.size(free)
    return max(1, min(rows, HELD_CELLS // max(cells, 1)))
