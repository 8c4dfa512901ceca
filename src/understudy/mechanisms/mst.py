"""MST: a spanning tree of pairs, chosen privately (the paper's "Extensions")."""

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
from understudy.marginals.product_estimates import ProductEstimates
from understudy.mechanisms.field_estimates import FieldEstimates
from understudy.mechanisms.mechanism import Allotment, Fit, allot, shares
from understudy.mechanisms.mutual_information import all_pairs
from understudy.mechanisms.one_way import OneWay, compressed
from understudy.mechanisms.public.public_prior import MOST_CELLS as MOST_OF_TABLE
from understudy.mechanisms.public.public_prior import NEAR, questions, told, usable
from understudy.mechanisms.public.public_start import MOST_CELLS, PublicStart, begin
from understudy.mechanisms.repeated_measurement import measure_repeated
from understudy.mechanisms.shrinkage import fit
from understudy.mechanisms.spanning_tree import Pair, Places, components, ends, spanning_forest
from understudy.mechanisms.tables.noise_price import noise_price
from understudy.mechanisms.tree_capacity import TreeCapacity, check_fits, cut_to_fit, largest_forest
from understudy.model import MarkovField, estimate
from understudy.model.tree.junction_tree import build_tree, predict
from understudy.privacy import Budget, CandidatePool, Curator, Gaussian, Group, Loss, Role

_ABSOLUTE = math.sqrt(2 / math.pi)  # the mean distance of normal noise from zero, in standard deviations
STOP: Clique = ()  # the candidate that means "no further edge is worth its noise"


@dataclass(frozen=True)
class MST:
    """Measures one-way marginals, then a spanning tree of pairs that independence explains badly.

    Parameters:
        forced: cliques to measure whatever the data says, or a mapping to their weights (a chosen pair weighs
            1); the tree is grown around them. None by default.
        one_way: the share of the budget for columns alone, above 0; the three shares are taken as parts of
            their sum. Three tenths by default; the paper has thirds, of which choosing makes little use.
        select: the share for choosing pairs; a tenth by default.
        two_way: the share for measuring them; six tenths by default.
        threshold: codes whose noisy count is below so many standard deviations are merged, at least 0. The
            paper's 3 by default: less is likely noise.
        exempt: columns whose codes are never merged; none by default.
        stop_early: stop adding edges whose error is likely below the noise they would cost. Off by default, as
            the number of edges then has to be planned for at its worst.
        limit_cells: pairs with more cells are not considered, nor those that would leave no room for the rest
            of the tree. Ten million by default, which fits in a laptop's memory.
        shrink: pull noisy pairs towards independence as far as their noise suggests, before the fit. On by
            default, as it lowers the error (docs/performance.md); the paper does not.
        sharpen: take off a pair's misfit what noise in its columns' own estimates makes of it. On by default,
            so that columns of many codes are not chosen for their noise; nor does the paper that.
        runs: join rare codes of ordered columns with their neighbours, into runs that hold more than noise alone and
            in pairs. On by default; the paper makes one code of all that are rare in a column.
        public: a public table with the same columns and codes, as `us.table` makes it: where it is found to be nearer
            to the records than independence is, pairs are chosen by what it leaves unexplained and pulled towards
            it, and what no pair tells is as it says. None by default.

    Raises:
        ParameterError: a share is not positive, or the threshold is not a number of at least 0.

    Example:
        >>> import understudy as us
        >>> us.MST(forced=[("sex", "age")], exempt=["age"]).name
        'mst'
    """

    forced: tuple[tuple[Clique, float], ...] = ()
    one_way: Fraction = Fraction(3, 10)
    select: Fraction = Fraction(1, 10)
    two_way: Fraction = Fraction(6, 10)
    threshold: float = 3.0
    exempt: tuple[str, ...] = ()
    stop_early: bool = False
    limit_cells: int = 10**7
    shrink: bool = True
    sharpen: bool = True
    runs: bool = True
    public: Counter | None = None

    def __init__(
        self,
        forced: Mapping[Clique, float] | Sequence[Clique] = (),
        *,
        one_way: Fraction | float = Fraction(3, 10),
        select: Fraction | float = Fraction(1, 10),
        two_way: Fraction | float = Fraction(6, 10),
        threshold: float = 3.0,
        exempt: Sequence[str] = (),
        stop_early: bool = False,
        limit_cells: int = 10**7,
        shrink: bool = True,
        sharpen: bool = True,
        runs: bool = True,
        public: Counter | None = None,
    ) -> None:
        weighted = (
            forced.items() if isinstance(forced, Mapping) else ((tuple(clique), 1.0) for clique in forced)
        )
        if not threshold >= 0:
            raise ParameterError(f"threshold {threshold!r} is not a number of at least 0.")
        values = shares(one_way=one_way, select=select, two_way=two_way) | {
            "forced": tuple((tuple(clique), float(weight)) for clique, weight in weighted),
            "threshold": float(threshold),
            "exempt": tuple(exempt),
            "stop_early": bool(stop_early),
            "limit_cells": int(limit_cells),
            "shrink": bool(shrink),
            "sharpen": bool(sharpen),
            "runs": bool(runs),
            "public": public,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "mst"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        forced = [domain.clique(clique) for clique, _ in self.forced]
        check_fits(domain, forced)
        edges = self._edges(domain)
        parts = {"one-way": self.one_way, "select": self.select, "two-way": self.two_way}
        if not edges:  # nothing to choose: its share goes to what is measured
            del parts["select"]
        if not edges and not forced:
            del parts["two-way"]
        asked = questions(self.public, domain)
        whole, rest = sum(parts.values()), Fraction(1) - sum(group.share for group in asked)
        # How many pairs an early stop leaves is not known beforehand.
        pairs = None if self.stop_early else tuple(weight for _, weight in self.forced) + (1.0,) * edges
        weights = {"one-way": (1.0,) * len(domain), "two-way": pairs}
        roles = {"one-way": Role.ONE_WAY, "select": Role.PAIRS, "two-way": Role.MARGINALS}
        alone, *others = (
            Group(name, "choose", rest * share / whole, count=edges, role=roles[name])
            if name == "select"
            else Group(name, "measure", rest * share / whole, weights=weights[name], role=roles[name])
            for name, share in parts.items()
        )
        return (alone, *asked, *others)

    def cliques(self, domain: Domain) -> list[Clique]:
        """The forced cliques and the largest pairs that could make a tree: no chosen tree is larger."""
        forced = [domain.clique(clique) for clique, _ in self.forced]
        return forced + list(largest_forest(domain, self.limit_cells, forced))

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        losses = allot(curator, self.plan(domain), budget) if isinstance(budget, Budget) else budget
        alone = curator.measure([(name,) for name in domain], budget=losses["one-way"])
        public = usable(self.public, domain)
        begun = begin(public, curator, alone, losses)
        noise = self._pair_noise(domain, losses)
        step = begun.step if begun else self._compressed(curator, alone, noise)
        log = list(step.log)
        forced = cut_to_fit(step.curator.domain, [clique for clique, _ in self.forced])
        if begun is None:
            pairs = self._select(step.curator, step.log, forced, losses)
        else:
            pairs = self._beyond(step.curator, begun.known.field, forced, losses)
        if "two-way" in losses:
            measured = [*forced, *self._filled(domain, pairs)]
            weights = [weight for _, weight in self.forced] + [1.0] * (len(measured) - len(forced))
            log += measure_repeated(step.curator, measured, losses["two-way"], weights)
        if begun is None:
            values = step.values(curator.domain)
            field = fit(step.curator.domain, log, shrink=self.shrink, values=values)
        else:
            field = PublicStart(begun.likely, begun.known, shrink=self.shrink).add(log[len(step.log) :])
        said = () if public is None or NEAR not in losses else (told(begun is not None),)
        return Fit(tuple(log), field, step.compression, said)

    def _compressed(self, curator: Curator, log: Sequence[Measurement], pair_noise: float) -> OneWay:
        return compressed(
            curator, log, self.threshold, exempt=self.exempt, pair_noise=pair_noise if self.runs else None
        )

    def _pair_noise(self, domain: Domain, losses: Allotment) -> float:
        """The noise that a pair's cells will have; none where no pair is measured."""
        return _scale_of_next(losses["two-way"], max(1, len(domain) - 1)) if "two-way" in losses else 0.0

    def _edges(self, domain: Domain) -> int:
        """How many pairs make a tree around the forced cliques."""
        return len(set(components(domain.names, [clique for clique, _ in self.forced]).values())) - 1

    def _filled(self, domain: Domain, pairs: list[Pair]) -> list[Clique]:
        """As many cliques as were planned: where fewer pairs were chosen, they are measured again.

        To measure a pair twice with independent noise is to measure it once with more weight, so no
        budget is lost. Where no pair was chosen at all, the columns themselves are measured again.
        """
        wanted = max(1, len(pairs)) if self.stop_early else self._edges(domain)
        again = itertools.cycle(pairs or [(name,) for name in domain])
        return list(itertools.islice(again, wanted))

    def _select(
        self,
        curator: Curator,
        log: Sequence[Measurement],
        forced: list[Clique],
        losses: Allotment,
    ) -> list[Pair]:
        """The pairs of a tree around `forced` (paper, "Differentially private measurement selection")."""
        if "select" not in losses:
            return []
        domain = curator.domain
        field = estimate(domain, log)
        blur = {
            m.clique[0]: round(_ABSOLUTE * float(np.broadcast_to(m.stddev, m.values.shape).sum()))
            for m in log
        }
        one_way = {name: field.marginal((name,)).counts for name in domain}
        independence = ProductEstimates(one_way, field.total)
        pairs = all_pairs(domain, self.limit_cells)
        capacity = TreeCapacity(domain, forced, pairs)
        one, two = ends(domain.names, pairs)
        blurs = np.array([blur[name] for name in domain], np.int64)
        stop = len(pairs)  # the place of the candidate that ends the selection
        pool = CandidatePool(
            [*pairs, STOP], blurs=np.append(blurs[one] + blurs[two], 0) if self.sharpen else None
        )
        sizes = np.fromiter(domain.values(), np.float64, len(domain))
        cells = sizes[one] * sizes[two]
        chosen = 0

        def pick(left: Places) -> int | None:
            nonlocal chosen
            offered = capacity.fitting(left)
            if not offered.size:
                return None
            costs = None
            if self.stop_early:
                scale = _scale_of_next(losses["two-way"], len(forced) + chosen + 1)
                # A sharpened misfit is three fifths of what a large one is by itself.
                scale = 3 / 5 * scale if self.sharpen else scale
                costs = np.append(np.rint(_ABSOLUTE * scale * cells[offered]), 0).astype(np.int64)
                offered = np.append(offered, stop)
            place = int(
                offered[curator.choose(pool.offer(offered), independence, losses["select"], costs=costs)]
            )
            if place == stop:
                return None
            chosen += 1
            capacity.join(place)
            return place

        joined = [clique for clique, _ in self.forced]
        return spanning_forest(domain.names, pairs, pick, joined)

    def _beyond(
        self, curator: Curator, known: MarkovField, forced: list[Clique], losses: Allotment
    ) -> list[Pair]:
        """The pairs of a tree that a public model explains worse than measuring them would, while there are any.

        None that would make the model of both too large.
        """
        if "select" not in losses:
            return []
        domain, expected = curator.domain, FieldEstimates(known)
        tree = build_tree(domain, [*known.tree.cliques, *forced], limit_cells=None)
        tree = build_tree(domain, forced) if tree.cells > MOST_CELLS else tree
        pairs = all_pairs(domain, min(self.limit_cells, MOST_OF_TABLE))
        scale = self._pair_noise(domain, losses) * curator.neighbours.l2
        prices = np.rint([noise_price(expected(pair), scale) for pair in pairs] or [0.0]).astype(np.int64)
        stop = len(pairs)
        pool = CandidatePool([*pairs, STOP])

        def pick(left: Places) -> int | None:
            nonlocal tree
            most = max(MOST_CELLS, tree.cells)
            offered = np.array([p for p in left.tolist() if predict(tree, pairs[p]) <= most], np.int64)
            if not offered.size:
                return None
            costs, offered = np.append(prices[offered], 0), np.append(offered, stop)
            place = int(offered[curator.choose(pool.offer(offered), expected, losses["select"], costs=costs)])
            if place == stop:
                return None
            tree = tree.with_clique(pairs[place])
            return place

        return spanning_forest(domain.names, pairs, pick, [clique for clique, _ in self.forced])


def _scale_of_next(loss: Loss, marginals: int) -> float:
    """The noise scale of one marginal when a batch of equal weights has this many."""
    return loss.sigma * math.sqrt(marginals) if isinstance(loss, Gaussian) else 0.0
