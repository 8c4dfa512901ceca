"""The questions of a whole run and their shares of the budget, from public knowledge alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from understudy.domain import Domain, Schema
from understudy.errors import UnderstudyError
from understudy.mechanisms import Mechanism
from understudy.mechanisms.mechanism import Foreseeing, Foresight
from understudy.pipeline import learning
from understudy.pipeline.accuracy import error_check
from understudy.pipeline.holding import breaches
from understudy.pipeline.unit_bound import learns_bound, rest_of
from understudy.privacy import Budget, Group, Neighbours
from understudy.privacy.accounting.calibration import forecast_losses
from understudy.privacy.accounting.spending import Allowance

LEARNED = 64  # codes that a learned column is taken to have, for a forecast


def plan_of(schema: Schema, mechanism: Mechanism, *, check: bool = True) -> tuple[Group, ...]:
    """Every question of a run with its share of the whole budget: what is learned first, the mechanism's own, and,
    unless it is switched off, the check of how far off the model is."""
    domain = known_domain(schema)
    first = learning.groups(schema) + breaches.groups(schema)
    last = error_check.groups(domain) if check else ()
    rest = 1 - sum((group.share for group in (*first, *last)), Fraction(0))
    planned = (replace(group, share=group.share * rest) for group in mechanism.plan(domain))
    return (*first, *planned, *last)


def foreseen(
    schema: Schema,
    mechanism: Mechanism,
    budget: Budget,
    neighbours: Neighbours,
    *,
    rows: int | None,
    check: bool = True,
) -> Foresight:
    """What the mechanism would likely do with so many rows, and the recipe that asks nothing beyond that.

    From public knowledge alone: the schema, the budget, and a figure that a person gave.
    """
    if not isinstance(mechanism, Foreseeing):
        return Foresight(mechanism, ())
    groups = plan_of(schema, mechanism, check=check)
    losses = forecast_losses(rest_of(budget) if learns_bound(schema) else budget, groups, neighbours)
    return mechanism.foreseen(known_domain(schema), losses, rows, neighbours.l2)


def calibrate_soon(
    schema: Schema, mechanism: Mechanism, budget: Budget, relation: str, *, check: bool = True
) -> None:
    """Begin to calibrate what a run will commit, where its schema leaves nothing to be learned first.

    What is wrong with any of it is said when its turn comes.
    """
    with suppress(UnderstudyError):
        if not schema.unlearned and not learns_bound(schema):
            neighbours = neighbours_of(schema, relation)
            found = foreseen(schema, mechanism, budget, neighbours, rows=schema.rows, check=check)
            Allowance(budget, neighbours).commit_soon(plan_of(schema, found.mechanism, check=check))


def neighbours_of(schema: Schema, relation: str) -> Neighbours:
    """Who is protected: one record, or all the records of one unit that are used (1 while that is to be learned)."""
    return Neighbours(relation, 1 if schema.unit is None or learns_bound(schema) else schema.records_per_unit)


def known_domain(schema: Schema) -> Domain:
    """The domain as far as it is known before a run: a column still to be learned counts as one of 64 codes."""
    return Domain(
        {name: LEARNED if column.unlearned else column.size for name, column in schema.synthesised.items()}
    )
