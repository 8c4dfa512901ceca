"""The systems that compete, by the paper's names: each a recipe for an arena and an epsilon."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from benchmarks.contest import networks
from benchmarks.contest.arenas import Arena
from benchmarks.contest.paper import SUBMITTED_SIGMA, SUBMITTED_STEPS
from benchmarks.contest.submitted import Submitted

from understudy.data import Table
from understudy.domain import Clique
from understudy.marginals import Counter, Measurement
from understudy.mechanisms import MST, NIST_MST, Fit, Mechanism
from understudy.mechanisms.mutual_information import all_pairs, count_in_parts
from understudy.mechanisms.registry import DEFAULT as DEFAULT_NAME
from understudy.mechanisms.registry import as_mechanism
from understudy.model import estimate
from understudy.privacy import Budget, Curator, Group, Laplace, Seeded
from understudy.privacy.accounting.calibration import calibrate
from understudy.transforms.compress import Compression
from understudy_contest import FieldGroups, PrivBayes, PrivSyn, nist2018
from understudy_contest.neural_generator import NeuralGenerator, folds

Recipe = Callable[[Arena, float], Mechanism]
GAN = "UCLANESL"
DPSYN_PAIRS = 190 / 98  # for each column: as many as the entry measured
GROUP_CELLS = 10**6
GROUPS = 39 / 98  # for each column: as many as the entry had
SUBMITTED = "NIST-MST as submitted"
DEFAULT = "Understudy's default"


def nist_mst(arena: Arena, epsilon: float) -> NIST_MST:
    """NIST-MST with the entry's settings; the forced marginals are measured cell by cell, as in the paper."""
    return _selected(arena, epsilon, binned=False)


def mst(arena: Arena, epsilon: float) -> MST:
    """MST as the paper runs it on the contest: the same forced marginals, the rest chosen privately."""
    return MST(_forced_weights(arena, epsilon), exempt=arena.exempt)


def default(arena: Arena, epsilon: float) -> Mechanism:
    """What `us.fit` does when nothing is said: no forced marginal, no public table; the arena's transforms alone."""
    return as_mechanism(DEFAULT_NAME)


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
    return PrivSyn(
        0,
        forced=forced,
        threshold=4.5,
        least=min(800.0, 0.003 * len(arena.coded(arena.public))),
        exempt=arena.exempt,
    )


def privbayes(arena: Arena, epsilon: float) -> Mechanism:
    """PrivBayes as published."""
    return PrivBayes()


def field_groups(arena: Arena, epsilon: float) -> Mechanism:
    """Field groups, found on the public table for the noise that the entry's number of groups would have."""
    public = arena.coded(arena.public)
    count = round(GROUPS * len(public.domain))
    loss = calibrate(Budget(epsilon, arena.delta), [Group("groups", "laplace", Fraction(1), count)]).losses
    assert isinstance(loss["groups"], Laplace)
    found = FieldGroups(public=public, limit_cells=GROUP_CELLS, scale=1 / loss["groups"].epsilon)
    # A held-out state has other counties and cities: groups are named by their columns.
    return FieldGroups(found.all_groups(public.domain))


SYSTEMS: dict[str, Recipe] = {
    "NIST-MST": nist_mst,
    "MST": mst,
    "DPSyn": dpsyn,
    "PrivBayes": privbayes,
    "Gardn999": field_groups,
    DEFAULT: default,
    SUBMITTED: submitted,
}
NAMES = (*list(SYSTEMS)[:-1], GAN, SUBMITTED)
# How often a cell is played: the winners often, as they are compared with each other; what takes minutes, once.
RUNS = dict.fromkeys(NAMES, 5) | {"NIST-MST": 10, "MST": 10, DEFAULT: 2, GAN: 1, SUBMITTED: 1}


def fitted(arena: Arena, system: str, table: str, epsilon: float, seed: int) -> Fit:
    """What a system makes of a held-out table: through a curator, but for the GAN, which cannot use one.

    Seeded noise protects no one: nothing here is private, and the run can be repeated.
    """
    records = arena.coded(table)
    if system == GAN:
        return _trained(arena, records, table, epsilon, seed)
    budget = Budget(epsilon, arena.delta)
    curator = Curator(records, budget, source=Seeded(seed))
    return SYSTEMS[system](arena, epsilon)(curator, records.domain, budget)


def _trained(arena: Arena, records: Table, table: str, epsilon: float, seed: int) -> Fit:
    """DP-WGAN: a network that was trained on a GPU, if one is kept; an ImportError where it needs PyTorch."""
    kept = networks.found(arena.name, table, epsilon)
    if kept is not None:
        folded = folds(records.domain, networks.CENSUS.widest)
        generator = NeuralGenerator(records.domain, folded, kept, float(len(records)))
    else:
        importlib.import_module("torch")
        rival = importlib.import_module("understudy_contest.wgan")
        recipe = networks.RECIPES[arena.name, epsilon]
        made = rival.train(records, epsilon=epsilon, delta=arena.delta, recipe=recipe, seed=seed % 2**31)
        generator = made.generator
    return Fit((), generator, Compression.none(records.domain))


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
    """A spanning tree of pairs, and those that a model of this tree alone gets most wrong on the public table."""
    recipe = nist_mst(arena, 1.0)
    public = recipe.merged_public()
    modelled = _model_of(public, recipe.selection.tree)
    pairs = all_pairs(public.domain, 10**6)
    apart = {
        (true.clique[0], true.clique[1]): float(np.abs(true.counts - made.counts).sum())
        for true, made in zip(count_in_parts(public, pairs), count_in_parts(modelled, pairs), strict=True)
    }
    ranked = [*recipe.selection.tree, *sorted(apart, key=lambda pair: -apart[pair])]
    forced = {frozenset(pair) for pair in arena.pairs}
    # An order counts from the first time a pair is named.
    unique = dict.fromkeys(frozenset(pair) for pair in ranked if frozenset(pair) not in forced)
    return tuple(public.domain.order(pair) for pair in list(unique)[:count])


def _model_of(public: Counter, tree: Sequence[Clique]) -> Table:
    """As many records as the public table has, drawn from the graphical model of a tree's exact pairs."""
    exact = [Measurement(m.clique, np.asarray(m.counts, np.float64), 1.0) for m in public.count(list(tree))]
    field = estimate(public.domain, exact)
    return Table(public.domain, dict(field.sample(round(field.total), seed=0).items()))
