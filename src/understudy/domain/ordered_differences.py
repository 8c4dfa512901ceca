"""Orders held by coding: where a schema says `a <= b`, b is coded by how far it lies after a.

A chain a <= b <= c works link by link: c is coded from b. Which columns are coded so follows from the schema alone:
where nobody asks for it, not those that differences would say less of than values do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.domain.columns.column import Column
from understudy.domain.columns.differences.difference import Difference, growing_steps
from understudy.domain.columns.differences.ends import ends_of, is_plain, unit_of
from understudy.domain.conditions import Compares, Condition, IsMissing, Reference, leaves
from understudy.domain.constraints import Determines, Order, Rules
from understudy.domain.schema import Schema

# Times as far as a column's own bounds are apart: where differences reach further, they say less than its values.
# From birth to an admission in one of two years it is 90 years, of which a difference tells no month.
FAR = 1.25
ALONE = 16  # codes of values whose other cell is missing


@dataclass(frozen=True)
class Link:
    """A column above another in an order."""

    below: str
    above: str
    strict: bool
    rule: Order


def through_differences(schema: Schema) -> Schema:
    """The schema with every column that an order puts above another coded by its difference, where that can be.

    Where bounds are still to be learned it cannot be yet: ask again once they are.
    """
    found = {
        link.above: column
        for link in links(schema)
        if (column := _difference(link, schema.columns)) is not None
    }
    return schema.with_columns(found) if found else schema


def in_values(schema: Schema) -> Schema:
    """The schema with every column coded by its own values."""
    found = {name: column.of for name, column in schema.columns.items() if isinstance(column, Difference)}
    return schema.with_columns(found) if found else schema


def held_by_coding(condition: Condition, columns: Mapping[str, Column]) -> Difference | None:
    """The column whose codes hold a comparison of two columns, if there is one."""
    if not isinstance(condition, Compares) or not isinstance(condition.value, Reference):
        return None
    above = columns.get(condition.value.column)
    return above if isinstance(above, Difference) and above.after == condition.column else None


def links(schema: Schema) -> list[Link]:
    """The pairs of neighbours in orders of which the upper could be coded by its difference, bounds or not."""
    rules, learned = schema.rules, schema.synthesised
    pairs = list(_pairs(rules))
    spoken_for = _spoken_for(rules)
    return [
        link
        for link in pairs
        if link.rule.by != "values"
        and _is_nearest(link, pairs)
        and {link.below, link.above} <= learned.keys()
        and link.above not in spoken_for
    ]


def _is_nearest(link: Link, pairs: Sequence[Link]) -> bool:
    """Whether a column stands above no other, or the others stand below this one: a <= c follows from a <= b <= c."""
    others = {other.below for other in pairs if other.above == link.above} - {link.below}
    below, ahead = set[str](), {link.below}
    while ahead:
        ahead = {other.below for other in pairs if other.above in ahead} - below
        below |= ahead
    first = next(other for other in pairs if (other.below, other.above) == (link.below, link.above))
    return others <= below and first is link


def _pairs(rules: Rules) -> Iterator[Link]:
    for rule in rules:
        if not isinstance(rule, Order):
            continue
        for pair in rule.conditions():
            assert isinstance(pair, Compares) and isinstance(pair.value, Reference)
            yield Link(pair.column, pair.value.column, pair.operator == "<", rule)


def _spoken_for(rules: Rules) -> set[str]:
    """The columns whose own values another rule is about: they are coded by these, so that the model can hold it."""
    found: set[str] = set()
    for rule in rules:
        if isinstance(rule, Determines):
            found |= {*rule.columns}
        elif not isinstance(rule, Order):
            found |= {
                leaf.column
                for condition in rule.conditions()
                for leaf in leaves(condition)
                if not isinstance(leaf, IsMissing)
            }
    return found


def _difference(link: Link, columns: Mapping[str, Column]) -> Difference | None:
    base, above = columns[link.below], columns[link.above]
    base = base.of if isinstance(base, Difference) else base
    if isinstance(above, Difference) or not (is_plain(base) and is_plain(above)):
        return None
    aware = {bool(getattr(column, "aware", False)) for column in (base, above)}
    if base.compared_as != above.compared_as or len(aware) > 1:
        return None
    low, high = ends_of(base)[0], ends_of(above)[1]
    largest = link.rule.length(number=base.compared_as == "number")
    width = high - low if largest is None else min(high - low, largest)
    apart = link.rule.by is None and (_has_spikes(above) or width > FAR * (high - ends_of(above)[0]))
    if apart or not width > 0:
        return None
    unit = unit_of(above, width)
    most = math.floor(width / unit + 1e-9) if isinstance(unit, float) else int(width // unit)
    if not 1 <= most < 2**52:
        return None
    alone = 0 if base.missing is False else ALONE
    return Difference.coded(above, link.below, unit, growing_steps(int(link.strict), most), most, alone)


def _has_spikes(column: Column) -> bool:
    """Whether a column has values of its own that many records share, which differences would blur."""
    return bool(getattr(column, "special", ()))
