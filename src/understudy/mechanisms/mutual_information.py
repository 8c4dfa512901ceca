"""How much two columns say of each other, on data that is public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Counter, Marginal
from understudy.marginals.clique_runs import runs_within
from understudy.mechanisms.spanning_tree import Pair

CELLS_AT_ONCE = 1 << 24


def mutual_information(table: npt.NDArray[Any]) -> float:
    """The mutual information of a two-way table of counts, in nats."""
    total = table.sum()
    if not total:
        return 0.0
    joint = table / total
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


def pair_information(public: Counter, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """The mutual information of every pair."""
    return {(m.clique[0], m.clique[1]): mutual_information(m.counts) for m in count_in_parts(public, pairs)}


def count_in_parts(counter: Counter, cliques: Sequence[Clique]) -> Iterator[Marginal]:
    """The marginals in order, counted so many at a time that they fit in a bounded space."""
    for run in runs_within(counter.domain, cliques, CELLS_AT_ONCE):
        yield from counter.count(run)


def conditional_dependence(triple: npt.NDArray[Any]) -> float:
    """How far columns 1 and 2 are from independent given column 0.

    The L1 distance, on frequencies, between the three-way table and what its pairs (0, 1) and (0, 2) imply.
    Paper, "Marginal selection algorithm", step 3: Private-PGM's estimate has this closed form.
    """
    total = triple.sum()
    if not total:
        return 0.0
    joint = triple / total
    first, second = joint.sum(axis=2), joint.sum(axis=1)
    given = first.sum(axis=1)
    share = np.divide(second, given[:, None], out=np.zeros_like(second), where=given[:, None] > 0)
    return float(np.abs(joint - first[:, :, None] * share[:, None, :]).sum())


def all_pairs(domain: Domain, limit_cells: int) -> list[Pair]:
    """Every pair of columns whose marginal has at most so many cells, in the domain's order."""
    names = domain.names
    return [
        (a, b) for i, a in enumerate(names) for b in names[i + 1 :] if domain[a] * domain[b] <= limit_cells
    ]
