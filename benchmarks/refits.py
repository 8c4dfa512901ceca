"""Fits of many overlapping cliques, cold and in rounds from the field before: what an adaptive mechanism asks for.

    python -m benchmarks.refits [load ...]

Each load measures the most informative pairs and triples of a real table, as many as fit a model of so many cells,
with seeded noise; rare codes are merged first. Printed are processor seconds and how each fit ended: its loss, and
how far above the optimum that can be at most; then how long the last field takes to tell all its pairs and triples.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from benchmarks.estimation import SHARED, coded_table, information

from understudy.domain import Clique, Domain
from understudy.marginals import Measurement
from understudy.model import MarkovField, build_tree, estimate
from understudy.model.tree.junction_tree import predict

ROUNDS = 6


@dataclass(frozen=True)
class Load:
    """How many cliques of how many columns of which table are measured with how much noise."""

    table: str
    pairs: int
    triples: int
    cells: int  # of the model, at most
    sigma: float
    most: int = 5_000  # cells of a measured clique
    unequal: float = 1.0  # ratio of the largest scale to the least
    merged: bool = True  # codes of few records are one


LOADS = {
    "adult-40-pairs": Load("adult", 40, 0, 200_000, 120.0, most=400),
    "adult-mixed": Load("adult", 30, 20, 200_000, 60.0, most=2_000),
    "adult-large": Load("adult", 40, 30, 1_000_000, 20.0),
    "adult-all-codes": Load("adult", 30, 20, 1_000_000, 60.0, most=20_000, merged=False),
    "adult-unequal": Load("adult", 30, 10, 100_000, 60.0, most=2_000, unequal=1e5),
    "nltcs-60-triples": Load("nltcs", 0, 60, 200_000, 60.0),
    "nltcs-all-pairs": Load("nltcs", 120, 60, 200_000, 60.0),
    "salary": Load("salary", 20, 10, 500_000, 60.0),
    "salary-unequal": Load("salary", 20, 6, 200_000, 60.0, unequal=1e5),
}


@dataclass(frozen=True)
class Problem:
    """The domain and the measurements: the columns alone, then every round's."""

    domain: Domain
    alone: list[Measurement]
    rounds: list[list[Measurement]]

    @property
    def all(self) -> list[Measurement]:
        return [*self.alone, *(m for batch in self.rounds for m in batch)]


def main() -> None:
    """Print one block a load."""
    wanted = sys.argv[1:] or list(LOADS)
    for name in wanted:
        if not (SHARED / "data" / LOADS[name].table).exists():
            print(f"{name}: SKIPPED, its table is not there")
            continue
        problem = measured(LOADS[name], seed=0)
        _report(name, problem)


def _report(name: str, problem: Problem) -> None:
    seconds, field = _timed(problem.domain, problem.all, None)
    widest = max(len(clique) for clique in field.cliques)
    print(
        f"\n{name}: {len(problem.all)} measurements, {field.tree.cells:,} cells, cliques of up to {widest} columns"
    )
    _line("cold", seconds, [field])
    total, fields = 0.0, [estimate(problem.domain, problem.alone)]
    for number in range(len(problem.rounds)):
        so_far = [*problem.alone, *(m for batch in problem.rounds[: number + 1] for m in batch)]
        seconds, field = _timed(problem.domain, so_far, fields[-1])
        total += seconds
        fields.append(field)
    _line(f"{len(problem.rounds)} rounds, warm", total, fields[1:])
    for order, what in ((2, "pairs"), (3, "triples")):
        asked = list(combinations(problem.domain.names, order))
        begun = time.process_time()
        fields[-1].marginals(asked)
        cells = sum(problem.domain.size(clique) for clique in asked)
        print(
            f"  all {len(asked):3} {what:8} {time.process_time() - begun:7.2f} s   {cells:,} cells",
            flush=True,
        )


def _line(what: str, seconds: float, fields: Sequence[MarkovField]) -> None:
    fits = [field.fit for field in fields if field.fit is not None]
    certified = sum(fit.converged for fit in fits)
    print(
        f"  {what:16} {seconds:7.2f} s   {sum(fit.steps for fit in fits):7,} steps"
        f"   {certified} of {len(fits)} certified"
        f"   loss {fits[-1].loss:,.2f}, at most {fits[-1].gap:.3g} above the optimum"
        f" (target {fits[-1].tolerance * fits[-1].measured_cells:.3g})",
        flush=True,
    )


def _timed(
    domain: Domain, measurements: list[Measurement], start: MarkovField | None
) -> tuple[float, MarkovField]:
    begun = time.process_time()
    field = estimate(domain, measurements, warm_start=start)
    return time.process_time() - begun, field


def measured(load: Load, seed: int) -> Problem:
    """The measurements of a load: the cliques of most information that fit, the strongest in the first rounds."""
    sizes, codes = coded_table(load.table)
    if load.merged:
        sizes, codes = _without_rare(sizes, codes, 3 * load.sigma)
    domain = Domain(sizes)
    random = np.random.default_rng(seed)
    chosen: list[Clique] = []
    tree = build_tree(domain, [])
    for order, wanted in ((2, load.pairs), (3, load.triples)):
        scores = {
            clique: _score(domain, codes, clique)
            for clique in combinations(domain.names, order)
            if domain.size(clique) <= load.most
        }
        taken = 0
        for clique in sorted(scores, key=lambda clique: -scores[clique]):
            if taken < wanted and predict(tree, clique) <= load.cells:
                tree = tree.with_clique(clique)
                chosen.append(clique)
                taken += 1

    def noisy(clique: Clique) -> Measurement:
        sigma = load.sigma * load.unequal ** random.uniform(-0.5, 0.5)
        counts = _counts(domain, codes, clique)
        return Measurement(clique, counts + sigma * random.normal(size=counts.size), sigma)

    alone = [noisy((name,)) for name in domain.names]
    parts = np.array_split(np.arange(len(chosen)), ROUNDS)
    return Problem(domain, alone, [[noisy(chosen[i]) for i in part] for part in parts])


Codes = dict[str, npt.NDArray[np.int64]]


def _without_rare(sizes: dict[str, int], codes: Codes, least: float) -> tuple[dict[str, int], Codes]:
    """Codes of fewer records than `least` as one."""
    small, merged = {}, {}
    for name, column in codes.items():
        counts = np.bincount(column, minlength=sizes[name])
        kept = np.flatnonzero(counts >= least)
        where = np.full(sizes[name], kept.size)
        where[kept] = np.arange(kept.size)
        merged[name] = where[column]
        small[name] = kept.size + int(kept.size < sizes[name])
    return small, merged


def _counts(domain: Domain, codes: Codes, clique: Clique) -> npt.NDArray[np.float64]:
    index = np.zeros(len(codes[clique[0]]), np.int64)
    for column in clique:
        index = index * domain[column] + codes[column]
    return np.bincount(index, minlength=domain.size(clique)).astype(np.float64)


def _score(domain: Domain, codes: Codes, clique: Clique) -> float:
    """How much the last column tells of the others together."""
    return information(_counts(domain, codes, clique).reshape(-1, domain[clique[-1]]))


if __name__ == "__main__":
    main()
