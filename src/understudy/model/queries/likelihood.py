"""The log probability of records under a field, whole or partial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.model.queries.evidence import Evidence, Known, rows_at_once
from understudy.model.queries.generation_order import families, weights_of
from understudy.model.queries.partial_records import partial_records
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Array


def log_likelihood(field: CalibratedTree, records: Mapping[str, Any]) -> Array:
    """One log probability a record; columns that are left out, or that a record lacks, are summed out."""
    given = partial_records(field.domain, records, None)
    logs = np.zeros(given.rows)
    for rows, known in given.patterns():
        if len(known) == len(field.domain):
            logs[rows] = _whole(field, known, len(rows))
            continue
        step = rows_at_once(field, tuple(known), len(rows))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            codes = {name: column[part] for name, column in known.items()}
            logs[rows[part]] = Evidence(field, codes, len(rows[part])).log_probability
    return logs


def _whole(field: CalibratedTree, known: Known, rows: int) -> Array:
    """The log of the product of all families: one look-up a column."""
    logs = np.zeros(rows)
    for family in families(field.tree):
        table = weights_of(field, family)
        with np.errstate(divide="ignore"):
            conditional = np.log(table / table.sum(axis=1, keepdims=True))
        names = (*family.parents, family.column)
        cell = np.ravel_multi_index(tuple(known[name] for name in names), field.domain.shape(names))
        logs += conditional.reshape(-1)[cell]
    return logs
