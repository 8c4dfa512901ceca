"""How to count many cliques in few passes: small columns packed into units, units counted together.

A pass adds one for every record to one table over a few *units*. A unit is one column, or several small
ones packed into a single code, so that one pass serves every clique with columns in those units; the
cliques are then read off the pass's table by summing. Whether packing pays is decided pass by pass.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from understudy.domain import Clique

Unit = tuple[str, ...]

# The largest table that a packed pass may fill: 2^16 cells of 4 bytes stay in a core's own cache.
PACKED_CELLS = 1 << 16
# Reading one clique off a packed table costs about this many increments a cell.
FOLD_COST = 1.0
# Planning and starting to read one clique off a table costs about this many increments.
FOLD_START = 20_000
# Below this many increments in all, thinking about packing costs more than it can save.
WORTH_PACKING = 50_000_000


@dataclass(frozen=True)
class Pass:
    """One table to fill over `units`, and the cliques (by number) to read off it.

    A pass over a single clique's own columns, in that clique's order, fills the clique's result itself.
    """

    units: tuple[Unit, ...]
    cells: int
    cliques: tuple[int, ...]
    in_place: bool = False


def plan(cliques: Sequence[Clique], sizes: Mapping[str, int], rows: int) -> list[Pass]:
    """The passes that count every clique over blocks of `rows` records, each clique in exactly one pass."""
    if rows * len(cliques) < WORTH_PACKING:
        return [_alone(number, clique, sizes) for number, clique in enumerate(cliques) if clique]
    by_order: dict[int, list[int]] = defaultdict(list)
    for number, clique in enumerate(cliques):
        by_order[len(clique)].append(number)
    passes: list[Pass] = []
    for order, numbers in sorted(by_order.items()):
        if order:
            passes += _plan_order([(number, cliques[number]) for number in numbers], sizes, rows, order)
    return passes


def pack(columns: Sequence[str], sizes: Mapping[str, int], cap: int) -> dict[str, Unit]:
    """The unit of each column: first fit, largest column first, no unit of several above `cap` codes."""
    units: list[tuple[list[str], int]] = []
    for name in sorted(columns, key=lambda name: -sizes[name]):
        for place, (members, size) in enumerate(units):
            if size * sizes[name] <= cap:
                members.append(name)
                units[place] = (members, size * sizes[name])
                break
        else:
            units.append(([name], sizes[name]))
    return {name: tuple(members) for members, _ in units for name in members}


def unit_size(unit: Unit, sizes: Mapping[str, int]) -> int:
    """The number of codes of a unit."""
    return math.prod(sizes[name] for name in unit)


def _plan_order(
    wanted: Sequence[tuple[int, Clique]], sizes: Mapping[str, int], rows: int, order: int
) -> list[Pass]:
    """Passes for cliques that all have `order` columns."""
    # Summing a table costs as much as filling it when it has about as many cells as there are records.
    cells = min(PACKED_CELLS, max(rows // 4, 64))
    # The small slack keeps exact powers exact: 65536 ** (1 / 2) must give 256.
    cap = int(cells ** (1 / order) + 1e-9)
    unit_of = pack(sorted({name for _, clique in wanted for name in clique}), sizes, cap)
    size_of = {unit: unit_size(unit, sizes) for unit in unit_of.values()}

    candidates: dict[tuple[Unit, ...], list[int]] = defaultdict(list)
    for number, clique in wanted:
        together = _largest_first({unit_of[name] for name in clique}, size_of)
        candidates[together].append(number)
    _absorb_smaller(candidates, order)

    clique_of = dict(wanted)
    passes = []
    for units, numbers in candidates.items():
        table = math.prod(size_of[unit] for unit in units)
        packed = rows + (table * FOLD_COST + FOLD_START) * len(numbers)
        apart = sum(rows + math.prod(sizes[name] for name in clique_of[number]) for number in numbers)
        if packed <= apart and table <= 4 * PACKED_CELLS:
            passes.append(Pass(units, table, tuple(numbers)))
        else:
            passes += [_alone(number, clique_of[number], sizes) for number in numbers]
    return passes


def _alone(number: int, clique: Clique, sizes: Mapping[str, int]) -> Pass:
    return Pass(tuple((name,) for name in clique), math.prod(sizes[name] for name in clique), (number,), True)


def _largest_first(units: set[Unit], size_of: Mapping[Unit, int]) -> tuple[Unit, ...]:
    return tuple(sorted(units, key=lambda unit: (-size_of[unit], unit)))


def _absorb_smaller(candidates: dict[tuple[Unit, ...], list[int]], order: int) -> None:
    """Read cliques that fall into fewer units than they have columns off a pass that is made anyway."""
    fewer = {units for units in candidates if len(units) < order}
    if not fewer:
        return
    for units in [units for units in candidates if len(units) == order]:
        for count in range(1, order):
            for part in combinations(units, count):
                if part in fewer:
                    candidates[units] += candidates.pop(part)
                    fewer.discard(part)
