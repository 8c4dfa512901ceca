"""How often a streamed run reads its records, from public knowledge alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.domain import Clique, Domain, Schema
from understudy.domain.codes import code_type
from understudy.marginals.clique_runs import runs_of_pairs
from understudy.pipeline import learning
from understudy.privacy import Group, Role
from understudy.privacy.curator.exact_counts import AT_ONCE

_FREE = (Role.LEARNING, Role.ONE_WAY)  # groups that read no codes: they come before, or in the same scan
_OWN = (*_FREE, Role.PRIOR, Role.CHECK)


@dataclass(frozen=True)
class Scans:
    """Readings of the source itself, of its codes on disk, and how much disk these take (None: unknown)."""

    source: int
    codes: int
    cache_bytes: int | None


def scans(
    schema: Schema, domain: Domain, groups: Sequence[Group], largest: Sequence[Clique], rows: int | None
) -> Scans:
    """The most scans that a run takes when its records are streamed.

    The source is read once to be coded, which counts every column alone; before that once for each step that
    learns a part of the schema, and once to find its faults before the first such step. A choice reads the
    codes once for all its candidates, or more often where their tables are large, and what is chosen
    is measured from the tables remembered. A network has new candidates after each choice, and each histogram
    is counted alone. How far a public table is off counts all pairs once more. The check of errors counts all its
    cliques in one more scan.
    """
    steps = learning.steps(schema)
    learned = len(steps["values"]) + bool(steps["bounds"]) + bool(steps["bins"])
    if steps["types"]:  # besides the votes: all may turn out to be categories, or all but one
        numbers = bool(steps["bounds"]) + bool(steps["bins"])
        learned = 1 + len(steps["values"]) + len(steps["types"]) + max(1, numbers)
    histograms = sum(group.count for group in groups if group.role is Role.HISTOGRAMS)
    network = sum(group.count for group in groups if group.role in (Role.NETWORK, Role.ROUNDS))
    priors = sum(group.role is Role.PRIOR for group in groups)
    choosing = any(group.kind == "choose" for group in groups)
    pairs = runs_of_pairs(domain, AT_ONCE) if priors or choosing else 0
    if network:
        read = network + 1
    elif choosing:
        read = pairs
        read += any(len(clique) > 2 for clique in largest)
    else:
        read = sum(group.kind == "measure" and group.role not in _OWN for group in groups)
    width = sum(code_type(size).itemsize for size in domain.values())
    read += priors * pairs + histograms + sum(group.role is Role.CHECK for group in groups)
    return Scans(1 + learned + bool(learned), read, None if rows is None else rows * width)
