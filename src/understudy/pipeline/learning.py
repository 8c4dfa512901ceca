"""What a schema leaves out, learned privately: types, values of open categories, bounds, bins.

Each step is a question to the curator about the same records, coded on a grid that is fixed in advance and
so says nothing about them. Types come first; which columns the other steps are about follows from the noisy
votes, and how much noise they get was fixed before. Column names are taken as public, and types that are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from understudy.domain import Column, Schema, Untyped
from understudy.domain.columns.column import Step
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.domain.columns.untyped import Votes
from understudy.errors import SchemaError
from understudy.marginals import Counter
from understudy.mechanisms.shrinkage import coarse_to_fine
from understudy.privacy import Curator, Gaussian, Group, Loss, Role

SHARES: dict[Step, Fraction] = {
    "types": Fraction(1, 40),
    "values": Fraction(1, 20),
    "bounds": Fraction(1, 20),
    "bins": Fraction(1, 20),
}
Encode = Callable[[Schema], Counter]  # the records, coded by a schema


def groups(schema: Schema) -> tuple[Group, ...]:
    """The questions that learning the schema will take, with their shares of the whole budget.

    Where types are to be learned, nobody knows yet which columns have values, bounds or bins: those batches are
    planned without weights, and may go unasked. A bound that leaves nothing to look for is refused here.
    """
    found = []
    todo = steps(schema)
    for name, fields in schema.unlearned.items():
        if not schema[name].steps:
            raise SchemaError(
                f"column {name!r}: {', '.join(fields)} cannot be learned.", hint="say it in the schema."
            )
    for name in todo["bounds"]:
        try:
            schema.columns[name].grid()
        except (SchemaError, ValueError):
            raise SchemaError(
                f"column {name!r}: the bound that is given leaves no room for the other.", hint="give both."
            ) from None
    for step, columns in todo.items():
        if todo["types"] and step != "types":
            found.append(Group(step, "measure", SHARES[step], role=Role.LEARNING))
        elif columns:
            found.append(
                Group(step, "measure", SHARES[step], weights=(1.0,) * len(columns), role=Role.LEARNING)
            )
    return tuple(found)


def steps(schema: Schema) -> dict[Step, list[str]]:
    """The columns that each step learns something of, as far as their types are known."""
    left = {name: schema.columns[name].steps for name in schema.unlearned}  # other columns have none
    return {step: [name for name, todo in left.items() if step in todo] for step in SHARES}


def questions(schema: Schema, typed: Schema) -> dict[str, int]:
    """How many questions each step takes for a schema whose types turned out to be those of `typed`."""
    asked: dict[str, int] = {step: min(1, len(columns)) for step, columns in steps(typed).items()}
    return asked | {"types": min(1, len(steps(schema)["types"])), "values": len(steps(typed)["values"])}


def learn_types(
    schema: Schema,
    curator: Curator,
    encode: Encode,
    losses: Mapping[str, Loss],
) -> tuple[Schema, frozenset[str]]:
    """The schema with a type for every column, and the columns that were found to hold instants."""
    untyped = steps(schema)["types"]
    if not untyped:
        return schema, frozenset()
    votes = replace(schema, columns=dict.fromkeys(untyped, Votes()))
    seen = _measure(curator, encode(votes), losses["types"])
    found: dict[str, Column] = {}
    instants = set()
    for name in untyped:
        column = schema.columns[name]
        assert isinstance(column, Untyped)
        found[name], aware = column.decided(seen[name].values.tolist(), seen[name].stddev)
        instants |= {name} if aware else set()
    return schema.with_columns(found), frozenset(instants)


def learn(
    schema: Schema,
    curator: Curator,
    encode: Encode,
    losses: Mapping[str, Loss],
    *,
    instants: Collection[str] = (),
) -> Schema:
    """A schema whose types are known with nothing left out. `instants` are the columns that have a time zone."""
    todo = steps(schema)
    values = _shared(losses.get("values"), len(todo["values"]))
    schema = schema.with_columns(
        {name: schema[name].with_values(curator.discover(name, values).values) for name in todo["values"]}
    )
    coarse: dict[str, tuple[Column, NoisyCounts]] = {}
    if todo["bounds"]:
        grids = {name: schema[name].grid(instants=name in instants) for name in todo["bounds"]}
        seen = _measure(curator, encode(_with_slots(schema, grids)), losses["bounds"])
        coarse = {name: (grids[name], seen[name]) for name in grids}
        schema = schema.with_columns({name: schema[name].with_bounds(*coarse[name]) for name in grids})
    if todo["bins"]:
        fine = {name: schema[name].fine(coarse.get(name)) for name in todo["bins"]}
        seen = _measure(curator, encode(_with_slots(schema, fine)), losses["bins"])
        schema = schema.with_columns(
            {
                name: column.with_bins(seen[name]).with_density(column, seen[name], coarse_to_fine)
                for name, column in fine.items()
            }
        )
    return schema


def _with_slots(schema: Schema, columns: Mapping[str, Column]) -> Schema:
    """The columns, to be counted: a cell that breaks missing = false has a slot here, and moves no bound."""
    slotted = {
        name: replace(column, missing=None) if column.missing is False else column
        for name, column in columns.items()
    }
    return replace(schema, columns=slotted)


def _shared(loss: Loss | None, columns: int) -> Any:
    """The loss of a batch that is asked one by one; where its weights were left open, shared equally by so many."""
    if isinstance(loss, Gaussian) and loss.weights is None and columns:
        return replace(loss, weights=(1.0,) * columns)
    return loss


def _measure(curator: Curator, records: Counter, loss: Loss) -> dict[str, NoisyCounts]:
    """The noisy counts of every column of the same records under another coding."""
    log = curator.over(records).measure([(name,) for name in records.domain], budget=loss)
    return {found.clique[0]: NoisyCounts(found.values, float(found.stddev)) for found in log}
