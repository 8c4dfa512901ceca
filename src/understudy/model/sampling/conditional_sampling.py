"""Complete partial records from the field's exact conditional: `sample(given=...)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain.codes import Codes, code_type
from understudy.errors import ParameterError
from understudy.model.queries.evidence import Evidence, Known, rows_at_once
from understudy.model.queries.generation_order import Family, group_keys, weights_of
from understudy.model.queries.partial_records import labels, partial_records
from understudy.model.sampling.sample import Sample
from understudy.model.sampling.synthetic_column import Conditional, Keys, Rounding, synthetic_column
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Array


def complete(
    field: CalibratedTree,
    n: int | None,
    given: Mapping[str, Any],
    rounding: Rounding,
    random: np.random.Generator,
) -> Sample:
    """The given records with every column they lack, in their own order.

    Records that are alike so far are one group, rounded like any other: their completions match the
    conditional as closely as whole records can. A record that is impossible under the field is refused.
    """
    records = partial_records(field.domain, given, n)
    whole = {name: np.empty(records.rows, code_type(size)) for name, size in field.domain.items()}
    for rows, known in records.patterns():
        for part, codes in _parts(field, rows, known):
            for name, column in _completed(field, codes, len(part), rounding, random).items():
                whole[name][part] = column
    return Sample(field.domain, whole, records.rows)


def _parts(
    field: CalibratedTree, rows: npt.NDArray[np.intp], known: Known
) -> Iterator[tuple[npt.NDArray[np.intp], Known]]:
    """All records at once if memory allows, else in runs; memory grows with the number of different records."""
    step = rows_at_once(field, tuple(known), len(rows))
    if step < len(rows):
        _, shown = labels([(codes, field.domain[name]) for name, codes in known.items()], len(rows))
        step = len(rows) if len(shown) <= step else step
    for first in range(0, len(rows), max(step, 1)):
        part = slice(first, first + step)
        yield rows[part], {name: codes[part] for name, codes in known.items()}


def _completed(
    field: CalibratedTree, known: Known, rows: int, rounding: Rounding, random: np.random.Generator
) -> dict[str, Codes]:
    evidence = Evidence(field, known, rows)
    impossible = int(np.isneginf(evidence.log_probability).sum())
    if impossible:
        raise ParameterError(
            f"given: {impossible} of {rows} partial records have probability zero in this field.",
            hint="leave more of their cells empty to be drawn, or drop these records.",
        )
    codes: dict[str, npt.NDArray[Any]] = dict(known)
    for family in evidence.order:
        if family.column not in known:
            keys, posterior = _posterior(evidence, family, codes)
            codes[family.column] = synthetic_column(keys, posterior, rounding, random)
    return codes


def _posterior(
    evidence: Evidence, family: Family, codes: Mapping[str, npt.NDArray[Any]]
) -> tuple[Keys, Conditional]:
    """The groups of records that are alike to a column, and P(column | parents, all known below) of each."""
    domain = evidence.field.domain
    messages = evidence.below[family.column]
    table = weights_of(evidence.field, family)
    parts = [(codes[name], domain[name]) for name in family.parents]
    parts += [(m.group, len(m.table)) for m in messages]
    keys, shown = labels(parts, evidence.rows)

    def weights(groups: npt.NDArray[np.intp]) -> Array:
        rows = shown[groups]
        prior = table[
            group_keys(domain, family.parents, {n: codes[n][rows] for n in family.parents}, len(rows))
        ]
        posterior = prior / prior.sum(axis=1, keepdims=True)
        for m in messages:  # the column is itself a free parent below: its axis stays, and comes last
            seen = np.moveaxis(m.table, m.free.index(family.column) + 1, -1)
            others = tuple(codes[name][rows] for name in m.free if name != family.column)
            posterior = posterior * seen[(m.group[rows], *others)]
        return np.ascontiguousarray(np.where(posterior.any(axis=1, keepdims=True), posterior, prior))

    return keys, Conditional(len(shown), domain[family.column], weights)
