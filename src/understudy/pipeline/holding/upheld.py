"""Which way each constraint is held, and by how many records it was broken, as far as noisy counts tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from understudy.domain import Domain, Schema
from understudy.domain.conditions import Compares, Condition, Reference, column_text, columns_of
from understudy.domain.constraints import Constraint, Determines
from understudy.domain.ordered_differences import held_by_coding, links
from understudy.mechanisms import Fit
from understudy.pipeline.holding.breaches import Breaches, measured_breaches, said
from understudy.pipeline.holding.determined import with_values
from understudy.pipeline.holding.structural_zeros import impose, modelled

WORKED_OUT = "working it out"
MODEL = "the model"
RECORDS = "drawing records again"


@dataclass(frozen=True)
class Upheld:
    """A fit and its schema once constraints are held, and what there is to say of each."""

    fit: Fit
    schema: Schema
    rules: tuple[dict[str, Any], ...] = ()

    def certified(self) -> dict[str, Any]:
        """What a certificate adds: nothing where there are no constraints."""
        return {"constraints": list(self.rules)} if self.rules else {}


def uphold(fit: Fit, schema: Schema, counted: Breaches) -> Upheld:
    """The fit with zeros where constraints have them, and each constraint with its way. Free: nothing is asked.

    `counted` are the noisy counts of those that were asked for.
    """
    if not schema.rules:
        return Upheld(fit, schema)
    complete = with_values(schema, fit)
    imposed = impose(fit, complete)
    rules = tuple(
        {
            "rule": str(rule),
            "held": way(rule, rule in imposed.held, through(rule, schema)),
            **said(_best(asked, fit, complete, counted)),
        }
        for asked, rule in zip(schema.rules, complete.rules, strict=True)
    )
    return Upheld(imposed.fit, complete, rules)


def _best(rule: Constraint, fit: Fit, schema: Schema, counted: Breaches) -> tuple[float, float] | None:
    """The noisy count of the records that break a rule with the least noise there is, if there is any."""
    free = measured_breaches(rule, fit.measurements, schema, fit.compression)
    both = [found for found in (counted.get(rule), free) if found is not None]
    return min(both, key=lambda found: found[1], default=None)


def through(rule: Constraint, schema: Schema) -> str:
    """The differences of columns that hold an order by the way they are coded, in words; empty where none do."""
    conditions = rule.conditions()
    coded = [pair for pair in conditions if held_by_coding(pair, schema.columns) is not None]
    if not coded:
        return ""
    rest = "" if len(coded) == len(conditions) else f"; the rest by {RECORDS}"
    return f"{MODEL}, through {_differences(coded)}{rest}"


def _differences(pairs: Sequence[Condition]) -> str:
    columns = (columns_of(pair) for pair in pairs)
    return ", ".join(f"{column_text(above)} - {column_text(below)}" for below, above in columns)


def way(rule: Constraint, in_model: bool, differences: str = "") -> str:
    """Which way a constraint is held, in words."""
    if differences:
        return differences
    if rule.computed is not None:
        return WORKED_OUT
    if isinstance(rule, Determines):
        return f"{MODEL}, and {WORKED_OUT}" if in_model and rule.values is not None else WORKED_OUT
    return f"{MODEL}, and {RECORDS} where a code stands for many values" if in_model else RECORDS


def planned(schema: Schema, domain: Domain) -> tuple[tuple[str, str], ...]:
    """Each constraint and which way it will be held, as far as public knowledge tells."""
    open_ = schema.unlearned
    later = [link for link in links(schema) if link.below in open_ or link.above in open_]
    found = []
    for rule in schema.rules:
        said = through(rule, schema)
        pairs = [
            Compares(link.below, "<=", Reference(link.above))
            for link in later
            if link.rule is rule and not said
        ]
        if pairs:
            said = f"{MODEL}, through {_differences(pairs)} once bounds are learned"
        found.append((str(rule), way(rule, modelled(rule, domain, schema.columns), said)))
    return tuple(found)
