"""A page of the synthetic records that fulfil a filter, in an order: asked of the file by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy.data.engines.duckdb import quoted
from understudy.errors import ParameterError

PAGE = 25  # records
OPERATORS = {
    "is": "is",
    "not": "is not",
    "contains": "contains",
    "least": "is at least",
    "most": "is at most",
    "missing": "is missing",
}


@dataclass(frozen=True)
class FilteredRows:
    """One page of records as texts, how many there are in all, and what they were asked by."""

    names: list[str]
    rows: list[list[str]]
    whole: int
    matching: int
    page: int
    column: str
    operator: str
    value: str
    order: str
    falling: bool

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.matching // PAGE))

    @property
    def first(self) -> int:
        """The number of the first record shown, from 1."""
        return self.page * PAGE + 1 if self.rows else 0


def filtered_rows(path: Path, asked: Mapping[str, str]) -> FilteredRows:
    """The page that is asked for. Names are taken from the file, and values are handed over beside the query."""
    import duckdb

    with duckdb.connect() as database:
        table = database.read_parquet(str(path))
        table.create_view("synthetic")
        names = table.columns
        column, operator, value = (
            asked.get("column", ""),
            asked.get("operator", "is"),
            asked.get("value", "").strip(),
        )
        order, falling = asked.get("order", ""), asked.get("falling") == "yes"
        for name in (column, order):
            if name and name not in names:
                raise ParameterError(f"there is no column {name!r}.", hint="choose one of the list.")
        condition, values = _condition(column, operator, value)
        counted = database.execute(
            f"SELECT count(*), count(*) FILTER (WHERE {condition}) FROM synthetic", values
        ).fetchone()
        whole, matching = counted or (0, 0)
        pages = max(1, -(-matching // PAGE))
        page = min(max(_whole(asked.get("page", "")), 0), pages - 1)
        ordered = f"ORDER BY {quoted(order)} {'DESC' if falling else 'ASC'} NULLS LAST" if order else ""
        shown = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in names)
        query = f"SELECT {shown} FROM synthetic WHERE {condition} {ordered} LIMIT {PAGE} OFFSET {page * PAGE}"
        found = database.execute(query, values).fetchall()
    rows = [["" if cell is None else str(cell) for cell in row] for row in found]
    return FilteredRows(names, rows, whole, matching, page, column, operator, value, order, falling)


def _condition(column: str, operator: str, value: str) -> tuple[str, list[str]]:
    """A condition and the values in it; numbers and dates are compared as such where the text is one."""
    name = quoted(column)
    if not column:
        return "true", []
    if operator == "missing":
        return f"{name} IS NULL", []
    if not value:
        return "true", []
    text = f"CAST({name} AS VARCHAR)"
    if operator == "contains":
        return f"contains(lower({text}), lower(?))", [value]
    if operator in ("least", "most"):
        sign = ">=" if operator == "least" else "<="
        return (
            f"CASE WHEN TRY_CAST(? AS DOUBLE) IS NOT NULL AND TRY_CAST({text} AS DOUBLE) IS NOT NULL "
            f"THEN TRY_CAST({text} AS DOUBLE) {sign} TRY_CAST(? AS DOUBLE) ELSE {text} {sign} ? END",
            [value, value, value],
        )
    same = f"({text} = ? OR TRY_CAST({text} AS DOUBLE) = TRY_CAST(? AS DOUBLE))"
    return (same if operator == "is" else f"NOT coalesce({same}, false)"), [value, value]


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 else 0
