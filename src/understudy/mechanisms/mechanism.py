"""What a mechanism is: a frozen recipe, called with a curator and a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Measurement
from understudy.mechanisms.generator import Generator
from understudy.privacy import Budget, Curator, Group, Loss
from understudy.transforms.compress import Compression

Allotment = Mapping[str, Loss]  # a group's name -> the loss it may spend


@dataclass(frozen=True)
class Fit:
    """What a mechanism returns. Everything here was released by a curator or computed from what one released.

    Parameters:
        measurements: the noisy marginals.
        field: what draws records: a field, mostly.
        compression: how codes were merged; `Compression.none(domain)` where none were.
        decisions: sentences for a person: what it decided as answers came in, and why; none by default.
    """

    measurements: tuple[Measurement, ...]
    field: Generator
    compression: Compression
    decisions: tuple[str, ...] = ()


class Mechanism(Protocol):
    """A selection strategy. It holds no data and no budget, and it never sees a record.

    One that makes no field of its cliques may be `Sized` as well.
    """

    @property
    def name(self) -> str:
        """The word that names it on the command line and in a certificate."""
        ...

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        """The questions it will ask and each one's share of the budget: public, decided beforehand."""
        ...

    def cliques(self, domain: Domain) -> list[Clique]:
        """Cliques as large as those it may measure after its one-way marginals: what a plan must fit."""
        ...

    def __call__(self, curator: Curator, domain: Domain, budget: Budget | Allotment) -> Fit:
        """Measurements and a field.

        `budget` is the whole of the curator's, or what `curator.commit` allotted to this mechanism's plan.
        """
        ...


@dataclass(frozen=True)
class Foresight:
    """What a mechanism would likely do, in sentences for a person, and the recipe that does no more than that."""

    mechanism: Mechanism
    intentions: tuple[str, ...]
    rounds: int = 0  # after each of which the model is fitted anew
    column_noise: float | None = None  # of a column's counts by all that is spent on it; None: as planned
    at_once: int = 0  # marginals of several columns that are measured together, in the model from then on


@runtime_checkable
class Foreseeing(Protocol):
    """A mechanism whose questions depend on answers, and that can say beforehand what it will likely ask."""

    def foreseen(self, domain: Domain, losses: Allotment, rows: int | None, l2: float) -> Foresight:
        """What it would do with a table of about so many rows, a public figure, at these losses."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A mechanism that says itself how large its model is; any other's is the tree that joins its cliques."""

    def largest(self, domain: Domain, losses: Allotment, rows: int, l1: int) -> list[Clique]:
        """Cliques as large as those it may measure of so many records, at these losses."""
        ...

    def model_cells(self, domain: Domain, cliques: Sequence[Clique], rows: int | None) -> int:
        """The cells that it keeps of these cliques."""
        ...


@runtime_checkable
class Growing(Protocol):
    """A mechanism whose model grows in rounds, beyond a first tree of pairs, and that says how far."""

    def grown_cells(self, tree: int, epsilon: float) -> int:
        """The most cells of the model, where all of its first tree would have so many."""
        ...


def allot(curator: Curator, plan: Sequence[Group], budget: Budget | Allotment) -> Allotment:
    """The loss of every group of the plan: committed now, or allotted by the caller earlier.

    Parameters:
        curator: who holds the records and the budget.
        plan: the mechanism's own groups, whose shares add up to one.
        budget: what the mechanism was called with: the curator's whole budget, or losses that were allotted to
            it.

    Returns:
        A group's name -> the loss that its questions may spend together.

    Raises:
        ParameterError: the budget is not the curator's.
    """
    if isinstance(budget, Budget):
        if budget != curator.budget:
            raise ParameterError(
                f"a budget of {budget} was asked of a curator that holds {curator.budget}.",
                hint="pass curator.budget, or what curator.commit returned.",
            )
        return curator.commit(plan)
    return budget


def shares(**parts: Fraction | float | int) -> dict[str, Fraction]:
    """The parts as exact fractions of their sum; every part must be positive."""
    exact: dict[str, Fraction] = {}
    for name, part in parts.items():
        try:
            exact[name] = Fraction(part).limit_denominator(10**6)
        except (TypeError, ValueError, OverflowError):
            exact[name] = Fraction(0)
        if exact[name] <= 0:
            raise ParameterError(f"share {name!r} is {part!r}; a share must be a positive number.")
    whole = sum(exact.values())
    return {name: part / whole for name, part in exact.items()}
