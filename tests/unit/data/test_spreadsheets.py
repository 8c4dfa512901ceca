"""A file that was asked to be safe for spreadsheets holds no text that one would run as a formula."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from understudy.data import read, write
from understudy.errors import ParameterError

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1", "-", '=a,b"c']
HARMLESS = ["plain", "a=b", "-5", "+3.25", "-1e-9", "'quoted", "5-3"]
NUMBERS = [-1.5, -2.0, float("-inf"), None]


def table() -> pa.Table:
    texts = pa.array([*FORMULAS, *HARMLESS, None])
    return pa.table(
        {
            "=name": texts,
            "category": texts.dictionary_encode(),
            "large": texts.cast(pa.large_string()),
            "number": pa.array([-1] * len(texts)),
            "real": pa.array((NUMBERS * 5)[: len(texts)]),
        }
    )


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_every_text_that_begins_like_a_formula_has_a_quote_before_it(tmp_path: Path, name: str) -> None:
    write(table(), tmp_path / name, spreadsheet=True)
    whole = (tmp_path / name).read_bytes()
    assert (gzip.decompress(whole) if name.endswith(".gz") else whole).startswith(b"'=name")
    back = read(tmp_path / name, types=dict.fromkeys(("'=name", "category", "large"), pa.string()))
    expected = ["'" + text for text in FORMULAS] + HARMLESS + [None]
    for column in ("'=name", "category", "large"):
        assert back[column].to_pylist() == expected


def test_numbers_are_written_as_they_are(tmp_path: Path) -> None:
    for safe in (False, True):
        write(table().select(["number", "real"]), tmp_path / f"{safe}.csv", spreadsheet=safe)
    assert (tmp_path / "True.csv").read_bytes() == (tmp_path / "False.csv").read_bytes()


def test_texts_are_written_as_they_are_unless_asked(tmp_path: Path) -> None:
    write(pa.table({"a": ["=1+1"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a\n=1+1\n"


def test_a_text_that_means_missing_is_made_safe_too(tmp_path: Path) -> None:
    write(pa.table({"a": [1, None]}), tmp_path / "t.csv", missing={"a": "=x"}, spreadsheet=True)
    assert (tmp_path / "t.csv").read_text().splitlines()[2].strip('"') == "'=x"


def test_other_kinds_of_output_refuse_the_option(tmp_path: Path) -> None:
    from understudy.cli.running import check_output

    for output in ("t.parquet", "t.arrow", "folder/"):
        with pytest.raises(ParameterError, match="text files"):
            check_output(str(tmp_path / output), folder=True, spreadsheet=True)
    assert check_output(str(tmp_path / "t.csv"), folder=True, spreadsheet=True) is None
