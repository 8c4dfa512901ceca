"""Mechanisms by name, as the command line and a certificate know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.marginals import Counter
from understudy.mechanisms import (
    MST,
    NIST_MST,
    FieldGroups,
    Fixed,
    Independent,
    Mechanism,
    PrivBayes,
    PrivSyn,
)

NAMES = ("mst", "nist-mst", "independent", "fixed", "privsyn", "privbayes", "field-groups")


def mechanism_of(name: str, *, cliques: Sequence[Clique] = (), public: Counter | None = None) -> Mechanism:
    """The mechanism of that name with its default settings.

    `cliques` are forced, or all there is for `fixed`, or the groups of `field-groups`.
    """
    if public is not None and name not in ("nist-mst", "field-groups"):
        raise ParameterError(
            f"a public table was given to {name!r}, which takes none.", hint="use nist-mst or field-groups."
        )
    if name == "mst":
        return MST(forced=cliques)
    if name == "privsyn":
        return PrivSyn(forced=cliques)
    if name == "field-groups":
        if not cliques and public is None:
            raise ParameterError(
                "mechanism 'field-groups' needs groups of columns, or a public table to find them on.",
                hint="name them: --clique A,B,C, each column once at most; or give --public FILE.",
            )
        return FieldGroups(cliques, public=public)
    if name in ("independent", "privbayes"):
        if cliques:
            raise ParameterError(
                f"cliques were given to {name!r}, which takes none.", hint="use fixed or mst."
            )
        return Independent() if name == "independent" else PrivBayes()
    if name == "fixed":
        if not cliques:
            raise ParameterError(
                "mechanism 'fixed' needs cliques to measure.", hint="name them: --clique A,B."
            )
        return Fixed(cliques)
    if name == "nist-mst":
        if public is None:
            raise ParameterError(
                "mechanism 'nist-mst' selects on a public table, and none was given.",
                hint="give one with the same columns (--public FILE), or use mst.",
            )
        return NIST_MST(public, forced=cliques)
    raise ParameterError(f"mechanism {name!r} is not known.", hint=f"choose one of {', '.join(NAMES)}.")


def describe(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism's name and settings as plain JSON values; a public table is left out."""
    said: dict[str, Any] = {"name": mechanism.name}
    if is_dataclass(mechanism):
        for field in fields(mechanism):
            value = getattr(mechanism, field.name)
            if field.name != "public":
                said[field.name] = _plain(value)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
