"""How a mechanism's plan shares one budget: exact shares of one rho, and the largest rho that fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

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
# A first guess of how fast ln delta rises with ln rho: it is about ln(1/delta), and steps correct it.
_SLOPE = 30.0
# The furthest step up in ln rho: where a few choices have no delta at all, that does not say how much more fits.
_LEAP = 1.0


class Role(Enum):
    """What the questions of a group are for. Forecasts and progress go by it; noise and budget do not."""

    LEARNING = "learning"  # what the schema leaves out, before the records are coded
    ONE_WAY = "one-way"  # every column on its own, in the domain's order
    PAIRS = "pairs"  # choices of pairs: all are counted once, and then remembered
    CANDIDATES = "candidates"  # choices of other marginals: known beforehand, and counted once as well
    NETWORK = "network"  # choices with new candidates after each, so that each counts anew
    MARGINALS = "marginals"  # the marginals that were chosen, or given
    HISTOGRAMS = "histograms"  # tables that are each counted alone
    RULES = "rules"  # records that break a constraint, counted by codes
    ROUNDS = "rounds"  # choices and marginals in turn, whose noise depends on earlier answers


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

    "measure": one batch of marginals (`weights` None: not known yet, the worst is assumed).
    "choose": `count` private choices. "laplace": `count` pure differentially private answers.
    "filter": questions whose losses are chosen as answers come in; `count` is about how many, for forecasts alone.
    `role`: what they are for; left out, MARGINALS, CANDIDATES and HISTOGRAMS. The name is the mechanism's own.
    """

    name: str
    kind: str
    share: Fraction
    count: int = 1
    weights: tuple[float, ...] | None = None
    role: Role | None = None

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
        if self.weights is not None:
            if self.kind != "measure":
                raise BudgetError(f"group {self.name!r}: only a measure group has weights.")
            object.__setattr__(self, "weights", normalised(self.weights))
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
            return Gaussian(math.sqrt(0.5 / part), self.weights, neighbours)
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
    return plan


def calibrate(budget: Budget, groups: Iterable[Group], neighbours: Neighbours = ONE_RECORD) -> Calibration:
    """The plan with the largest rho whose composition, in the order of the groups, stays within the budget.

    The zCDP of the budget is where the search starts and what it never falls below. A plan with a filter is added up
    by zCDP, at the delta that a filter leaves for it.
    """
    plan = checked_groups(groups)
    if any(group.kind == "filter" for group in plan):
        rho = Filter(budget).limit * (1 - 1e-12)  # shares of it, added up in floats, stay below it
        losses = {group.name: group.loss(rho, neighbours) for group in plan}
        return Calibration(budget, plan, rho, losses, compose(losses.values()))

    def composed(log_rho: float) -> Composition:
        return compose(group.loss(math.exp(log_rho), neighbours) for group in plan)

    def height(log_rho: float, resolution: float) -> float:
        value = composed(log_rho).delta_at(budget.epsilon, resolution)
        return math.log(value) - math.log(budget.delta) if value > 0 else -800.0

    sure = math.log(budget.rho) - 1e-13
    if any(group.kind == "choose" for group in plan):
        start, slope = _rise(height, sure)
        log_rho = _settle(lambda x: height(x, RESOLUTION), sure, start, slope, 2e-4)
    else:
        log_rho = _settle(lambda x: height(x, RESOLUTION), sure, sure, _SLOPE, 2e-5)
    losses = {group.name: group.loss(math.exp(log_rho), neighbours) for group in plan}
    return Calibration(budget, plan, math.exp(log_rho), losses, compose(losses.values()))


def _rise(height: Callable[[float, float], float], sure: float) -> tuple[float, float]:
    """About where the finest height is zero, and the slope there, from coarse grids: secants from `sure` up.

    What a grid adds falls with its resolution, so two coarse ones tell what the finest will add.
    """
    x, y, slope = sure, height(sure, _COARSE), _SLOPE
    for _ in range(12):
        further = max(sure, x - max(y / slope, -_LEAP))
        if abs(further - x) < 1e-4:
            break
        value = height(further, _COARSE)
        slope = max((value - y) / (further - x), 1.0)
        x, y = further, value
    finer = height(x, _COARSE / 5)
    return max(sure, x - max((finer - (y - finer) / 4 + 5e-5) / slope, -_LEAP)), slope


def _settle(height: Callable[[float], float], sure: float, start: float, slope: float, near: float) -> float:
    """The largest x found with a height of at most zero, and within `near` of it: secants in a bracket."""
    low, high, x = sure, math.inf, start
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
