"""Samples with made-up columns: keys that are unique whatever way a sample is drawn, and nothing of the real ones."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.errors import OperatorError, SchemaError
from understudy.pipeline.drawing import sample_folder
from understudy.privacy import Ledger, Seeded

ROWS = 400
COLUMNS = {
    "key": us.Id(pattern=r"K\d{4}"),
    "sex": us.Category(("F", "M")),
    "name": us.Fake("name"),
    "age": us.Integer(0, 99),
    "row": us.Id(),
}


def real() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "row": [f"canary{n}" for n in range(ROWS)],
            "name": [f"canary{n}" for n in range(ROWS)],
            "age": rng.integers(0, 99, ROWS),
            "sex": rng.choice(["F", "M"], ROWS),
            "key": [f"canary{n}" for n in range(ROWS)],
        }
    )


@pytest.fixture(name="release", scope="module")
def _release(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    ledger = tmp_path_factory.mktemp("ledger") / "ledger.db"
    schema = us.Schema(COLUMNS, name="t")
    return us.fit(
        real(), schema, epsilon=5.0, delta=1e-6, mechanism="independent", ledger=ledger, source=Seeded(1)
    )


def test_nothing_of_a_made_up_column_is_in_the_release_or_a_sample(
    release: us.Release, tmp_path: Path
) -> None:
    release.save(tmp_path / "t.release")
    assert b"canary" not in (tmp_path / "t.release").read_bytes()
    assert "canary" not in str(release.sample(300).to_pydict())
    release.report(tmp_path / "t.html")
    said = (tmp_path / "t.html").read_text()
    assert "canary" not in said and "Made up, and never read: key (id), name (fake), row (id)." in said


def test_columns_stand_in_the_tables_order_and_a_seed_says_all(release: us.Release) -> None:
    sample = release.sample(50, seed=3)
    assert sample.column_names == real().column_names
    assert sample.equals(release.sample(50, seed=3)) and not sample.equals(release.sample(50, seed=4))
    assert sample["row"].to_pylist() == [str(n) for n in range(1, 51)]


def test_keys_are_unique_over_chunks(release: us.Release) -> None:
    parts = list(release.sample_chunks(10_000, chunk=700, seed=3))
    keys = [key for part in parts for key in part["key"].to_pylist()]
    assert len({*keys}) == 10_000
    assert [int(row) for part in parts for row in part["row"].to_pylist()] == list(range(1, 10_001))
    assert parts[0]["name"].to_pylist() != parts[1]["name"].to_pylist()


def test_keys_are_unique_over_the_files_of_a_folder(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_folder, "PART_ROWS", 300)
    sample_folder.sample_to_folder(release, tmp_path / "parts", 1_000, seed=5)
    whole = pq.read_table(tmp_path / "parts")
    assert len(whole["key"].unique()) == len(whole["row"].unique()) == 1_000


def test_more_records_than_keys_are_refused(release: us.Release, tmp_path: Path) -> None:
    assert release.sample(10_000).num_rows == 10_000
    with pytest.raises(SchemaError, match="'key': 10001 records"):
        release.sample(10_001)
    with pytest.raises(SchemaError, match="'key': 10001 records"):
        sample_folder.sample_to_folder(release, tmp_path / "parts", 10_001)


def test_a_missing_library_is_refused_before_the_charge_and_a_release_opens_without(
    release: us.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "t.release")
    monkeypatch.setitem(sys.modules, "faker", None)
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(OperatorError, match=r"understudy\[fake\]"):
        us.fit(real(), us.Schema(COLUMNS, name="t"), epsilon=1.0, delta=1e-6, ledger=ledger)
    assert not ledger.names()
    opened = us.load(tmp_path / "t.release")
    assert opened.verify() and opened.marginal("sex")
    with pytest.raises(OperatorError, match=r"understudy\[fake\]"):
        opened.sample(5)


def test_a_unit_described_as_an_id_comes_back_with_fresh_keys(tmp_path: Path) -> None:
    table = pa.table({"who": [f"canary{n // 2}" for n in range(ROWS)], "sex": ["F", "M"] * (ROWS // 2)})
    schema = us.Schema(
        {"who": us.Id(kind="uuid"), "sex": us.Category(("F", "M"))},
        name="t",
        unit="who",
        max_records_per_unit=2,
    )
    release = us.fit(table, schema, epsilon=5.0, delta=1e-6, ledger=tmp_path / "l.db", source=Seeded(1))
    sample = release.sample(60)
    assert sample.column_names == ["who", "sex"] and len(sample["who"].unique()) == 60
    assert "canary" not in str(sample.to_pydict())


def test_a_key_that_the_table_lacks_is_added_and_a_misspelt_column_still_refused(tmp_path: Path) -> None:
    table = pa.table({"sex": ["F", "M"] * 50})
    schema = us.Schema({"key": us.Id(), "sex": us.Category(("F", "M"))}, name="t")
    settings = {"epsilon": 5.0, "delta": 1e-6, "ledger": tmp_path / "l.db", "source": Seeded(1)}
    assert us.fit(table, schema, **settings).sample(4).column_names == ["sex", "key"]
    with pytest.raises(SchemaError, match="'sexe' of the schema is not in the data"):
        us.fit(table, us.Schema({"sexe": us.Category(("F", "M"))}, name="t"), **settings)


def test_made_up_columns_have_the_real_types_where_those_hold_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "small": pa.array(range(100), pa.int8()),
            "digits": pa.array(range(100), pa.int64()),
            "chart": pa.array(range(100), pa.int64()),
            "label": pa.array([f"k{n}" for n in range(100)]).dictionary_encode(),
            "sex": ["F", "M"] * 50,
        }
    )
    columns = {
        "sex": us.Category(("F", "M")),
        "small": us.Id(),
        "digits": us.Id(pattern=r"[1-9]\d{8}"),
        "chart": us.Id(pattern=r"C\d{8}"),
        "label": us.Fake("city"),
    }
    settings = {"epsilon": 5.0, "delta": 1e-6, "ledger": tmp_path / "l.db", "source": Seeded(1)}
    release = us.fit(table, us.Schema(columns, name="t"), **settings)
    sample = release.sample(127)
    assert sample.column_names == table.column_names
    kinds = dict(zip(sample.column_names, sample.schema.types, strict=True))
    assert kinds["small"] == pa.int8() and kinds["digits"] == pa.int64() and kinds["chart"] == pa.string()
    assert pa.types.is_dictionary(kinds["label"])
    assert all(column.null_count == 0 for column in sample.columns)
    assert len(sample["digits"].unique()) == len(sample["small"].unique()) == 127
    with pytest.raises(us.UnderstudyError, match=r"'small': keys of so many records \(128\)"):
        release.sample(128)


def test_a_schema_of_made_up_columns_alone_is_refused(tmp_path: Path) -> None:
    schema = us.Schema({"key": us.Id()}, name="t")
    with pytest.raises(SchemaError, match="no column to synthesise"):
        us.fit(pa.table({"key": [1]}), schema, epsilon=1.0, delta=1e-6, ledger=tmp_path / "l.db")
