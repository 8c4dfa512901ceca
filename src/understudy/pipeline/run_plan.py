"""The questions of a whole run and their shares of the budget, from public knowledge alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from understudy.domain import Domain, Schema
from understudy.mechanisms import Mechanism
from understudy.pipeline import learning
from understudy.pipeline.accuracy import error_check
from understudy.pipeline.holding import breaches
from understudy.pipeline.unit_bound import learns_bound
from understudy.privacy import Group, Neighbours

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


def neighbours_of(schema: Schema, relation: str) -> Neighbours:
    """Who is protected: one record, or all the records of one unit that are used (1 while that is to be learned)."""
    return Neighbours(relation, 1 if schema.unit is None or learns_bound(schema) else schema.records_per_unit)


def known_domain(schema: Schema) -> Domain:
    """The domain as far as it is known before a run: a column still to be learned counts as one of 64 codes."""
    return Domain(
        {name: LEARNED if column.unlearned else column.size for name, column in schema.synthesised.items()}
    )
