"""The systems that compete, by the paper's names: each a recipe for an arena and an epsilon."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from benchmarks.contest.arenas import Arena
from benchmarks.contest.paper import SUBMITTED_SIGMA, SUBMITTED_STEPS
from benchmarks.contest.submitted import Submitted

from understudy.data import Table
from understudy.domain import Clique
from understudy.mechanisms import MST, NIST_MST, Fit, Mechanism
from understudy.mechanisms.mutual_information import all_pairs, count_in_parts
from understudy.presets import nist2018
from understudy.privacy import Budget, Curator, Seeded
from understudy.transforms.compress import Compression

Recipe = Callable[[Arena, float], Mechanism]
GAN = "UCLANESL"
DPSYN_PAIRS = 190 / 98  # for each column: as many as the entry measured
# Times that DPSyn moves records: the entry's 100, and fewer on a table so wide that they would take minutes.
DPSYN_ROUNDS = {"census1940": 25}
GROUP_CELLS = 10**6
SUBMITTED = "NIST-MST as submitted"


def nist_mst(arena: Arena, epsilon: float) -> NIST_MST:
    """NIST-MST with the entry's settings; the forced marginals are measured cell by cell, as in the paper."""
    return _selected(arena, epsilon, binned=False)


def mst(arena: Arena, epsilon: float) -> MST:
    """MST as the paper runs it on the contest: the same forced marginals, the rest chosen privately."""
    return MST(_forced_weights(arena, epsilon), exempt=arena.exempt)


def submitted(arena: Arena, epsilon: float) -> Mechanism:
    """NIST-MST as it was submitted; the noise is that of the contest's delta."""
    return Submitted(
        _selected(arena, epsilon, binned=arena.name == "census1940"),
        SUBMITTED_SIGMA[epsilon],
        SUBMITTED_STEPS[epsilon],
    )


def dpsyn(arena: Arena, epsilon: float) -> Mechanism:
    """PrivSyn with DPSyn's settings: pairs chosen on the public table, the forced triple measured with them."""
    count = round(DPSYN_PAIRS * len(arena.coded(arena.public).domain))
    forced = {**dict.fromkeys(_public_pairs(arena, count), 1.0), **_forced_weights(arena, epsilon)}
    recipe: Mechanism = _rival("PrivSyn")(
        0,
        forced=forced,
        threshold=4.5,
        least=min(800.0, 0.003 * len(arena.coded(arena.public))),
        exempt=arena.exempt,
        rounds=DPSYN_ROUNDS.get(arena.name, 100),
    )
    return recipe


def privbayes(arena: Arena, epsilon: float) -> Mechanism:
    """PrivBayes as published."""
    recipe: Mechanism = _rival("PrivBayes")()
    return recipe


def field_groups(arena: Arena, epsilon: float) -> Mechanism:
    """Field groups, found on the public table."""
    recipe: Mechanism = _rival("FieldGroups")(_public_groups(arena))
    return recipe


SYSTEMS: dict[str, Recipe] = {
    "NIST-MST": nist_mst,
    "MST": mst,
    "DPSyn": dpsyn,
    "PrivBayes": privbayes,
    "Gardn999": field_groups,
    SUBMITTED: submitted,
}
NAMES = (*list(SYSTEMS)[:-1], GAN, SUBMITTED)


def fitted(arena: Arena, system: str, table: str, epsilon: float, seed: int) -> Fit:
    """What a system makes of a held-out table: through a curator, but for the GAN, which cannot use one.

    Seeded noise protects no one: nothing here is private, and the run can be repeated.
    """
    records = arena.coded(table)
    if system == GAN:
        return _trained(arena, records, epsilon, seed)
    budget = Budget(epsilon, arena.delta)
    curator = Curator(records, budget, source=Seeded(seed))
    return SYSTEMS[system](arena, epsilon)(curator, records.domain, budget)


def _trained(arena: Arena, records: Table, epsilon: float, seed: int) -> Fit:
    """DP-WGAN; an ImportError where PyTorch is not installed."""
    importlib.import_module("torch")
    rival = importlib.import_module("understudy.evaluation.wgan")
    made = rival.train(records, epsilon=epsilon, delta=arena.delta, seed=seed % 2**31)
    return Fit((), made.generator, Compression.none(records.domain))


def _rival(name: str) -> Any:
    """A rival's class; an ImportError where it is not there, or an extra is not installed."""
    rooms = importlib.import_module("understudy.mechanisms")
    if not hasattr(rooms, name):
        raise ImportError(f"no rival {name!r} in understudy.mechanisms")
    return getattr(rooms, name)


def _forced_weights(arena: Arena, epsilon: float) -> dict[Clique, float]:
    return {**dict.fromkeys(arena.pairs, 2.0), arena.triple: nist2018.triple_weight(epsilon)}


@cache
def _selected(arena: Arena, epsilon: float, *, binned: bool) -> NIST_MST:
    _, city, wage = arena.triple
    bins = {wage: nist2018.wage_bins(arena.coded(arena.public).domain[wage])}
    return NIST_MST(
        arena.coded(arena.public),
        forced=(*arena.pairs, arena.triple, *arena.also_forced),
        weights=_forced_weights(arena, epsilon),
        bins={arena.triple: bins, (city, wage): bins} if binned else None,
        one_way_weights=arena.one_way_weights,
        exempt=arena.exempt,
    )


@cache
def _public_pairs(arena: Arena, count: int) -> tuple[Clique, ...]:
    """The pairs furthest from independence on the public table, after a spanning tree that leaves no column out."""
    recipe = nist_mst(arena, 1.0)
    public = recipe.merged_public()
    apart = {
        (m.clique[0], m.clique[1]): _dependence(m.counts)
        for m in count_in_parts(public, all_pairs(public.domain, 10**6))
    }
    ranked = [*recipe.selection.tree, *sorted(apart, key=lambda pair: -apart[pair])]
    unique = {frozenset(pair): pair for pair in reversed(ranked)}
    forced = {frozenset(pair) for pair in arena.pairs}
    return tuple([pair for key, pair in reversed(unique.items()) if key not in forced][:count])


def _dependence(counts: Any) -> float:
    """PrivSyn's InDif: the L1 distance between a pair's table and the product of its columns."""
    joint = np.asarray(counts, np.float64)
    return float(np.abs(joint - np.outer(joint.sum(1), joint.sum(0)) / max(joint.sum(), 1.0)).sum())


@cache
def _public_groups(arena: Arena) -> tuple[Clique, ...]:
    """Groups of columns that say much of each other on the public table."""
    from understudy.mechanisms.field_groups import found_groups

    return tuple(found_groups(arena.coded(arena.public), GROUP_CELLS, 0.1))
