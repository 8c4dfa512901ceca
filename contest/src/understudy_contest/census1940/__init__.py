"""A simulated census of 1940, with the 98 columns of the 2018 NIST contest. No real person is in it.

The column names, codes and sizes are the published ones; every record is drawn from the made-up states
in `states.py` by the rules in this folder, which were written from documentation and never saw a record.
What is like the real thing: detailed codes that determine generic ones, structural blanks (children have
no occupation, who did not move has no former home, only sample lines carry the further questions), nested
geography, wages in round sums, and states that differ. What is not: any particular frequency.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.domain import Category, Column, Domain, Integer, Schema
from understudy.errors import ParameterError
from understudy_contest.census1940.chance import Chance
from understudy_contest.census1940.codes import WAGE_NOT_APPLICABLE, largest, names, sizes, values
from understudy_contest.census1940.draft import Draft
from understudy_contest.census1940.homes import NOT_APPLICABLE_VALUE, UNKNOWN_VALUE, draw_homes
from understudy_contest.census1940.past import draw_past
from understudy_contest.census1940.pay import OVER_TOP, draw_pay
from understudy_contest.census1940.people import draw_people
from understudy_contest.census1940.places import places_of
from understudy_contest.census1940.states import STATES, State
from understudy_contest.census1940.work import draw_work

__all__ = [
    "STATES",
    "WAGE_NOT_APPLICABLE",
    "State",
    "domain",
    "largest",
    "names",
    "schema",
    "simulate",
    "sizes",
    "values",
]

OF_A_STATE = ("COUNTY", "CITY", "SEA", "METAREA", "METAREAD")


def simulate(
    rows: int | None = None, state: str = "colorado-like", seed: int = 0
) -> dict[str, npt.NDArray[np.int32]]:
    """A simulated census: each of the 98 columns as an array of integer codes.

    `state` is one of `STATES`; `rows` is the contest's number for it unless given. The same arguments
    give the same table.
    """
    chosen = _state(state)
    count = chosen.rows if rows is None else int(rows)
    if count < 0:
        raise ParameterError(f"cannot simulate {count} rows.")
    places = places_of(chosen)
    chance = Chance(np.random.default_rng([seed, chosen.layout]))
    draft = Draft(chosen, chance, places, chance.pick(places.weights, count))
    for name, codes in places.columns.items():
        draft[name] = codes[draft.district]
    for step in (draw_people, draw_homes, draw_work, draw_pay, draw_past):
        step(draft)
    return {name: draft[name].astype(np.int32) for name in names()}


def domain() -> Domain:
    """The 98 columns with the number of codes from 0 to the largest, before any encoding."""
    return Domain({name: code + 1 for name, code in largest().items()})


def schema(name: str = "census1940", *, state: str | None = None) -> Schema:
    """The schema of a simulated census: documented codes, with values and wages bounded as in the paper.

    No cell is missing (blanks have codes); a listed column has one slot more than codes, for strays. With
    `state`, geography is that of the state: which counties and cities lie in it is public, as in the contest.
    """
    columns = {column: _column(column) for column in names()}
    if state is not None:
        places = places_of(_state(state)).columns
        columns |= {
            column: Category(tuple(np.unique(places[column]).tolist()), missing=False)
            for column in OF_A_STATE
        }
    return Schema(columns, name=name)


def _state(name: str) -> State:
    if name not in STATES:
        raise ParameterError(
            f"there is no simulated state {name!r}.", hint=f"choose one of {', '.join(map(repr, STATES))}."
        )
    return STATES[name]


def _column(name: str) -> Column:
    if name == "VALUEH":  # paper, "Preprocess": multiples of 5 up to 25,000, and the two special codes
        return _every(0, 25_000, step=5, special=(UNKNOWN_VALUE, NOT_APPLICABLE_VALUE))
    if name == "INCWAGE":
        return _every(0, OVER_TOP, special=(WAGE_NOT_APPLICABLE,))
    codes = values(name)
    return _every(codes[0], codes[-1]) if isinstance(codes, range) else Category(codes, missing=False)


def _every(low: int, high: int, *, step: int = 1, special: tuple[int, ...] = ()) -> Integer:
    bins = (high - low) // step + 1  # as many bins as values: each is kept by itself
    return Integer(min=low, max=high, step=step, bins=bins, special=special, missing=False)
