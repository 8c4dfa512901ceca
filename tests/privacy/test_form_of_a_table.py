"""The form of a table in a release says nothing of a record: it is the same with one person's record and without.

pandas, Polars and Arrow keep the values of a column of categories in or beside its type, and most lists were read
off the cells. Each pair of tables here differs by one person, who alone holds a value, and so by that list as well.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import understudy as us
from understudy.pipeline import release_file

OTHERS = ["a", "b", "c"] * 40
CANARY = "held by one person alone"
MANY = [f"value {number:03}" for number in range(126)]


def parquet(folder: Path, texts: list[str]) -> Path:
    """A file that pandas wrote, with indices as wide as the list of values needs."""
    path = folder / f"{len(texts)}.parquet"
    pd.DataFrame({"x": pd.Categorical(texts)}).to_parquet(path)
    return path


MAKERS: dict[str, Callable[[Path, list[str]], Any]] = {
    "pandas category": lambda _, texts: pd.DataFrame({"x": pd.Categorical(texts)}),
    "pandas ordered category": lambda _, texts: pd.DataFrame({"x": pd.Categorical(texts, ordered=True)}),
    "pandas category of unlike things": lambda _, texts: pd.DataFrame(
        {"x": pd.Series([7 if text == CANARY else text for text in texts], dtype=object).astype("category")}
    ),
    "polars Categorical": lambda _, texts: pl.DataFrame({"x": pl.Series(texts).cast(pl.Categorical)}),
    "polars Enum": lambda _, texts: pl.DataFrame({"x": pl.Series(texts).cast(pl.Enum(sorted({*texts})))}),
    "arrow dictionary": lambda _, texts: pa.table({"x": pa.array(texts).dictionary_encode()}),
    "arrow dictionary, narrow": lambda _, texts: pa.Table.from_pandas(
        pd.DataFrame({"x": pd.Categorical(texts)})
    ),
    "parquet of pandas": parquet,
    "parquet, streamed": lambda folder, texts: f"parquet:{parquet(folder, texts)}",
    "parquet of polars": lambda folder, texts: _by_polars(folder / f"{len(texts)}.parquet", texts),
}


def _by_polars(path: Path, texts: list[str]) -> Path:
    pl.DataFrame({"x": pl.Series(texts).cast(pl.Enum(sorted({*texts})))}).write_parquet(path)
    return path


def released(data: Any, folder: Path) -> release_file.Content:
    settings: Any = {"epsilon": 1, "delta": 1e-6, "mechanism": "independent", "ledger": folder / "ledger"}
    us.fit(data, name="t", **settings).save(folder / "t.release")
    return release_file.read(folder / "t.release")


@pytest.mark.parametrize("others", [OTHERS, MANY], ids=["few values", "as many as a byte tells apart"])
@pytest.mark.parametrize("kind", MAKERS)
def test_the_form_is_that_of_the_table_without_one_person(
    kind: str, others: list[str], tmp_path: Path
) -> None:
    make = MAKERS[kind]
    without, with_ = (released(make(tmp_path, texts), tmp_path) for texts in (others, [*others, CANARY]))
    assert without.sections["form"] == with_.sections["form"]
    assert without.sections["form"]["columns"][0][0] == "x"
    assert CANARY not in str(with_.sections)


def test_the_files_that_pandas_writes_differ_by_the_width_of_their_indices(tmp_path: Path) -> None:
    """Or the pair above would prove nothing."""
    few, many = (pq.read_schema(parquet(tmp_path, texts)).types for texts in (MANY, [*MANY, CANARY]))
    assert few == [pa.dictionary(pa.int8(), pa.string())] and many == [pa.dictionary(pa.int16(), pa.string())]


def test_a_listed_value_that_the_schema_does_not_have_never_appears(tmp_path: Path) -> None:
    """Neither in the records nor among the categories of their type, nor in the type of those."""
    real = pd.DataFrame({"x": pd.Categorical([*OTHERS, CANARY], categories=[CANARY, "c", "b", "a", "never"])})
    schema = us.Schema({"x": us.Category(("a", "b", "c"))}, name="t")
    settings: Any = {"epsilon": 20, "delta": 1e-6, "mechanism": "independent", "ledger": tmp_path / "ledger"}
    release = us.fit(real, schema, **settings)
    assert release.sample(100)["x"].cat.categories.tolist() == ["a", "b", "c"]
    assert release.with_kind("arrow").sample(100)["x"].chunk(0).dictionary.to_pylist() == ["a", "b", "c"]
