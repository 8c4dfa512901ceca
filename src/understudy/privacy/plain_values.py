"""Values of our own: what is handed to a curator is copied into exact types before anything is decided by it.

A subclass may answer otherwise each time it is asked, and so pass a check with one answer and be used with another;
or bring code of its own to where exact counts are. Only copies are checked, and only copies are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from itertools import chain
from typing import Any

from understudy.domain import Clique, Domain
from understudy.errors import BudgetError, DomainError


def plain_value(given: Any, *kinds: type) -> Any:
    """A frozen value of exactly one of these kinds, made anew from its fields; anything else as it is.

    The constructors of these kinds check every field and keep plain numbers and texts. A subclass is refused.
    """
    kind = type(given)
    if kind in kinds:
        return kind(**{field.name: getattr(given, field.name) for field in fields(kind)})
    if isinstance(given, kinds):
        raise BudgetError(
            f"a {kind.__name__} is not exactly one of {', '.join(known.__name__ for known in kinds)}.",
            hint="a curator takes values, not behaviour: give the class itself, not a subclass.",
        )
    return given


def plain_text(given: Any) -> str:
    """A text as one of Python's own."""
    if not isinstance(given, str):
        raise DomainError(f"column name {given!r} is not a text.")
    return str.__str__(given)


def plain_clique(given: Any) -> Clique:
    """Names of columns, or the name of one, as a tuple of texts."""
    if type(given) is tuple and all(type(name) is str for name in given):
        return given
    try:
        return tuple(map(plain_text, (given,) if isinstance(given, str) else given))
    except TypeError:
        raise DomainError(f"clique {given!r} is not a tuple of column names.") from None


def plain_cliques(given: Iterable[Any]) -> list[Clique]:
    """Many cliques, each as `plain_clique` has it; where all are plain already, which one look tells, as they are."""
    cliques = list(given)
    plain = set(map(type, cliques)) <= {tuple} and set(map(type, chain.from_iterable(cliques))) <= {str}
    return cliques if plain else list(map(plain_clique, cliques))


def plain_domain(given: Domain) -> Domain:
    """A domain that is exactly one."""
    return given if type(given) is Domain else Domain(given)


def exact(value: float) -> Fraction:
    """The number as it is written: ten times 0.1 is 1, where binary floating point would overshoot."""
    return Fraction(repr(float(value)))
