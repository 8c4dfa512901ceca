"""Constraints that every record seen holds, for a person who reviews a draft: NOT PRIVATE, as all of a draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Category, Column
from understudy.domain.condition_truth import RecordValues, Span
from understudy.domain.conditions import column_text
from understudy.domain.schema_toml import string_text

LOOKED_AT = 20_000  # records
LEAST = 30  # that must have the values of a rule
MOST_COLUMNS = 16  # of a kind, between which rules are looked for
MOST_RULES = 8
RECORDS_A_VALUE = 5  # on average, for a column to determine another by more than chance

OPENING = """
Every record that was looked at holds these. Those that are public knowledge may go to the end of the file:"""


def proposals(table: pa.Table, columns: Mapping[str, Column]) -> str:
    """A comment that lists the rules; empty where there are none."""
    known = {name: column for name, column in columns.items() if column.modelled}
    view = RecordValues(known, table.slice(0, LOOKED_AT))
    rules = [*_orders(known, view), *_sums(known, view), *_determined(known, view), *_together(known, view)]
    listed = "".join(f"\n    [[constraints]]\n    {rule}" for rule in rules[:MOST_RULES])
    return OPENING + listed if listed else ""


def _spans(columns: Mapping[str, Column], view: RecordValues, *kinds: str) -> dict[str, Span]:
    names = [name for name, column in columns.items() if column.type in kinds]
    return {name: view.span(name, {}) for name in names[:MOST_COLUMNS]}


def _orders(columns: Mapping[str, Column], view: RecordValues) -> Iterator[str]:
    """Dates that come one after the other; what follows from two orders is left out."""
    found = []
    for (a, first), (b, second) in permutations(_spans(columns, view, "date", "datetime").items(), 2):
        both = first.present & second.present
        gaps = (second.low - first.low)[both]
        if len(gaps) >= LEAST and (gaps >= 0).all() and (gaps > 0).any():
            found.append((a, b))
    for a, b in found:
        if not any((a, c) in found and (c, b) in found for c in columns):
            yield _field("order", f"{column_text(a)} <= {column_text(b)}")


def _sums(columns: Mapping[str, Column], view: RecordValues) -> Iterator[str]:
    """Numbers that are two others added up."""
    spans = _spans(columns, view, "number", "integer")
    for (a, first), (b, second) in combinations(spans.items(), 2):
        for c, whole in spans.items():
            there = first.present & second.present & whole.present
            if (
                c in (a, b)
                or there.sum() < LEAST
                or not first.low[there].any()
                or not second.low[there].any()
            ):
                continue
            if np.allclose(first.low[there] + second.low[there], whole.low[there], rtol=0, atol=1e-6):
                yield _field("derive", f"{column_text(c)} = {column_text(a)} + {column_text(b)}")


def _determined(columns: Mapping[str, Column], view: RecordValues) -> Iterator[str]:
    """Categories that go with one value of another each."""
    codes = {name: span.low for name, span in _spans(columns, view, "category").items()}
    for a, b in permutations(codes, 2):
        first, second = columns[a], columns[b]
        if not isinstance(first, Category) or not isinstance(second, Category):
            continue
        there = (codes[a] >= 0) & (codes[b] >= 0)
        many, few = _distinct(codes[a][there]), _distinct(codes[b][there])
        if 1 < few < many and there.sum() >= RECORDS_A_VALUE * many:
            pairs = np.unique(np.stack([codes[a][there], codes[b][there]]), axis=1)
            if pairs.shape[1] == many:
                yield f"{_field('column', a)}\n    {_field('determines', b)}"


def _together(columns: Mapping[str, Column], view: RecordValues) -> Iterator[str]:
    """Columns that are missing in the same records."""
    alike: dict[bytes, list[str]] = {}
    for name in list(columns)[: 2 * MOST_COLUMNS]:
        missing = view.span(name, {}).missing
        if LEAST <= missing.sum() <= len(view) - LEAST:
            alike.setdefault(np.packbits(missing).tobytes(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            yield f"together = [{', '.join(map(string_text, names))}]"


def _distinct(codes: npt.NDArray[np.int64]) -> int:
    return len(np.unique(codes))


def _field(key: str, value: str) -> str:
    return f"{key} = {string_text(value)}"
