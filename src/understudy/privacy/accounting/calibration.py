"""How a mechanism's plan shares one budget: exact shares of one rho, and the largest rho that fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from understudy.errors import BudgetError
from understudy.privacy.accounting.budget import ONE_RECORD, Budget, Neighbours, whole
from understudy.privacy.accounting.composition import Composition, compose
from understudy.privacy.accounting.curves import RESOLUTION
from understudy.privacy.accounting.filters import Filter
from understudy.privacy.accounting.losses import Choice, Filtered, Gaussian, Laplace, Loss, normalised
from understudy.privacy.plain_values import plain_text, plain_value

_KINDS = ("measure", "choose", "laplace", "filter")
# A grid coarse enough to find the neighbourhood of the answer in a few hundredths of a second.
_COARSE = 1e-3
# Grids for forecasts: of the most choices that each is for, and none where there are more.
_FORECAST = {0: RESOLUTION, 6: _COARSE / 10, 30: _COARSE}
# In ln rho: where a coarse search ends.
_NEAR_ENOUGH = 1e-2
# In ln delta: how much of what fits a calibration may leave, with choices and without.
_LEFT, _LEFT_ALONE = 2e-4, 2e-5
# A first guess of how fast ln delta rises with ln rho: it is about ln(1/delta), and steps correct it.
_SLOPE = 30.0
# The furthest step up in ln rho: where a few choices have no delta at all, that does not say how much more fits.
_LEAP = 1.0


class Role(Enum):
    """What the questions of a group are for. Forecasts and progress go by it; noise and budget do not.

    Attributes:
        LEARNING: what the schema leaves out, before the records are coded.
        ONE_WAY: every column on its own, in the domain's order.
        PAIRS: choices of pairs: all are counted once, and then remembered.
        CANDIDATES: choices of other marginals: known beforehand, and counted once as well.
        NETWORK: choices with new candidates after each, so that each counts anew.
        MARGINALS: the marginals that were chosen, or given.
        HISTOGRAMS: tables that are each counted alone.
        RULES: records that break a constraint, counted by codes.
        ROUNDS: choices and marginals in turn, whose noise depends on earlier answers.
        PRIOR: how far what a public table suggests is from the records.
        CHECK: how far off the fitted model is, once all else was asked.
    """

    LEARNING = "learning"
    ONE_WAY = "one-way"
    PAIRS = "pairs"
    CANDIDATES = "candidates"
    NETWORK = "network"
    MARGINALS = "marginals"
    HISTOGRAMS = "histograms"
    RULES = "rules"
    ROUNDS = "rounds"
    PRIOR = "prior"
    CHECK = "check"


_CHOICES = (Role.PAIRS, Role.CANDIDATES, Role.NETWORK)
_ROLES = {
    "measure": Role.MARGINALS,
    "choose": Role.CANDIDATES,
    "laplace": Role.HISTOGRAMS,
    "filter": Role.ROUNDS,
}


@dataclass(frozen=True)
class Group:
    """One step of a plan and its share of the budget.

    Parameters:
        name: the mechanism's own word for it.
        kind: "measure": one batch of marginals. "choose": private choices. "laplace": pure differentially private
            answers. "filter": questions whose losses are chosen as answers come in.
        share: its part of the budget, an exact fraction above 0; those of a plan add up to one.
        count: how many choices or answers; of a filter about how many, for forecasts alone. 1 by default.
        weights: of a batch, one a marginal; None where they are not known yet: the worst is assumed.
        role: what its questions are for; left out, MARGINALS, CANDIDATES, HISTOGRAMS or ROUNDS, by the kind.
        refund: of choices, whether those left out at the end may be measured instead (`Curator.refund`): of all
            groups of choices of a plan, or of none.
        largest: of weights that are not known yet, the largest part of the group's loss that one marginal may have,
            an exact fraction: a promise, which the curator holds to. 1 by default.

    Raises:
        BudgetError: a field cannot be used; the message says which.
    """

    name: str
    kind: str
    share: Fraction
    count: int = 1
    weights: tuple[float, ...] | None = None
    role: Role | None = None
    refund: bool = False
    largest: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BudgetError(f"group name {self.name!r} is not a non-empty string.")
        if self.kind not in _KINDS:
            raise BudgetError(f"group {self.name!r}: kind {self.kind!r} is not one of {', '.join(_KINDS)}.")
        if isinstance(self.share, bool) or not isinstance(self.share, Fraction | int):
            raise BudgetError(
                f"group {self.name!r}: share {self.share!r} is not an exact fraction.",
                hint="use fractions.Fraction(1, 3), not 0.333.",
            )
        object.__setattr__(self, "name", plain_text(self.name))
        object.__setattr__(self, "kind", _KINDS[_KINDS.index(self.kind)])
        object.__setattr__(self, "share", Fraction(int(self.share.numerator), int(self.share.denominator)))
        if not 0 < self.share <= 1:
            raise BudgetError(f"group {self.name!r}: share {self.share} is not above 0 and at most 1.")
        object.__setattr__(self, "count", whole("count", self.count))
        if self.kind == "measure" and self.count != 1:
            raise BudgetError(
                f"group {self.name!r}: a measure group is one batch, not {self.count}.",
                hint="give one weight for each marginal, or one group for each batch.",
            )
        if not isinstance(self.refund, bool) or (self.refund and self.kind != "choose"):
            raise BudgetError(f"group {self.name!r}: refund is True for choices alone, else False.")
        if self.weights is not None:
            if self.kind != "measure":
                raise BudgetError(f"group {self.name!r}: only a measure group has weights.")
            object.__setattr__(self, "weights", normalised(self.weights))
        if isinstance(self.largest, bool) or not isinstance(self.largest, Fraction | int):
            raise BudgetError(f"group {self.name!r}: largest {self.largest!r} is not an exact fraction.")
        object.__setattr__(
            self, "largest", Fraction(int(self.largest.numerator), int(self.largest.denominator))
        )
        open_weights = self.kind == "measure" and self.weights is None
        if not 0 < self.largest <= 1 or (self.largest < 1 and not open_weights):
            raise BudgetError(
                f"group {self.name!r}: largest {self.largest} is not above 0 and at most 1, "
                "or its weights are not left open."
            )
        role = _ROLES[self.kind] if self.role is None else self.role
        fitting = [known for known in Role if _group_kind(known) == _group_kind(_ROLES[self.kind])]
        if role not in fitting:
            raise BudgetError(
                f"group {self.name!r}: role {role!r} is not one for {self.kind!r}.",
                hint=f"use {', '.join(map(str, fitting))}.",
            )
        object.__setattr__(self, "role", role)

    def loss(self, rho: float, neighbours: Neighbours = ONE_RECORD) -> Loss:
        """The loss of this group when the whole plan may cost `rho`."""
        part = self.share.numerator * rho / self.share.denominator
        if self.kind == "measure":
            return Gaussian(math.sqrt(0.5 / part), self.weights, neighbours, float(self.largest))
        if self.kind == "choose":
            return Choice(math.sqrt(8 * part / self.count), self.count)
        if self.kind == "filter":
            return Filtered(part)
        return Laplace(math.sqrt(2 * part / self.count), self.count)


def _group_kind(role: Role) -> str:
    """What the questions of a role are: choices, rounds, or counts."""
    return "choose" if role in _CHOICES else "filter" if role is Role.ROUNDS else "count"


@dataclass(frozen=True)
class Calibration:
    """A plan whose losses fill a budget and do not exceed it."""

    budget: Budget
    groups: tuple[Group, ...]
    rho: float
    losses: dict[str, Loss]
    composition: Composition


def checked_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups of a plan, their names distinct and their shares adding up to exactly one."""
    plan: tuple[Group, ...] = tuple(plain_value(group, Group) for group in groups)
    for group in plan:
        if not isinstance(group, Group):
            raise BudgetError(f"{group!r} in a plan is not a Group.")
    names = [group.name for group in plan]
    if len(set(names)) != len(names):
        raise BudgetError(f"a plan's group names {names} are not distinct.")
    total = sum((group.share for group in plan), Fraction(0))
    if total != 1:
        raise BudgetError(f"a plan's shares add up to {total}, not to 1.", hint="use exact fractions.")
    if len({group.refund for group in plan if group.kind == "choose"}) > 1:
        raise BudgetError(
            "some choices of a plan have a refund, and others have not.", hint="give all of them one."
        )
    return plan


def refunds(groups: Iterable[Group]) -> bool:
    """Whether choices of a plan that are left out at the end may be measured instead."""
    return any(group.refund for group in groups)


def calibrate(budget: Budget, groups: Iterable[Group], neighbours: Neighbours = ONE_RECORD) -> Calibration:
    """The plan with the largest rho whose composition, in the order of the groups, stays within the budget.

    The zCDP of the budget is what the search never falls below. It begins where the plan would fit if all its losses
    were Gaussian, which is a matter of microseconds and nearly right; a proved delta decides. A plan with a filter is
    added up by zCDP, at the delta that a filter leaves for it.
    """
    plan = checked_groups(groups)
    search = _Search(budget, plan, neighbours)
    if any(group.kind == "filter" for group in plan):
        rho = Filter(budget).limit * (1 - 1e-12)  # shares of it, added up in floats, stay below it
        losses = {group.name: group.loss(rho, neighbours) for group in plan}
        return Calibration(budget, plan, rho, losses, compose(losses.values()))
    start, slope = search.rough()
    if search.folds:
        start, slope = search.refined(start, slope, _COARSE)
    near = _LEFT if search.folds else _LEFT_ALONE
    log_rho = _settle(lambda x: search.height(x, RESOLUTION), search.sure, start, slope, near)
    losses = search.losses(log_rho)
    refund = neighbours if refunds(plan) else None
    return Calibration(budget, plan, math.exp(log_rho), losses, compose(losses.values(), refund))


def forecast_losses(
    budget: Budget, groups: Iterable[Group], neighbours: Neighbours = ONE_RECORD
) -> dict[str, Loss]:
    """About the losses that `calibrate` finds, in a few milliseconds: for forecasts, and never for noise.

    They are not proved to stay within the budget. Scales are mostly within a thousandth of the calibrated ones.
    """
    return dict(_forecast(budget, checked_groups(groups), neighbours))


@lru_cache(maxsize=8)  # a plan asks twice: what a mechanism will likely do, and what that costs
def _forecast(budget: Budget, plan: tuple[Group, ...], neighbours: Neighbours) -> dict[str, Loss]:
    search = _Search(budget, plan, neighbours)
    kinds = {group.kind for group in search.plan}
    if "filter" in kinds or "measure" not in kinds:  # zCDP says it at once; or delta may be a cliff
        return calibrate(budget, search.plan, neighbours).losses
    log_rho, slope = search.rough()
    resolution = next((grid for most, grid in _FORECAST.items() if search.folds <= most), None)
    if resolution is not None:  # the more choices, the better is the rough guess
        log_rho, _ = search.refined(log_rho, slope, resolution)
    return search.losses(log_rho)


@dataclass(frozen=True)
class _Search:
    """The largest rho of a plan is looked for: in ln rho, by how far ln delta lies above the budget's."""

    budget: Budget
    plan: tuple[Group, ...]
    neighbours: Neighbours

    @property
    def sure(self) -> float:
        """What zCDP allows."""
        return math.log(self.budget.rho) - 1e-13

    @property
    def folds(self) -> int:
        """How many choices there are, each of which a proved delta takes a pass over a grid for."""
        return sum(group.count for group in self.plan if group.kind == "choose")

    def losses(self, log_rho: float) -> dict[str, Loss]:
        return {group.name: group.loss(math.exp(log_rho), self.neighbours) for group in self.plan}

    def height(self, log_rho: float, resolution: float) -> float:
        """By a proved delta, on a grid of this resolution. Coarse ones, which only look, pass over refunds."""
        refund = self.neighbours if refunds(self.plan) and resolution <= RESOLUTION else None
        whole = compose(self.losses(log_rho).values(), refund)
        return self._above(whole.delta_at(self.budget.epsilon, resolution))

    def rough(self) -> tuple[float, float]:
        """About where the height is zero, and the slope there."""

        def height(log_rho: float) -> float:
            return self._above(compose(self.losses(log_rho).values()).rough_delta(self.budget.epsilon))

        x, y, slope = self.sure, height(self.sure), _SLOPE
        for _ in range(30):
            further = max(self.sure, x - max(y / slope, -_LEAP))
            if abs(further - x) < 1e-6:
                break
            value = height(further)
            slope = min(max((value - y) / (further - x), 1.0), 1e4)
            x, y = further, value
        return x, slope

    def refined(self, start: float, slope: float, resolution: float) -> tuple[float, float]:
        """About where the finest height is zero, and the slope there, from coarse grids: secants from `start` on.

        What a grid adds falls with its resolution, a little less than in proportion, so two coarse ones tell what
        the finest will add.
        """
        x, y = start, self.height(start, resolution)
        for _ in range(12):
            further = max(self.sure, x - max(y / slope, -_LEAP))
            if abs(further - x) < _NEAR_ENOUGH:
                break
            value = self.height(further, resolution)
            slope = max((value - y) / (further - x), 1.0)
            x, y = further, value
        if resolution <= RESOLUTION:
            return further, slope
        finer = self.height(x, resolution / 5)
        return max(self.sure, x - max((finer - (y - finer) / 5) / slope, -_LEAP)), slope

    def _above(self, delta: float) -> float:
        return math.log(delta) - math.log(self.budget.delta) if delta > 0 else -800.0


def _settle(height: Callable[[float], float], sure: float, start: float, slope: float, near: float) -> float:
    """The largest x found with a height of at most zero, and within `near` of it: secants in a bracket."""
    low, high, x = sure, math.inf, start - near / 2 / slope
    last: tuple[float, float] | None = None
    for turn in range(1, 90):
        y = height(x)
        if y <= 0:
            low = max(low, x)
            if y > -near:
                break
        else:
            high = min(high, x)
        if high - low < 1e-12:
            break
        if last is not None and x != last[0]:
            slope = min(max((y - last[1]) / (x - last[0]), 0.5), 1e4)
        last = (x, y)
        # aim a little below zero, so that a straight line ends on the safe side
        x -= max((y + near / 2) / slope, -_LEAP)
        if not low < x < high or turn % 5 == 0:  # a curve with a cliff is no straight line
            x = low + 0.5 if math.isinf(high) else 0.5 * (low + high)
    return low
