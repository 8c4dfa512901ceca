"""How a curator's budget is spent: in parts that add up, each with its own rule of composition.

A part is a budget set aside for one question, for a plan that was fixed beforehand (exact composition), for
questions whose costs depend on earlier answers (zCDP filter), or for a plan of which one group is such. Parts add up
by basic composition. All values are frozen: a charge returns what is left after it. A plan's choices are asked in its
order; a plan or a filter takes all that is left, so it is the last part. Proofs: docs/privacy.md, "The curator".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from understudy.errors import BudgetError
from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.calibrated_ahead import calibrate_ahead, calibrated
from understudy.privacy.accounting.calibration import Group, calibrate
from understudy.privacy.accounting.discretisation import OF_WEIGHTS
from understudy.privacy.accounting.filters import FILTER_RULE, Filter
from understudy.privacy.accounting.losses import (
    Approximate,
    Choice,
    Filtered,
    Gaussian,
    GaussianPortion,
    Laplace,
    Loss,
    Slack,
)
from understudy.privacy.plain_values import exact

# The share of a part's delta that noise is not calibrated to: it pays for the error of noise tables (some
# 1e-60) and for the thresholds of discoveries. It costs a few parts in 10^5 of noise. Slack may fill half of it:
# questions are chosen by answers, and those of the two worlds may use it on different things.
SLACK_SHARE = 2.0**-10
# Of a part's delta, what the thresholds of one whole batch of discoveries may use.
DISCOVERY_SHARE = 2.0**-12


Asked = Loss | GaussianPortion  # what a question is to be paid with, as the caller names it


class BudgetPart(Protocol):
    """A budget set aside, and the rule by which questions are charged to it."""

    @property
    def budget(self) -> Budget:
        """What this part may cost in all."""
        ...

    @property
    def rule(self) -> str:
        """The rule, for the certificate."""
        ...

    def charge(self, asked: Asked, loss: Loss, slack: float) -> BudgetPart:
        """The part after one more question; refused when the rule does not admit it.

        `asked` is the loss as the caller named it, `loss` the same with the weights that are really used.
        """
        ...

    def piece(self, loss: Gaussian) -> tuple[BudgetPart, Gaussian]:
        """One marginal's worth of a batch asked one by one, and the part in which it may be charged."""
        ...


@dataclass(frozen=True)
class SingleSpending:
    """A part for one question."""

    budget: Budget
    rule: str = "one question"

    def charge(self, asked: Asked, loss: Loss, slack: float) -> BudgetPart:
        raise BudgetError("this part of the budget was set aside for one question, which was asked.")

    def piece(self, loss: Gaussian) -> tuple[BudgetPart, Gaussian]:
        raise BudgetError("this part of the budget was set aside for one question, which was asked.")


@dataclass(frozen=True)
class PlannedLoss:
    """A loss still to be asked, how often, the batch it is a piece of, and the share of it that is left."""

    loss: Loss
    left: int = 1
    batch: Gaussian | None = None
    share: Fraction = Fraction(1)


@dataclass(frozen=True)
class PlannedSpending:
    """A part for a plan that was fixed before its first question."""

    budget: Budget
    planned: tuple[PlannedLoss, ...]
    slack: float = 0.0
    rule: str = "exact composition of a plan fixed beforehand"
    # Choices planned before this place may no longer be asked: the plan was composed in its order, and a choice
    # that came later than planned could look at an answer that it was not to see. They may be left out.
    reached: int = 0
    refundable: Neighbours | None = None  # whose choices, left out at the end, may be measured instead

    def charge(self, asked: Asked, loss: Loss, slack: float) -> PlannedSpending:
        part = asked.share if isinstance(asked, GaussianPortion) else Fraction(1)
        wanted = _one(asked.whole if isinstance(asked, GaussianPortion) else asked)
        places = [
            place
            for place, step in enumerate(self.planned)
            if step.left and step.loss == wanted and part <= step.share
        ]
        if not places or not _covers(wanted, loss, part):
            raise _unplanned(loss)
        if isinstance(wanted, Choice):
            places = [place for place in places if place >= self.reached]
        if not places:
            raise BudgetError(
                "a choice is asked after a choice or a measurement that was planned to follow it.",
                hint="ask in the order of the plan's groups.",
            )
        check_slack(self.slack + slack, self.budget)
        place, step = places[0], self.planned[places[0]]
        rest = step.share - part
        after = replace(step, share=rest) if rest else replace(step, left=step.left - 1, share=Fraction(1))
        planned = (*self.planned[:place], after, *self.planned[place + 1 :])
        reached = max(self.reached, self._reach(place))
        return replace(self, planned=planned, slack=self.slack + slack, reached=reached)

    def refund(self) -> tuple[PlannedSpending, Gaussian | None]:
        """The part without its choices, and what they are worth that could still be asked: None where nothing is."""
        rho = math.fsum(
            step.left * step.loss.rho
            for step in self.planned[self.reached :]
            if step.left and isinstance(step.loss, Choice)
        )
        if self.refundable is None or not rho:
            return self, None
        worth = Gaussian(math.sqrt(0.5 / rho) * (1 + 2.0**-50), None, self.refundable)
        planned = (*self.planned, PlannedLoss(worth))
        return replace(self, planned=planned, reached=len(planned), refundable=None), worth

    def lists(self, asked: Asked) -> bool:
        """Whether the plan has, or had, a question at this loss, or a batch that it is a piece of."""
        wanted = _one(asked.whole if isinstance(asked, GaussianPortion) else asked)
        return any(wanted in (step.loss, step.batch) for step in self.planned)

    def _reach(self, place: int) -> int:
        """The first place whose choices may still be asked once this step has been."""
        if isinstance(self.planned[place].loss, Choice):
            return place
        last = max((p for p, step in enumerate(self.planned) if isinstance(step.loss, Choice)), default=place)
        # A piece stands at the end whatever its batch; the batch itself was charged when it was cut.
        return len(self.planned) if place > last and self.planned[place].batch is None else 0

    def piece(self, loss: Gaussian) -> tuple[BudgetPart, Gaussian]:
        pieces = [step.loss for step in self.planned if step.left and step.batch == loss]
        if pieces and isinstance(pieces[0], Gaussian):
            return self, pieces[0]
        # The batch leaves the plan, its pieces enter it. Weights that were left open are settled by the first piece.
        # A batch that was planned with its weights, or settled before, is never taken out of another one's share.
        named = any(loss in (step.loss, step.batch) for step in self.planned)
        whole = self.charge(loss if named else replace(loss, weights=None), loss, 0.0)
        cut = _pieces(loss)
        planned = (*whole.planned, *(PlannedLoss(single, batch=loss) for single in cut))
        return replace(whole, planned=planned), cut[0]


@dataclass(frozen=True)
class AdaptiveSpending:
    """A part for questions whose costs are chosen as answers come in."""

    budget: Budget
    spent: Filter
    rule: str = FILTER_RULE

    def charge(self, asked: Asked, loss: Loss, slack: float) -> AdaptiveSpending:
        return replace(self, spent=self.spent.charge(loss, *([Slack(slack)] if slack else [])))

    def piece(self, loss: Gaussian) -> tuple[BudgetPart, Gaussian]:
        return self, _pieces(loss)[0]


@dataclass(frozen=True)
class FilteredSpending:
    """A part for a plan with a filter: what it lists is asked as planned, all else out of the filter's own rho.

    Whatever is asked is charged to one zCDP filter as well, so that the rhos of both never pass its limit.
    """

    budget: Budget
    spent: Filter
    listed: PlannedSpending
    reserved: float  # the rho of the groups that are filters
    taken: float = 0.0
    rule: str = FILTER_RULE

    def charge(self, asked: Asked, loss: Loss, slack: float) -> FilteredSpending:
        spent = self.spent.charge(loss, *([Slack(slack)] if slack else []))
        if isinstance(asked, GaussianPortion) or self.listed.lists(asked):
            return replace(self, spent=spent, listed=self.listed.charge(asked, loss, 0.0))
        taken = self.taken + loss.rho
        if not taken <= self.reserved:
            raise BudgetError(
                f"a question at {_shown(loss)} costs a rho of {loss.rho:.6g}, of which the plan's filter has "
                f"{max(0.0, self.reserved - self.taken):.6g} left.",
                hint="ask for less.",
            )
        return replace(self, spent=spent, taken=taken)

    def piece(self, loss: Gaussian) -> tuple[BudgetPart, Gaussian]:
        part, single = self.listed.piece(loss)
        assert isinstance(part, PlannedSpending)
        return replace(self, listed=part), single


@dataclass(frozen=True)
class Allowance:
    """A budget and the parts it has been split into; the last part takes further questions."""

    budget: Budget
    neighbours: Neighbours
    parts: tuple[BudgetPart, ...] = ()

    @property
    def left(self) -> Budget:
        """What no part has taken, by basic composition."""
        if not self.parts:
            return self.budget
        parts = [part.budget for part in self.parts]
        epsilon = exact(self.budget.epsilon) - sum(exact(part.epsilon) for part in parts)
        delta = exact(self.budget.delta) - sum(exact(part.delta) for part in parts)
        if epsilon <= 0 or delta <= 0:
            raise BudgetError("the whole budget has been set aside.", hint="start with a larger one.")
        return self._like(_down(epsilon), _down(delta))

    def commit(self, groups: Sequence[Group]) -> tuple[Allowance, dict[str, Loss]]:
        """All that is left calibrated over a plan, and the loss of each of its groups."""
        budget = self.left
        calibration = calibrated(self._calibrated(budget), groups, self.neighbours)
        losses = calibration.losses.values()
        planned = tuple(
            PlannedLoss(_one(loss), _count(loss)) for loss in losses if not isinstance(loss, Filtered)
        )
        refundable = calibration.composition.refund
        part: BudgetPart = PlannedSpending(budget, planned, refundable=refundable)
        filters = [loss.rho for loss in losses if isinstance(loss, Filtered)]
        if filters:
            part = FilteredSpending(
                budget, Filter(budget), PlannedSpending(budget, planned), math.fsum(filters)
            )
        return replace(self, parts=(*self.parts, part)), calibration.losses

    def commit_soon(self, groups: Sequence[Group]) -> None:
        """Begin to calibrate a plan that is likely to be committed; nothing is taken for it."""
        calibrate_ahead(self._calibrated(self.left), groups, self.neighbours)

    def single(self, budget: Budget, weights: tuple[float, ...]) -> tuple[Allowance, Gaussian]:
        """A part for one batch of marginals, and its loss."""
        after = self.set_aside(budget)
        whole = Group("measure", "measure", Fraction(1), weights=weights)
        loss = calibrate(self._calibrated(budget), [whole], self.neighbours).losses["measure"]
        assert isinstance(loss, Gaussian)
        return after, loss

    def refund(self) -> tuple[Allowance, Gaussian | None]:
        """The allowance without the choices that its plan has left, and a loss worth as much: None where none is."""
        part = self.parts[-1] if self.parts else None
        if not isinstance(part, PlannedSpending):
            return self, None
        after, worth = part.refund()
        return self._with(after), worth

    def set_aside(self, budget: Budget) -> Allowance:
        """The allowance less a part for one question."""
        left = self.left
        if exact(budget.epsilon) > exact(left.epsilon) or exact(budget.delta) > exact(left.delta):
            raise BudgetError(
                f"a question at epsilon {budget.epsilon!r}, delta {budget.delta!r} is more than is left: "
                f"epsilon {left.epsilon!r}, delta {left.delta!r}.",
                hint="ask for less, or for curator.left.",
            )
        return replace(self, parts=(*self.parts, SingleSpending(budget)))

    def charge(self, asked: Asked, loss: Loss, slack: float) -> Allowance:
        """The allowance after one more question, charged to the open part."""
        before = self.opened()
        return before._with(before.parts[-1].charge(asked, loss, slack))

    def piece(self, loss: Gaussian) -> tuple[Allowance, Gaussian]:
        """One marginal's worth of a batch asked one by one, and the allowance in which to charge it."""
        before = self.opened()
        part, single = before.parts[-1].piece(replace(loss, neighbours=self.neighbours))
        return before._with(part), single

    def opened(self) -> Allowance:
        """The allowance with a part that takes further questions: the plan, or a filter on what is left."""
        if self.parts and not isinstance(self.parts[-1], SingleSpending):
            return self
        budget = self.left
        return replace(self, parts=(*self.parts, AdaptiveSpending(budget, Filter(budget))))

    def _with(self, part: BudgetPart) -> Allowance:
        return replace(self, parts=(*self.parts[:-1], part))

    def _calibrated(self, budget: Budget) -> Budget:
        """The budget that noise is calibrated to: less the share for slack."""
        return self._like(budget.epsilon, budget.delta * (1 - SLACK_SHARE))

    def _like(self, epsilon: float, delta: float) -> Budget:
        return Budget(epsilon, delta, allow_large_epsilon=self.budget.allow_large_epsilon)


def rounded_up(scales: Iterable[float]) -> list[float]:
    """Each scale as the next float above: never less noise than was charged for."""
    return [math.nextafter(scale, math.inf) for scale in scales]


def table_slack(distance: Fraction, epsilon: float) -> float:
    """The delta that noise within `distance` of its law costs."""
    return Slack.of_distance(max(float(distance), 1e-300), epsilon).delta


def check_slack(slack: float, budget: Budget) -> None:
    """Raise a BudgetError unless slack fits in half of the share set aside for it."""
    if not 2 * slack <= budget.delta * SLACK_SHARE:
        raise BudgetError(
            f"delta {budget.delta!r} leaves too little for noise tables and thresholds ({slack:.1e}).",
            hint="use a larger delta, a smaller epsilon, or fewer discoveries.",
        )


def _pieces(loss: Gaussian) -> list[Gaussian]:
    """A batch as losses of its marginals, one by one: the same noise, so the same cost together."""
    weights = (1.0,) if loss.weights is None else loss.weights
    return [Gaussian(loss.sigma / weight, (1.0,), loss.neighbours) for weight in weights]


def _covers(planned: Loss, loss: Loss, share: Fraction) -> bool:
    """Whether a question at `loss` is what was planned, or such a share of it; weights of None stand for any."""
    if not (isinstance(planned, Gaussian) and isinstance(loss, Gaussian)):
        return planned == loss
    if planned.weights is None:
        if not _within_largest(planned, loss):
            return False
        if share == 1 and planned.sigma == loss.sigma:
            return True
        return exact(planned.sigma) ** 2 <= share * exact(loss.sigma) ** 2
    return planned.sigma == loss.sigma and planned.weights == loss.weights


def _within_largest(planned: Gaussian, loss: Gaussian) -> bool:
    """Whether no marginal of a batch has less noise than the largest weight that was promised leaves it."""
    if planned.largest == 1:
        return True
    widest = exact(loss.largest) if loss.weights is None else exact(max(loss.weights)) ** 2
    most = exact(planned.largest) * (1 + exact(OF_WEIGHTS))
    return exact(planned.sigma) ** 2 * widest <= most * exact(loss.sigma) ** 2


def _unplanned(loss: Loss) -> BudgetError:
    return BudgetError(
        f"a question at {_shown(loss)} is not, or no longer, in the plan that was committed.",
        hint="ask with the losses that commit returned, as often as planned; "
        "a group whose weights are not known beforehand is planned with weights=None.",
    )


def _one(loss: Loss) -> Loss:
    return replace(loss, count=1) if isinstance(loss, Choice | Laplace) else loss


def _count(loss: Loss) -> int:
    return loss.count if isinstance(loss, Choice | Laplace) else 1


def _shown(loss: Loss) -> str:
    match loss:
        case Gaussian():
            return f"sigma {loss.sigma:.6g}"
        case Choice() | Laplace():
            return f"epsilon {loss.epsilon:.6g}"
        case Approximate():
            return f"epsilon {loss.epsilon:.6g}, delta {loss.delta:.6g}"
        case Slack():
            return f"delta {loss.delta:.6g}"
        case Filtered():
            return f"a filter of rho {loss.rho:.6g}"


def _down(value: Fraction) -> float:
    """The largest float that, as it is written, is no more than the value."""
    number = float(value)
    while exact(number) > value:
        number = math.nextafter(number, 0)
    return number
