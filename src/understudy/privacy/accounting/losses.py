"""What questions cost, as frozen values: Gaussian, Choice, Laplace, Approximate, Slack; and Filtered, for several.

Each knows the rho of zero-concentrated privacy that it implies and the delta it adds outright (`slack`).
How several compose tightly is `composition`'s business. Proofs: docs/privacy.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeGuard

from understudy.errors import BudgetError
from understudy.privacy.accounting.budget import ONE_RECORD, Neighbours, positive, probability, real, whole
from understudy.privacy.plain_values import plain_value


class _Kind:
    """What all losses share: a name for files, a delta that is 0 unless they say otherwise, and plain values."""

    kind: ClassVar[str]

    @property
    def slack(self) -> float:
        """The delta added outright."""
        return 0.0

    def to_dict(self: Any) -> dict[str, Any]:
        """The loss as plain JSON values."""
        plain = {"kind": self.kind, **asdict(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


@dataclass(frozen=True)
class Gaussian(_Kind):
    """A batch of marginals, each with independent discrete Gaussian noise on its counts.

    Weights are normalised to a sum of squares of one, so the whole batch has sensitivity one; marginal i gets
    integer noise of scale `scales[i]`.

    Parameters:
        sigma: the scale at sensitivity one, so the loss is that of mu = 1 / sigma whatever the neighbours.
        weights: one a marginal; None where they are not known yet: the worst is assumed.
        neighbours: which two tables must look alike; by default they differ by one record, there or not.
        largest: of weights that are not known yet, what the square of none exceeds: the less, the less it costs
            that noise is whole numbers. 1, by default, holds of any.

    Raises:
        BudgetError: a number is out of its range.
    """

    sigma: float
    weights: tuple[float, ...] | None = (1.0,)
    neighbours: Neighbours = ONE_RECORD
    largest: float = 1.0
    kind = "gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        if self.weights is not None:
            object.__setattr__(self, "weights", normalised(self.weights))
        object.__setattr__(self, "neighbours", plain_value(self.neighbours, Neighbours))
        if not isinstance(self.neighbours, Neighbours):
            raise BudgetError(f"neighbours {self.neighbours!r} are not Neighbours.")
        object.__setattr__(self, "largest", positive("largest", self.largest))
        if self.largest > 1 or (self.weights is not None and self.largest < 1):
            raise BudgetError(f"largest {self.largest!r} is not at most 1, and 1 where weights are known.")

    def to_dict(self) -> dict[str, Any]:
        """The loss as plain JSON values; `largest` only where it says something."""
        plain = super().to_dict()
        return plain if self.largest < 1 else {n: value for n, value in plain.items() if n != "largest"}

    @property
    def scales(self) -> tuple[float, ...]:
        """The noise scale of each marginal of the batch, in counts."""
        if self.weights is None:
            raise BudgetError("a Gaussian loss of unknown weights has no scales.", hint="give its weights.")
        scale = self.sigma * self.neighbours.l2
        return tuple([scale / weight for weight in self.weights])

    def portion(self, share: Fraction) -> GaussianPortion:
        """So much of this loss, for one of several batches that together cost no more than it does."""
        return GaussianPortion(self, share)

    @property
    def rho(self) -> float:
        """1 / (2 sigma^2): the discrete Gaussian has the zCDP of the continuous one, exactly."""
        square = self.sigma * self.sigma
        return 0.5 / square if square else math.inf


@dataclass(frozen=True)
class GaussianPortion:
    """A share, in rho, of a Gaussian loss whose weights were left open: what one of its batches may cost.

    How a loss of a plan is divided among batches may depend on every earlier answer, as long as the shares never
    add up to more than one (docs/privacy.md, Theorem 5b).
    """

    whole: Gaussian
    share: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", plain_value(self.whole, Gaussian))
        if not isinstance(self.whole, Gaussian) or self.whole.weights is not None:
            raise BudgetError(
                f"{self.whole!r} cannot be divided.", hint="plan a measure group with weights=None."
            )
        if isinstance(self.share, bool) or not isinstance(self.share, Fraction | int):
            raise BudgetError(
                f"share {self.share!r} is not an exact fraction.",
                hint="use fractions.Fraction(1, 3), not 0.333.",
            )
        object.__setattr__(self, "share", Fraction(int(self.share.numerator), int(self.share.denominator)))
        if not 0 < self.share <= 1:
            raise BudgetError(f"share {self.share} is not above 0 and at most 1.")

    def batch(self, weights: tuple[float, ...] | None, neighbours: Neighbours) -> Gaussian:
        """The loss of a batch of marginals of these weights at this share; None where they are left open."""
        sigma = self.whole.sigma / math.sqrt(self.share) * (1 + 2.0**-50)
        return Gaussian(sigma, weights, neighbours, self.largest if weights is None else 1.0)

    @property
    def largest(self) -> float:
        """What the square of no weight in a batch of this share may exceed, for the whole's to hold."""
        return min(1.0, self.whole.largest / float(self.share))


@dataclass(frozen=True)
class _Repeated(_Kind):
    """`count` answers, each at `epsilon`."""

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "count", whole("count", self.count))


@dataclass(frozen=True)
class Choice(_Repeated):
    """Draws of the exponential mechanism, each with probability as exp(epsilon q / (2 l1)).

    Each draw's loss lies in an interval of length epsilon ("bounded range"), and is epsilon^2/8-zCDP.

    Parameters:
        epsilon: of each draw, above 0.
        count: how many draws; 1 by default.

    Raises:
        BudgetError: a number is out of its range.
    """

    kind = "choice"

    @property
    def rho(self) -> float:
        """epsilon^2 / 8 for each draw."""
        return self.count * (self.epsilon * self.epsilon) / 8


@dataclass(frozen=True)
class Laplace(_Repeated):
    """Answers with discrete Laplace noise (or anything else), each epsilon-differentially private.

    Parameters:
        epsilon: of each answer, above 0.
        count: how many answers; 1 by default.

    Raises:
        BudgetError: a number is out of its range.
    """

    kind = "laplace"

    @property
    def rho(self) -> float:
        """epsilon^2 / 2 for each answer."""
        return self.count * (self.epsilon * self.epsilon) / 2


@dataclass(frozen=True)
class Approximate(_Kind):
    """One (epsilon, delta)-differentially private answer; epsilon may be zero."""

    epsilon: float
    delta: float
    kind = "approximate"

    def __post_init__(self) -> None:
        epsilon = real("epsilon", self.epsilon)
        if epsilon < 0:
            raise BudgetError(f"epsilon {epsilon!r} is below 0.", hint="epsilon must be 0 or more.")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", probability("delta", self.delta))

    @property
    def rho(self) -> float:
        """epsilon^2 / 2, outside an event of probability delta."""
        return self.epsilon * self.epsilon / 2

    @property
    def slack(self) -> float:
        return self.delta


@dataclass(frozen=True)
class Slack(_Kind):
    """A delta added outright: an event of at most this probability in which the promise may fail."""

    delta: float
    kind = "slack"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability("delta", self.delta))

    @classmethod
    def of_distance(cls, distance: float, epsilon: float) -> Slack:
        """The slack, at epsilon, of a sampler within this total variation distance of the exact one.

        Both neighbours' distributions are off by `distance`, the second one counts e^epsilon times.
        """
        number = real("epsilon", epsilon)
        log_delta = (
            math.log(positive("distance", distance)) + max(number, 0.0) + math.log1p(math.exp(-abs(number)))
        )
        if log_delta >= 0:
            raise BudgetError(
                f"epsilon {number:g} is so large that noise within {distance:.0e} of its law promises nothing.",
                hint=f"use an epsilon below {-math.log(distance):.0f}.",
            )
        return cls(math.exp(log_delta) * (1 + 1e-12))

    @property
    def rho(self) -> float:
        return 0.0

    @property
    def slack(self) -> float:
        return self.delta


@dataclass(frozen=True)
class Filtered(_Kind):
    """A rho set aside in a zCDP filter: for questions whose losses are chosen as answers come in.

    No question is charged at this loss. Each is asked at one of its own, as long as their rhos add up to no more.
    """

    rho: float
    kind = "filtered"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive("rho", self.rho))


Loss = Gaussian | Choice | Laplace | Approximate | Slack | Filtered
LOSSES: tuple[type[Loss], ...] = (Gaussian, Choice, Laplace, Approximate, Slack)  # that a question may cost
_KINDS: Mapping[str, type[Loss]] = {loss.kind: loss for loss in LOSSES}


def loss_from_dict(plain: Mapping[str, Any]) -> Loss:
    """The loss that `to_dict` wrote, checked again."""
    if not isinstance(plain, Mapping) or plain.get("kind") not in _KINDS:
        raise BudgetError("a loss is a table whose kind is one of " + ", ".join(_KINDS) + ".")
    fields = {str(name): value for name, value in plain.items() if name != "kind"}
    try:
        if "neighbours" in fields:
            fields["neighbours"] = Neighbours(**fields["neighbours"])
        return _KINDS[plain["kind"]](**fields)
    except TypeError:
        raise BudgetError(
            f"a loss of kind {plain['kind']!r} has other fields than {sorted(fields)}."
        ) from None


def normalised(weights: Any) -> tuple[float, ...]:
    """Weights scaled to a sum of squares of one (to 1e-13; accounting leaves room for it)."""
    if _all_alike(weights):  # the same as below, to the last bit, and at once
        alike, number = weights[0], len(weights)
        return weights if abs(number * (alike * alike) - 1) < 1e-13 else (1 / math.sqrt(number),) * number
    try:
        checked = [w if type(w) is float and 0 < w < math.inf else positive("weight", w) for w in weights]
    except TypeError:
        raise BudgetError(f"weights {weights!r} are not a sequence of numbers.") from None
    if not checked:
        raise BudgetError("a batch has no weights.", hint="measure at least one marginal.")
    largest = max(checked)
    ratios = [weight / largest for weight in checked]
    if min(ratios) < 1e-100:
        raise BudgetError(
            "the smallest weight is below 1e-100 of the largest.", hint="leave that marginal out."
        )
    if abs(math.fsum(weight * weight for weight in checked) - 1) < 1e-13:
        return tuple(checked)  # already normalised: the same weights again, to the last bit
    norm = math.sqrt(math.fsum(ratio * ratio for ratio in ratios))
    return tuple(ratio / norm for ratio in ratios)


def _all_alike(weights: Any) -> TypeGuard[tuple[float, ...]]:
    """Whether these are a tuple of one float again and again."""
    if type(weights) is not tuple or not weights or not {float}.issuperset(map(type, weights)):
        return False
    return 0 < weights[0] < math.inf and weights.count(weights[0]) == len(weights)
