"""What a public table like the private one suggests: how its columns go together, brought to the noisy columns.

What each column holds alone is measured, and only pulled towards the public one. Which pairs and triples go together
is taken from the public table: it gives tables to begin with, each held until its columns are measured. Whether that
helps is asked: one noisy number tells how far the model that it makes is from the records, another how far
independence is. So a public table that misleads costs no more than the two questions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Counter, Measurement
from understudy.marginals.clique_runs import runs_within
from understudy.mechanisms.field_estimates import FieldEstimates
from understudy.mechanisms.mechanism import Allotment
from understudy.mechanisms.shrinkage import spread
from understudy.mechanisms.spanning_tree import components
from understudy.mechanisms.tables.least_risk import shrunk
from understudy.mechanisms.tables.noise_price import OF_CELL, OF_NOISE, Cells
from understudy.mechanisms.tables.scaled_tables import scaled
from understudy.model import MarkovField, estimate
from understudy.model.tree.junction_tree import predict
from understudy.privacy import Curator, Group, Role

NEAR, FAR = "public", "independence"
DISTANCE = Fraction(1, 100)  # of the whole, each: one number over all pairs, which little budget tells well
CELLS = 400_000  # of a model of public tables: it is not noise that bounds it, but the time of a refit
WORK = 3e7  # of a refit, in cells times passes: some tenths of a second
STEPS = 400  # of a refit: more brings public tables that contradict noisy columns hardly nearer
ROUNDS = 6  # of choosing tables, each with a refit
MOST_CELLS, AT_ONCE = 20_000, 2**24  # of one table, and of all that are counted together
MOST_ASKED = 10**6  # cells of a pair whose distance is asked
OFF = 0.02  # of the records: how far off a public table is thought to be, before that is asked
LEAST = 1e-3  # of the records: a misfit that is not worth a table
CHANCE = 1.25  # times the misfit that so few public records would have by chance alone
OF_OTHERS = 0.05  # of a column's records that may be anywhere, whatever the public column says
TRIPLES = 20  # columns up to which triples are looked at too
SURE = 2.0  # deviations of noise by which it has to be nearer: what misleads rarely passes
SWEEPS = 20  # of proportional fitting


@dataclass(frozen=True)
class Supposed:
    """A field that is nearer to the records than independence, and the public tables that it was made of."""

    field: MarkovField
    tables: tuple[Measurement, ...]


def questions(public: Counter | None, domain: Domain) -> tuple[Group, ...]:
    """What is asked of a public table, as groups of a plan: two distances; none without one, or of one column.

    Raises ParameterError where it has other columns or codes than the domain.
    """
    if public is None:
        return ()
    if dict(public.domain) != dict(domain):
        raise ParameterError(
            "the public table has other columns or codes than the private one.",
            hint="describe every column of both by one complete schema: us.table(public, schema).",
        )
    if len(domain) < 2:
        return ()
    return tuple(Group(name, "measure", DISTANCE, role=Role.PRIOR) for name in (NEAR, FAR))


def usable(public: Counter | None, domain: Domain) -> Counter | None:
    """The public table, unless codes were learned since that are not its own: then it says nothing of them."""
    return None if public is None or dict(public.domain) != dict(domain) else public


def told(used: bool, than: str = "independence is") -> str:
    """The sentence that says whether a public table was of use."""
    if used:
        return f"The public table was nearer to the records than {than}, and the model began there."
    return f"The public table was not found nearer to the records than {than}, and was left."


def likely_columns(public: Counter | None, log: Sequence[Measurement]) -> dict[str, Cells] | None:
    """What the codes of each column are thought to hold: noisy counts, pulled towards the public columns.

    None where there are none, or where all of them together are no nearer to the noisy counts than even codes are.
    """
    if public is None:
        return None
    found, nearer = {}, 0.0
    for m, counted in zip(log, public.count([m.clique for m in log]), strict=True):
        noisy, records = np.asarray(m.values, np.float64), np.asarray(counted.counts, np.float64)
        share = (1 - OF_OTHERS) * records / max(float(records.sum()), 1.0) + OF_OTHERS / records.size
        total = max(float(noisy.sum()), 1.0)
        off = ((noisy - total / records.size) ** 2).sum() - ((noisy - total * share) ** 2).sum()
        sigma = spread(m.stddev)
        nearer += float(off) / sigma**2
        found[m.clique[0]] = shrunk(noisy, total * share, sigma)
    return found if nearer > 0 else None


def supposed(
    public: Counter,
    curator: Curator,
    start: MarkovField,
    alone: Sequence[Measurement],
    losses: Allotment,
    *,
    cell_limit: int = CELLS,
    triples: bool = True,
) -> Supposed | None:
    """What the public table suggests, if that is nearer to the records than `start`, the field of the columns alone.

    The public table has the codes of the curator. Both losses are spent, one a distance, whatever they tell.
    """
    found = suggested(public, start, alone, cell_limit=cell_limit, triples=triples)
    distance = distance_if_nearer(curator, found.field, start, losses)
    return None if distance is None else Supposed(found.field, found.held(distance))


@dataclass(frozen=True)
class Suggestion:
    """A field of public tables, before it is known whether it is of use, and these tables, brought to the columns."""

    field: MarkovField
    tables: Mapping[Clique, Cells]

    def held(self, distance: float) -> tuple[Measurement, ...]:
        """The tables as measurements that are off by so many records, as far as is known."""
        return tuple(_as_measured(self.tables, distance))


def suggested(
    public: Counter,
    start: MarkovField,
    alone: Sequence[Measurement],
    *,
    cell_limit: int = CELLS,
    triples: bool = True,
) -> Suggestion:
    """What the public table suggests of records whose columns are as in `start`, measured as `alone` says.

    Public knowledge and earlier answers alone: nothing is asked.
    """
    domain, total = start.domain, start.total
    tables = _PublicTables(public, start)
    field, chosen = start, dict[Clique, Cells]()
    for turn in range(ROUNDS):
        orders = (2, 3) if triples and turn and len(domain) <= TRIPLES else (2,)
        taken = tables.worst(field, orders, chosen, cell_limit, acyclic=turn == 0)
        if not taken:
            break
        chosen |= {clique: tables.known[clique] for clique in taken}
        field = estimate(
            domain,
            [*alone, *_as_measured(chosen, OFF * total)],
            total=total,
            warm_start=field,
            work=WORK,
            max_steps=STEPS,
        )
    return Suggestion(field, chosen)


def distance_if_nearer(
    curator: Curator, near: MarkovField, far: MarkovField, losses: Allotment
) -> float | None:
    """How far `near` is from the records, in records a pair, if that is surely less than `far` is; else None.

    Both losses are spent, one a distance, whatever they tell.
    """
    domain = near.domain
    every = [[pair for pair in itertools.combinations(domain.names, 2) if domain.size(pair) <= MOST_ASKED]]
    if not every[0]:
        return None
    by, of = (
        curator.distances(every, FieldEstimates(field), losses[name])
        for field, name in ((near, NEAR), (far, FAR))
    )
    noise = math.hypot(float(by.stddev[0]), float(of.stddev[0]))
    if not float(by.values[0]) < float(of.values[0]) - SURE * noise:
        return None
    return max(float(by.values[0]) + float(by.stddev[0]), 1.0) / len(every[0])


def raked(table: Cells, alone: Sequence[Cells]) -> Cells:
    """The table with the sums along its axes brought to these; where it holds nothing, next to nothing."""
    return scaled(table + 1e-9 * max(float(table.sum()), 1.0) / table.size, alone, SWEEPS)


class _PublicTables:
    """Public counts, scaled to the private records and brought to their columns; each is counted once."""

    def __init__(self, public: Counter, start: MarkovField) -> None:
        self._public, self._domain = public, start.domain
        self._total = start.total
        self._columns = {name: np.asarray(start.marginal(name).counts, np.float64) for name in start.domain}
        (first,) = public.count([start.domain.names[:1]])
        self._scale = start.total / max(float(first.counts.sum()), 1.0)
        self.known: dict[Clique, Cells] = {}

    def worst(
        self,
        field: MarkovField,
        orders: Sequence[int],
        chosen: Mapping[Clique, Cells],
        cell_limit: int,
        *,
        acyclic: bool,
    ) -> list[Clique]:
        """Cliques that the field explains worst, beyond chance: a tree of pairs, or none that share a pair."""
        gains = self._gains(field, [clique for clique in self._small(orders) if clique not in chosen])
        tree, used, taken = field.tree, set[Clique](), list[Clique]()
        for clique in sorted(gains, key=lambda clique: -gains[clique]):
            if len(taken) >= len(self._domain) or not gains[clique] > LEAST * self._total:
                break
            pairs = list(itertools.combinations(clique, 2))
            part = components(self._domain.names, taken) if acyclic else {}
            looped = acyclic and part[clique[0]] == part[clique[1]]
            if looped or not used.isdisjoint(pairs) or predict(tree, clique) > cell_limit:
                continue
            tree = tree.with_clique(clique)
            used.update(pairs)
            taken.append(clique)
        return taken

    def _small(self, orders: Sequence[int]) -> list[Clique]:
        names: Domain = self._domain
        every = (clique for order in orders for clique in itertools.combinations(names.names, order))
        return [clique for clique in every if names.size(clique) <= MOST_CELLS]

    def _gains(self, field: MarkovField, cliques: Sequence[Clique]) -> dict[Clique, float]:
        """How far off the field is, in records, less what chance would make of so few public records."""
        self._count([clique for clique in cliques if clique not in self.known])
        found = {}
        for marginal in field.marginals(cliques):
            cells = self.known[marginal.clique]
            chance = np.minimum(OF_CELL * cells, OF_NOISE * np.sqrt(cells * self._scale)).sum()
            found[marginal.clique] = float(np.abs(cells - marginal.counts).sum() - CHANCE * chance)
        return found

    def _count(self, cliques: Sequence[Clique]) -> None:
        for run in runs_within(self._domain, cliques, AT_ONCE):
            for counted in self._public.count(run):
                cells = np.asarray(counted.counts, np.float64) * self._scale
                self.known[counted.clique] = raked(cells, [self._columns[name] for name in counted.clique])


def _as_measured(tables: Mapping[Clique, Cells], distance: float) -> list[Measurement]:
    """Tables as if measured with noise that adds up to such a distance, in records: more where there is more."""
    found = []
    for clique, cells in tables.items():
        spread = np.sqrt(np.maximum(cells, 1.0))
        found.append(Measurement(clique, cells, distance * spread / (OF_NOISE * spread.sum())))
    return found
