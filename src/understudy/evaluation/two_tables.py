"""`us.evaluate`: two tables, however they are given, to one comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.domain import Schema
from understudy.domain.dialect import Dialect
from understudy.domain.given_schema import given_schema
from understudy.domain.ordered_differences import in_values
from understudy.errors import ParameterError
from understudy.evaluation.coding import Coding, check_columns, check_records, check_table
from understudy.evaluation.columns import rows_of
from understudy.evaluation.comparison import Comparison, ContestFile, check_targets, compare_codes
from understudy.evaluation.contest.contest_measure import ContestTables
from understudy.evaluation.contest.income import Roles
from understudy.evaluation.measures import REAL, SYNTHETIC
from understudy.pipeline.draft import schema_of_types
from understudy.pipeline.sources.registry import (
    first_pieces,
    first_records,
    is_address,
    name_of,
    seen_dialect,
)
from understudy.transforms.encode import reading_types

MOST_RECORDS = 10_000_000  # of a table that is streamed


def evaluate(
    real: Any,
    synthetic: Any,
    schema: Schema | str | os.PathLike[str] | None = None,
    *,
    targets: Sequence[str] = (),
    seed: int = 0,
    contest_tests: str | os.PathLike[str] | None = None,
    sex: str | None = None,
    city: str | None = None,
    wage: str | None = None,
    delimiter: str | None = None,
    stage: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """How well a synthetic table stands in for the real one, beside three tables that anyone could make.

    CONFIDENTIAL: it reads the real records without noise, so what it returns is as private as they are.

    Parameters:
        real: the private table: a path, an address, a frame (pandas, Polars), or anything that speaks Arrow.
        synthetic: the table to judge; it may be of another kind.
        schema: what the columns mean, or the path of a schema file. Left out, the real table's names and types
            are used, for the columns that both tables have.
        targets: columns to be learned on synthetic records and tested on real ones; none by default, as it
            takes long.
        seed: a whole number of at least 0; the same seed gives the same figures.
        contest_tests: a file with the 2018 contest's tests, for its scores too. Where there is none, tests are
            drawn from the real table and kept there.
        sex: the column of sexes; with `city` and `wage`, for the contest's third score.
        city: the column of cities.
        wage: the column of wages; 999,998 and above mean "not applicable".
        delimiter: what separates the fields of a CSV file; found from its header by default.
        stage: called with a few words whenever a new step begins.

    Returns:
        A `Comparison`: its figures (`evaluation`), columns and pairs farthest apart, and notes for the reader.

    Raises:
        ParameterError: the tables have no column in common, one has no record, or a parameter is not what it
            should be.
        SchemaError: a column that the schema describes is missing.
        FileError: a file cannot be read.

    Example:
        >>> import understudy as us
        >>> real = {"age": [31, 45, 45, 62] * 9, "smokes": ["no", "yes", "no", "no"] * 9}
        >>> synthetic = {"age": [45, 62, 31] * 9, "smokes": ["no", "no", "yes"] * 9}
        >>> found = us.evaluate(real, synthetic)
        >>> found.evaluation["1-way total variation"].synthetic < 0.5
        True
    """
    if isinstance(targets, str):
        raise ParameterError(f"targets {targets!r} is one text.", hint="give a list of columns.")
    contest = _contest(contest_tests, (sex, city, wage))
    given = None if schema is None else in_values(given_schema(schema))
    if given is not None:
        given = replace(given, constraints=())  # what is worked out from other columns is compared like any
    asked = Dialect(delimiter)
    declared = seen_dialect(real, asked.over(given.dialect if given else Dialect()))
    coding, had, mine = _coded_real(real, given, declared, contest is not None, stage)
    stage("reading the synthetic table")
    # By the types of the real one: 01 is not 1 where the real column is one of texts.
    known, dialect = reading_types(coding.schema), seen_dialect(synthetic, asked)
    theirs = first_records(synthetic, MOST_RECORDS, dialect=dialect, types=known) if contest else None
    made, pieces = _named(
        first_pieces(synthetic, MOST_RECORDS, dialect=dialect, types=known)
        if theirs is None
        else iter([theirs])
    )
    coding = coding if given else coding.only(made)
    check_columns(made, coding.schema, "the synthetic table")
    check_targets(targets, coding.schema)
    codes = coding.synthetic(pieces)
    check_records(rows_of(codes), "the synthetic table")
    scored = (
        ContestTables.of(mine, theirs, coding, codes, contest.roles, undescribed=given is None)
        if contest
        else None
    )
    del mine, theirs, pieces  # from here on nobody holds values
    names = {REAL: had, SYNTHETIC: made}
    found = compare_codes(
        coding, codes, names, targets=targets, seed=seed, contest=contest, scored=scored, stage=stage
    )
    called = {REAL: _called(real, "the real table"), SYNTHETIC: _called(synthetic, "the synthetic table")}
    cut = tuple(
        f"Only the first {MOST_RECORDS:,} records of {called[what]} were compared."
        for what, table in ((REAL, coding.real), (SYNTHETIC, codes))
        if rows_of(table) == MOST_RECORDS
    )
    return replace(found, names=called, remarks=(*found.remarks, *cut))


def _coded_real(
    real: Any, given: Schema | None, dialect: Dialect, kept: bool, stage: Callable[[str], None]
) -> tuple[Coding, list[str], pa.Table | None]:
    """The coding of the real table, the names of its columns, and the table itself where it is to be kept.

    Where a schema leaves nothing out a piece is held at a time; else all values are looked at together.
    """
    what = "the real table"
    stage(f"reading {what}")
    known = reading_types(given) if given else None
    if given and not given.unlearned and not kept:
        names, pieces = _named(first_pieces(real, MOST_RECORDS, dialect=dialect, types=known))
        check_columns(names, given, what)
        coding = Coding.of_pieces(given, pieces)
        check_records(rows_of(coding.real), what)
        return coding, names, None
    table = first_records(real, MOST_RECORDS, dialect=dialect, types=known)
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    described = given or schema_of_types(table.schema, name=_called(real, "table"), untyped=texts)
    check_table(table, described, what)
    stage(f"looking at {what}")
    return Coding.of(described, table), table.column_names, table if kept else None


def _named(pieces: Iterator[pa.Table]) -> tuple[list[str], Iterator[pa.Table]]:
    """The names of the columns, and all pieces of a table, of which there is one at least."""
    first = next(pieces)
    return first.column_names, chain([first], pieces)


def _called(data: Any, otherwise: str) -> str:
    """What a table is called on a page: a file by its name; of an address, which may hold a password, the table."""
    if is_address(data):
        with suppress(ParameterError):  # a query has no name, and needs none here
            return name_of(data) or otherwise
        return otherwise
    return (Path(data).name if isinstance(data, str | os.PathLike) else "") or otherwise


def _contest(
    tests: str | os.PathLike[str] | None, roles: tuple[str | None, str | None, str | None]
) -> ContestFile | None:
    given = [role for role in roles if role is not None]
    if tests is None:
        if given:
            raise ParameterError(
                "sex, city and wage are for the contest's scores.",
                hint="name a file of its tests: contest_tests, or --contest-tests FILE.",
            )
        return None
    if given and len(given) < len(roles):
        raise ParameterError(
            "the contest's third score needs sex, city and wage (--sex, --city and --wage).",
            hint="give all three, or none for the other two scores.",
        )
    named = Roles(sex=given[0], city=given[1], wage=given[2]) if given else None
    return ContestFile(Path(tests), named)
