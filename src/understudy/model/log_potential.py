"""Logarithms of a factor: `theta_C` of the paper. Adding them multiplies the factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy.domain import Clique
from understudy.model.factor import (
    Array,
    Codes,
    Factor,
    align,
    check_shared,
    checked_axes,
    joined,
    taken,
    without,
)


@dataclass(frozen=True, eq=False)
class LogPotential:
    """Logarithms, one a cell of `clique`; -inf is a structural zero, +inf and NaN have no meaning here."""

    clique: Clique
    logs: Array

    def __post_init__(self) -> None:
        clique, logs = checked_axes(self.clique, self.logs)
        object.__setattr__(self, "clique", clique)
        object.__setattr__(self, "logs", logs)

    def __add__(self, other: LogPotential) -> LogPotential:
        """The log of the product of two factors, over the columns of both."""
        check_shared(self.clique, self.logs, other.clique, other.logs)
        onto = joined(self.clique, other.clique)
        return LogPotential(onto, align(self.clique, self.logs, onto) + align(other.clique, other.logs, onto))

    def __sub__(self, other: LogPotential) -> LogPotential:
        """The log of the quotient; where the divisor is a structural zero, a structural zero."""
        check_shared(self.clique, self.logs, other.clique, other.logs)
        onto = joined(self.clique, other.clique)
        top, bottom = align(self.clique, self.logs, onto), align(other.clique, other.logs, onto)
        out = np.full(np.broadcast_shapes(top.shape, bottom.shape), -np.inf)
        return LogPotential(onto, np.subtract(top, bottom, out=out, where=bottom != -np.inf))

    def sum_out(self, names: Iterable[str]) -> LogPotential:
        """The log of the factor's sum over `names`, computed without overflow."""
        kept, axes = without(self.clique, names)
        if not axes:
            return self
        top = self.logs.max(axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(np.exp(self.logs - top).sum(axis=axes))
        return LogPotential(kept, logs + top.reshape(logs.shape))

    def max_out(self, names: Iterable[str]) -> LogPotential:
        """The log of the factor's maximum over `names`."""
        kept, axes = without(self.clique, names)
        return LogPotential(kept, self.logs.max(axis=axes))

    def condition(self, given: Mapping[str, Codes]) -> LogPotential:
        """The cells where `given` holds: a code drops its column, several codes shorten its axis."""
        return LogPotential(*taken(self.clique, self.logs, given))

    def normalise(self) -> LogPotential:
        """The same factor scaled to sum to one."""
        whole = float(self.sum_out(self.clique).logs)
        return LogPotential(self.clique, self.logs - (whole if np.isfinite(whole) else 0.0))

    def exp(self) -> Factor:
        """The factor itself; -inf becomes an exact zero."""
        return Factor(self.clique, np.exp(self.logs))
