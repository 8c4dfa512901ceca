"""Whatever speaks Arrow is a table, and the same words mean the same in Python and on the command line."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Required, get_origin, get_type_hints

import pyarrow as pa
import pytest

import understudy as us
from understudy.errors import ParameterError
from understudy.pipeline.synthesizer import FitSettings
from understudy.privacy import Seeded

COLUMNS = {"sex": ["F", "M", "F", "F"] * 30, "age": [20, 31, 45, 62] * 30}
SCHEMA = us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 99, bins=5)}, name="people")
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-9}


class Stream:
    """Nothing but Arrow's stream of columns: no library that we know."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


def duckdb_relation() -> Any:
    import duckdb

    return duckdb.from_arrow(pa.table(COLUMNS)).select("sex", "age")


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


TABLES = {
    "a class of ours": Stream,
    "Arrow": lambda: pa.table(COLUMNS),
    "Polars": polars_frame,
    "pandas": pandas_frame,
    "DuckDB": duckdb_relation,
}


@pytest.mark.parametrize("kind", TABLES)
def test_whatever_speaks_arrow_is_counted_as_the_same_table(kind: str) -> None:
    (wanted,) = us.table(COLUMNS, SCHEMA).count([("sex", "age")])
    (found,) = us.table(TABLES[kind](), SCHEMA).count([("sex", "age")])
    assert (found.counts == wanted.counts).all()


@pytest.mark.parametrize("kind", TABLES)
def test_whatever_speaks_arrow_is_drafted_fitted_and_evaluated(kind: str, tmp_path: Path) -> None:
    table = TABLES[kind]
    assert list(us.draft_schema(table(), name="people").columns) == ["sex", "age"]
    drawn = us.synth(
        table(),
        SCHEMA,
        rows=50,
        ledger=tmp_path / "ledger.db",
        mechanism="independent",
        source=Seeded(0),
        **BUDGET,
    )
    assert len(drawn) == 50
    found = us.evaluate(table(), drawn, SCHEMA)
    assert found.evaluation.rows == {"real": 120, "synthetic": 50}


def test_paths_and_frames_are_evaluated_alike(tmp_path: Path) -> None:
    lines = [f"{sex},{age}" for sex, age in zip(*COLUMNS.values(), strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age", *lines]) + "\n")
    SCHEMA.save(tmp_path / "people.toml")
    by_path = us.evaluate(tmp_path / "people.csv", str(tmp_path / "people.csv"), tmp_path / "people.toml")
    by_frame = us.evaluate(COLUMNS, Stream(), SCHEMA)
    assert by_path.to_dict() == by_frame.to_dict()
    assert by_path.names == {"real": "people.csv", "synthetic": "people.csv"}


def test_a_name_and_its_mechanism_are_the_same_job(tmp_path: Path) -> None:
    runs = [
        us.fit(
            COLUMNS,
            SCHEMA,
            mechanism=mechanism,
            ledger=tmp_path / "ledger.db",
            job="once",
            source=Seeded(1),
            **BUDGET,
        )
        for mechanism in ("mst", us.MST())
    ]
    assert runs[0].certificate == runs[1].certificate
    assert len(us.Ledger(tmp_path / "ledger.db").account("people").jobs) == 1


@pytest.mark.parametrize("name", ["nist-mst", "fixed", "no such"])
def test_a_name_that_does_not_say_enough_is_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(ParameterError) as refused:
        us.plan(SCHEMA, mechanism=name, **BUDGET)
    assert refused.value.hint and "--" not in refused.value.hint


def test_a_plan_by_its_public_name_counts_the_units_records() -> None:
    schema = us.Schema(
        dict(SCHEMA.columns) | {"who": us.Category(discover=True)}, unit="who", max_records_per_unit=3
    )
    one, three = (us.plan(s, rows=100, **BUDGET).marginals[0].scale for s in (SCHEMA, schema))
    assert three > one


def test_synth_takes_all_that_fit_takes() -> None:
    parameters = inspect.signature(us.fit).parameters
    assert set(FitSettings.__annotations__) == set(parameters) - {"data", "schema"}
    needed = {name for name, p in parameters.items() if p.default is p.empty} - {"data"}
    hints = get_type_hints(FitSettings, include_extras=True)
    assert {name for name, hint in hints.items() if get_origin(hint) is Required} == needed


def test_a_release_writes_the_page_that_the_command_writes(tmp_path: Path) -> None:
    from understudy.report.release_page import release_page

    release = us.fit(
        COLUMNS, SCHEMA, mechanism="independent", ledger=tmp_path / "l.db", source=Seeded(0), **BUDGET
    )
    release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == release_page(release)


def test_the_page_of_an_evaluation_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    us.evaluate(COLUMNS, Stream()).report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_mode & 0o077 == 0
    assert "CONFIDENTIAL" in (tmp_path / "page.html").read_text()
