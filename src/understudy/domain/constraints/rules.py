"""The constraints of a schema together: whether they agree, and in which order columns are worked out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from understudy.domain.columns.column import Column
from understudy.domain.condition_truth import CodeCells, truth
from understudy.domain.conditions import And, Compares, Condition, Reference, columns_of, parse
from understudy.domain.constraints.assigned_columns import Derived, Determines
from understudy.domain.constraints.conditional_rules import Implies, MissingTogether, Never, Order
from understudy.domain.constraints.constraint import Constraint, check_known, refuse_rule
from understudy.errors import ParameterError, SchemaError

MOST_CELLS = 1 << 22  # that are looked at to see whether rules leave anything possible


_KINDS: tuple[type[Constraint], ...] = (Order, Derived, Determines, Implies, Never, MissingTogether)
_EVERYWHERE = ("count", "description")


def constraint_from(said: Any) -> Constraint:
    """The rule that a section of a schema file, or a mapping with the same keys, describes."""
    if isinstance(said, Constraint):
        return said
    if not isinstance(said, Mapping):
        refuse_rule(
            f"a {type(said).__name__} is no rule.",
            'write [[constraints]] and below it, say, order = "a <= b".',
        )
    kind = next((kind for kind in _KINDS if kind.keys[0] in said), None)
    if kind is None:
        refuse_rule(
            f"keys {', '.join(map(repr, said)) or 'are left out, and'} tell no kind of rule.",
            f"write one of {', '.join(kind.keys[0] for kind in _KINDS)}.",
        )
    for key in said:
        if key not in (*kind.keys, *_EVERYWHERE):
            refuse_rule(
                f"field {key!r} is not known beside {kind.keys[0]!r}.",
                f"known: {', '.join((*kind.keys, *_EVERYWHERE))}.",
            )
    given = {("condition" if key == "if" else key): value for key, value in said.items()}
    try:
        return kind(**given)
    except TypeError:
        wanted = kind.keys[1]
        refuse_rule(f"{kind.keys[0]!r} is given without {wanted!r}.", f"write {wanted} = ...")


class Rules(tuple[Constraint, ...]):
    """The rules of a schema, each of which makes sense for its columns, and with the others."""

    @classmethod
    def checked(
        cls, given: Iterable[Any], columns: Mapping[str, Column], unit: str | None, *, learned: bool = False
    ) -> Rules:
        """The rules that are `given`, or refused with a way out.

        Where columns are `learned`, that a value turned out to be rare, or bounds narrow, is nobody's fault.
        """
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            refuse_rule(
                "constraints are not a list.", 'write constraints=[{"order": "admitted <= discharged"}].'
            )
        rules = []
        for number, said in enumerate(given, 1):
            try:
                rule = constraint_from(said)
                check_known(rule.columns, columns)
                if unit in rule.columns:
                    refuse_rule(
                        f"column {unit!r} is the unit's, and is not synthesised.", "drop it from the rule."
                    )
                if not learned:
                    rule.check(columns)
                    for condition in rule.conditions():
                        _check_possible([condition], columns)
            except ParameterError as error:
                raise SchemaError(f"constraint {number}: {error.message}", hint=error.hint) from None
            rules.append(rule)
        found = cls(rules)
        names = [rule.assigned for rule in found.assignments]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            refuse_rule(f"constraints: column {twice!r} is worked out twice.", "keep one of the two rules.")
        _check_cycles(
            condition for rule in found if isinstance(rule, Order) for condition in rule.conditions()
        )
        for linked in [] if learned else _linked(found.conditions):
            _check_possible(linked, columns)
        for rule in [] if learned else found:
            if isinstance(rule, Implies):
                _check_premise(rule, found, columns)
        return found

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions none of which may be false of a record."""
        return tuple(condition for rule in self for condition in rule.conditions())

    @property
    def computed(self) -> tuple[str, ...]:
        """The columns that are worked out from others, and not learned."""
        return tuple(name for rule in self if (name := rule.computed) is not None)

    @cached_property
    def assignments(self) -> tuple[Constraint, ...]:
        """The rules that say a column's value, those of which others make use first."""
        left = [rule for rule in self if rule.assigned is not None]
        found: list[Constraint] = []
        while left:
            open_ = {rule.assigned for rule in left}
            ready = [rule for rule in left if open_.isdisjoint(set(rule.columns) - {rule.assigned})]
            if not ready:
                refuse_rule(
                    f"constraints: {', '.join(sorted(map(repr, open_)))} are worked out from each other in a circle.",
                    "leave one of them to be learned.",
                )
            found += ready
            left = [rule for rule in left if rule not in ready]
        return tuple(found)


def _check_possible(conditions: Sequence[Condition], columns: Mapping[str, Column]) -> None:
    """Refuse conditions of which no record could have all, where that can be told from what is public."""
    if not _is_possible(conditions, columns, MOST_CELLS):
        whole = And(tuple(conditions)) if len(conditions) > 1 else conditions[0]
        refuse_rule(f"no record could hold {whole}.", "check the values and the bounds of its columns.")


def _is_possible(conditions: Sequence[Condition], columns: Mapping[str, Column], most: int) -> bool:
    """Whether a record could have all of these; True where that cannot be told by so many cells of codes."""
    names = tuple(dict.fromkeys(name for condition in conditions for name in columns_of(condition)))
    if any(columns[name].unlearned for name in names):
        return True
    cells = CodeCells(columns, names)
    if math.prod(cells.shape) > most:
        return True
    whole = And(tuple(conditions)) if len(conditions) > 1 else conditions[0]
    return bool(truth(whole, cells).true.any())


def _check_premise(rule: Implies, rules: Rules, columns: Mapping[str, Column]) -> None:
    """Refuse what follows from a condition where something else follows from it that cannot be beside it."""
    premise, names = parse(rule.condition), set(rule.columns)
    linked = [other for other in rules if isinstance(other, Implies) and names & set(other.columns)]
    beside = [condition for other in linked for condition in other.conditions()]
    most = MOST_CELLS // len(beside) ** 2
    if _is_possible([premise], columns, most) and not _is_possible([premise, *beside], columns, most):
        refuse_rule(
            f"constraints: {rule} contradicts another: no record could have {premise}.",
            "drop one of the two, or write never if there are no such records.",
        )


def _check_cycles(conditions: Iterable[Condition]) -> None:
    """Refuse orders that lead from a column back to itself: a < b beside b < a."""
    below: dict[str, set[str]] = {}
    for condition in conditions:
        if isinstance(condition, Compares) and isinstance(condition.value, Reference):
            below.setdefault(condition.column, set()).add(condition.value.column)
    for first, next_ in below.items():
        reached, ahead = set[str](), set(next_)
        while ahead:
            reached |= ahead
            ahead = {name for known in ahead for name in below.get(known, ())} - reached
        if first in reached:
            refuse_rule(f"constraints: column {first!r} is put below itself.", "drop one of the orders.")


def _linked(conditions: Sequence[Condition]) -> list[list[Condition]]:
    """The conditions in groups that share no column."""
    groups: list[tuple[set[str], list[Condition]]] = []
    for condition in conditions:
        names, together = set(columns_of(condition)), [condition]
        for group in [group for group in groups if not group[0].isdisjoint(names)]:
            groups.remove(group)
            names |= group[0]
            together = group[1] + together
        groups.append((names, together))
    return [together for _, together in groups]
