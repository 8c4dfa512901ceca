"""What synthetic records will be asked: sets of columns, and how much each of them matters."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError

MOST = 6  # columns of one set: of more, even a small table has too many cells
_ORDER = re.compile(r"([1-9])([- ]way)?", re.IGNORECASE)


@dataclass(frozen=True)
class Workload:
    """Sets of columns with weights: those listed, or all of so many columns, of them only those with the target.

    Parameters:
        order: all sets of so many columns, 1 to 6; None where they are listed.
        listed: the sets of columns that matter, each with its weight, above 0.
        target: a column that every set holds; none by default.

    Raises:
        ParameterError: a number is out of its range, a set is empty, or names a column twice.
    """

    order: int | None = None
    listed: tuple[tuple[Clique, float], ...] = ()
    target: str | None = None

    def __post_init__(self) -> None:
        order = self.order
        if order is not None and (
            isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MOST
        ):
            raise ParameterError(f"workload {order!r} is not a number of columns from 1 to {MOST}.")
        for clique, weight in self.listed:
            if not 1 <= len(clique) <= MOST or len(set(clique)) < len(clique):
                raise ParameterError(
                    f"workload: {', '.join(clique) or 'an empty set'} is not a set of 1 to {MOST} columns."
                )
            if not (weight > 0 and math.isfinite(weight)):
                raise ParameterError(
                    f"workload: the weight {weight!r} of {', '.join(clique)} is not above 0."
                )

    @classmethod
    def of(cls, given: Any = None, target: str | None = None, *, order: int = 3) -> Workload:
        """What a person wrote, as a workload.

        Parameters:
            given: a number of columns (3: all triples), "3-way", sets of columns, or a mapping of sets to weights;
                all sets of `order` columns by default.
            target: a column that every set holds; none by default. Of all sets of so many columns those that hold it
                are kept, and it joins those that are listed.
            order: what is meant where nothing is given; triples by default, as published.

        Returns:
            A `Workload`: mechanisms that take one spend where it says.

        Raises:
            ParameterError: it cannot be read, or a weight is not above 0.

        Example:
            >>> import understudy as us
            >>> us.Workload.of("2-way", target="income").order
            2
        """
        if target is not None and not isinstance(target, str):
            raise ParameterError(f"target {target!r} is not the name of a column.")
        if isinstance(given, Workload):
            return given if target is None else cls(given.order, given.listed, target)
        if given is None or given == ():
            return cls(order, target=target)
        if isinstance(given, str):
            said = _ORDER.fullmatch(given.strip())
            if said is None:
                raise ParameterError(
                    f"workload {given!r} is neither a number of columns nor sets of them.",
                    hint='write "3-way", or [("age", "income"), ("sex", "age")].',
                )
            return cls(int(said[1]), target=target)
        if isinstance(given, int):
            return cls(given, target=target)
        pairs = given.items() if isinstance(given, Mapping) else [(clique, 1.0) for clique in given]
        try:
            listed = tuple((_clique(clique), float(weight)) for clique, weight in pairs)
        except (TypeError, ValueError):
            raise ParameterError(
                "a workload's sets are tuples of column names, its weights numbers.",
                hint='write [("age", "income")], or {("age", "income"): 2}.',
            ) from None
        return cls(None, listed, target)

    @staticmethod
    def is_order(text: str) -> bool:
        """Whether a text says a number of columns: "3-way", or "3"."""
        return _ORDER.fullmatch(text.strip()) is not None

    def check(self, domain: Domain) -> None:
        """Refuse names that the domain does not have (DomainError)."""
        for clique, _ in self.listed:
            domain.clique(clique)
        if self.target is not None:
            domain.clique((self.target,))

    @property
    def even(self) -> bool:
        """Whether every pair of columns matters to it, and as much as any other."""
        return self.order is not None and self.order > 1 and self.target is None

    def cliques(self, domain: Domain) -> dict[Clique, float]:
        """The sets themselves with their weights, in the domain's order of columns."""
        found: dict[Clique, float] = {}
        sets: Iterable[tuple[Clique, float]] = self.listed
        if self.order is not None:
            sets = (
                (clique, 1.0) for clique in itertools.combinations(domain.names, min(self.order, len(domain)))
            )
        for clique, weight in sets:
            together = clique if self.target is None else tuple(dict.fromkeys((self.target, *clique)))
            if self.order is not None and len(together) > len(clique):
                continue  # of all sets of so many columns only those with the target
            ordered = domain.order(together)
            found[ordered] = found.get(ordered, 0.0) + weight
        return found

    def closure(self, domain: Domain, most: int = 10**6) -> dict[Clique, float]:
        """Every part of a set, and how much it matters: the columns that it shares with each, times its weight.

        (AIM, "downward closure".) Where there are more than `most`, the parts of most columns are left out.
        """
        wanted = self.cliques(domain)
        parts: set[Clique] = set()
        for size in range(1, MOST + 1):
            larger = {part for clique in wanted for part in itertools.combinations(clique, size)}
            if size > 1 and len(parts) + len(larger) > most:
                break
            parts |= larger
        # What a set shares with a part is a sum over columns: so is the weight.
        of_column = _of_columns(domain, wanted)
        ordered = sorted(parts, key=lambda part: (len(part), [domain.names.index(name) for name in part]))
        return {part: sum(of_column[name] for name in part) for part in ordered}


class Importance:
    """How much any set of columns matters to a workload, in the mean of its columns.

    Nothing, where the workload does not ask every pair of them.
    """

    def __init__(self, workload: Workload, domain: Domain) -> None:
        wanted = workload.cliques(domain)
        self._of_column = _of_columns(domain, wanted)
        self._pairs = {pair for clique in wanted for pair in itertools.combinations(clique, 2)}

    @property
    def most(self) -> float:
        """How much the column matters that does most."""
        return max(self._of_column.values(), default=1.0)

    def __call__(self, clique: Clique) -> float:
        if not self._pairs.issuperset(itertools.combinations(clique, 2)):
            return 0.0
        return sum(self._of_column[name] for name in clique) / len(clique)


def _of_columns(domain: Domain, wanted: Mapping[Clique, float]) -> dict[str, float]:
    """The weights of the sets that each column is in, added up."""
    found = {name: 0.0 for name in domain}
    for clique, weight in wanted.items():
        for name in clique:
            found[name] += weight
    return found


def whole_weights(weights: Sequence[float], most: int = 1000) -> list[int]:
    """The weights in proportion, as whole numbers from 1 to `most`: as a curator takes them."""
    largest = max(weights, default=1.0)
    return [max(1, round(most * weight / largest)) for weight in weights]


def _clique(given: Any) -> Clique:
    if isinstance(given, str):
        given = given.split(",")
    return tuple(str(name).strip() for name in given)
