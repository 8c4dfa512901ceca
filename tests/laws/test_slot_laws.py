"""Whatever the schema and the records, no synthetic record has a slot that the schema or the counts rule out."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import understudy as us
from nightly import many
from understudy.privacy import Seeded

CELLS = st.lists(
    st.sampled_from(["a", "A", "b", "1", "7", "2.5", "true", "2024-03-01", "", "-9", "zebra"]) | st.none(),
    min_size=1,
    max_size=6,
)


@st.composite
def columns(draw: st.DrawFn) -> us.Column:
    """A column of any type, with any rule for cells that are missing or outside."""
    missing: Any = draw(st.sampled_from([None, True, False, ("-9",)]))
    kind = draw(st.sampled_from(["category", "integer", "number", "date", "boolean"]))
    rules = [None, "other"] + ["clip"] * (kind in ("integer", "number", "date"))
    said: dict[str, Any] = {"missing": missing, "outside": draw(st.sampled_from(rules))}
    if kind == "category":
        return us.Category(("a", "b", "c"), **said)
    if kind == "integer":
        return us.Integer(0, 9, special=draw(st.sampled_from([(), (99,)])), **said)
    if kind == "number":
        return us.Number(0.0, 5.0, bins=3, **said)
    return (
        us.Boolean(**said)
        if kind == "boolean"
        else us.Date(date(2024, 1, 1), date(2024, 12, 31), "month", **said)
    )


@settings(max_examples=many(75))
@given(
    st.lists(st.tuples(columns(), CELLS), min_size=3, max_size=3),
    st.sampled_from([us.MST(), us.MST(threshold=0), us.Independent()]),
    st.sampled_from([0.1, 5.0]),
    st.integers(0, 9),
)
def test_a_slot_that_is_ruled_out_never_appears(
    described: list[tuple[us.Column, list[str | None]]], mechanism: us.Mechanism, epsilon: float, seed: int
) -> None:
    schema = us.Schema({f"c{i}": column for i, (column, _) in enumerate(described)})
    table = {
        f"c{i}": [cells[row % len(cells)] for row in range(60)] for i, (_, cells) in enumerate(described)
    }
    with TemporaryDirectory() as folder:
        release = us.fit(
            table,
            schema,
            epsilon=epsilon,
            delta=1e-6,
            mechanism=mechanism,
            ledger=Path(folder) / "ledger",
            source=Seeded(seed),
        )
        release.save(Path(folder) / "r")
        release = us.load(Path(folder) / "r")
    drawn = release.sample(200, seed=seed)
    codes = release.compression.reverse(dict(release.field.sample(200, seed=seed).items()))
    for name, column in schema.columns.items():
        slots = set(range(column.count, column.size))
        gone = set(release.compression.possible(name).tolist()) ^ set(range(column.size))
        assert gone <= slots
        seen = set(codes[name].tolist())
        assert seen.isdisjoint(gone)
        alone = next(m for m in release.measurements if m.clique == (name,))
        for slot in slots - gone:  # more than noise
            code = release.compression.maps[name][slot]
            assert alone.values[code] > 3 * float(
                alone.stddev if not alone.stddev.ndim else alone.stddev[code]
            )
        if slots <= gone:  # all ruled out by counts, or there are none
            assert drawn[name].null_count == 0 and "other" not in drawn[name].to_pylist()
