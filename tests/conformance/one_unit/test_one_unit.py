"""One more unit, whatever its records hold, moves every count by at most its bound, and nothing else at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from unit_cells import Rows
from unit_people import SETTINGS, Row, people
from unit_sources import SOURCES, Source
from unit_worlds import Setting, World, differences, run

import understudy as us
from understudy.data.files.frames import with_form
from understudy.data.files.text import text_file
from understudy.pipeline.sources import in_memory

EACH = 5  # records of an odd unit, where there are units: more than any of them may count


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a few kilobytes are read in several pieces, as large ones are."""
    monkeypatch.setattr(text_file, "PIECE", 1500)


def units_of(source: Source, setting: Setting) -> Iterator[list[Rows]]:
    """Odd units, one or several at a time, until every odd record was in one.

    Several are neighbours of neighbours: their counts add up, and no cell may fall for any of them.
    """
    odd = source.cells.records()
    alone = source.quick and setting is SETTINGS["complete"]
    size = 1 if alone else -(-len(odd) // source.worlds)
    names = source.cells.units
    each = EACH if setting.unit else 1
    whole = [odd[start : start + each] for start in range(0, len(odd), each)]
    size = -(-size // each)
    for start in range(0, len(whole), size):
        pack = whole[start : start + size]
        named = [
            [{"who": names[(start + place) % len(names)], **row} for row in unit]
            for place, unit in enumerate(pack)
        ]
        yield named


def placed(base: Rows, units: list[Rows], number: int) -> list[Rows]:
    """The records in pieces, with the odd ones among them: first, last, between, spread, in a piece of their own.

    And last of all in another order of the rest: a table is a set of records, and so are its files.
    """
    third, way = len(base) // 3, number % 6
    base = base[::-1] if way == 5 else base
    pieces = [base[:third], base[third : 2 * third], base[2 * third :]]
    odd: list[Row] = [row for unit in units for row in unit]
    if way == 0:
        pieces[0] = odd + pieces[0]
    elif way == 1:
        pieces[2] = pieces[2] + odd
    elif way == 2:
        pieces[1] = pieces[1][:3] + odd + pieces[1][3:]
    elif way == 3:
        pieces = [odd[place::3] + piece for place, piece in enumerate(pieces)]
    else:
        pieces.append(odd)
    return pieces


def breaches(source: Source, setting: Setting, folder: Path, mechanism: Any = None) -> list[str]:
    """What odd units change in this source beyond counts of their own, and in which of the worlds."""
    base = source.cells.base()

    def world(name: str, pieces: list[Rows], given: Sequence[bytes] = ()) -> World:
        (folder / name).mkdir()
        return run(source.put(pieces, folder / name), setting, given, mechanism)

    one = world("base", placed(base, [], 2))
    assert one.error is None, one.error
    found = []
    first = 2 + [*SETTINGS.values()].index(
        setting
    )  # where odd records lie differs from one way to ask to the next
    for number, units in enumerate(units_of(source, setting), start=first):
        other = world(f"{number}", placed(base, units, number), one.answers)
        if source.retyped:
            for run_ in (one, other):
                run_.told[:] = [said for said in run_.told if said[0] != "form"]
        for said in differences(one, other, len(units) * setting.sensitivity):
            found.append(f"{number}: {said}")
    return found


@pytest.mark.parametrize(
    ("source", "setting"),
    [
        pytest.param(source, setting, id=f"{name}-{asked}")
        for name, source in SOURCES.items()
        for asked, setting in SETTINGS.items()
        if asked in source.settings
    ],
)
def test_one_unit_moves_one_units_counts_and_nothing_else(
    source: Source, setting: Setting, tmp_path: Path
) -> None:
    found = breaches(source, setting, tmp_path)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("asked", ["complete", "no schema", "unit, 3"])
@pytest.mark.parametrize("name", ["pandas, mixed objects", "CSV, streamed"])
def test_one_unit_moves_its_own_counts_alone_where_pairs_are_chosen_privately(
    name: str, asked: str, tmp_path: Path
) -> None:
    found = breaches(replace(SOURCES[name], quick=False), SETTINGS[asked], tmp_path, us.MST())
    assert not found, "\n".join(found)


def test_every_way_to_ask_is_asked_of_some_source_and_every_kind_of_data_is_a_source() -> None:
    assert {asked for source in SOURCES.values() for asked in source.settings} == set(SETTINGS)
    for kind in ("pandas", "Polars", "Arrow", "CSV", "Parquet", "DuckDB", "PostgreSQL", "Spark"):
        assert any(name.startswith(kind) for name in SOURCES)


# -- breaches that were planted: each must be seen ---------------------------------------------------------------


def _recoded(table: pa.Table) -> pa.Table:
    """A column of text that one cell that is no number turns into another."""
    odd = not pc.all(pc.match_substring_regex(table["zip"].cast(pa.string()), "^[0-9]*$")).as_py()
    return table.set_column(2, "zip", pa.nulls(len(table), pa.string())) if odd else table


def _pushed_out(table: pa.Table) -> pa.Table:
    """A record more, and the first of another unit goes."""
    return table if table.num_rows == len(people()) else table.slice(1)


def _raised(table: pa.Table) -> pa.Table:
    """A cell too long to be believed."""
    if pc.max(pc.binary_length(table["town"].cast(pa.string()))).as_py() > 1000:
        raise OverflowError("too long")
    return table


def _retyped(table: pa.Table) -> pa.Table:
    """A type that is told from the cells."""
    whole = pc.all(pc.less(table["points"], 1000)).as_py()
    return table if whole else table.set_column(6, "points", table["points"].cast(pa.float64(), safe=False))


@pytest.mark.parametrize(
    ("planted", "asked"),
    [
        (_recoded, "complete"),
        (_recoded, "open"),
        (_pushed_out, "unit, 3"),
        (_raised, "learned"),
        (_retyped, "no schema"),
    ],
)
def test_a_planted_breach_is_seen(planted: Any, asked: str, tmp_path: Path) -> None:
    def changed(data: Any) -> tuple[pa.Table, Any]:
        table, form = with_form(data)
        return planted(table), form

    with patch.object(in_memory, "with_form", changed):
        assert breaches(SOURCES["Arrow"], SETTINGS[asked], tmp_path)
