"""Every awkward file of the corpus: drafted as expected, synthesised, and written back in the form it came."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from corpus import ROWS, Awkward, amounts, corpus, days, delimited, in_pairs, numbers, picks

import understudy as us

CORPUS = {awkward.name: awkward for awkward in corpus()}
ENCODINGS = {
    "european.csv": "latin-1",
    "latin1.csv": "latin-1",
    "utf16.csv": "utf-16",
    "bom.csv": "utf-8-sig",
}


@pytest.fixture(params=CORPUS, name="awkward")
def _awkward(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Awkward:
    """One file of the corpus, in the working folder."""
    awkward = CORPUS[request.param]
    if awkward.name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    if any(shape.type == "fake" for shape in awkward.shapes.values()):
        pytest.importorskip("faker")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    awkward.write(tmp_path / awkward.name)
    return awkward


def content(path: Path, encoding: str) -> str:
    raw = path.read_bytes()
    return without_notes((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode(encoding))


def without_notes(text: str) -> str:
    """The text from its header on."""
    return re.sub(r"\A(#.*\n)+", "", text)


def cells(path: Path, like: str) -> dict[str, list[str]]:
    """The cells of a file as they are written, by column in order; its dialect is that of the corpus file."""
    if ".jsonl" in path.name:
        rows = [json.loads(line) for line in content(path, "utf-8").splitlines()]
        return {name: [str(row[name]) for row in rows] for name in rows[0]}
    if path.suffix == ".xlsx":
        from openpyxl import load_workbook

        header, *found = load_workbook(path).active.iter_rows(values_only=True)
        return {name: [str(row[place]) for row in found] for place, name in enumerate(header)}
    text = content(path, ENCODINGS.get(like, "utf-8"))
    mark = {"european.csv": ";", "french.csv": ";", "tabs.tsv": "\t", "pipes.csv": "|"}.get(like, ",")
    header, *found = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    return {name: [row[place] for row in found] for place, name in enumerate(header)}


def test_the_draft_finds_what_each_column_is(awkward: Awkward) -> None:
    drafted = us.draft_schema(awkward.name)
    assert {name: column.type for name, column in drafted.columns.items()} == {
        name: shape.type for name, shape in awkward.shapes.items()
    }
    for name, shape in awkward.shapes.items():
        assert {field: drafted[name].fields().get(field) for field in shape.said} == shape.said
    assert us.Schema.from_toml(drafted.to_toml()) == drafted


def test_the_synthetic_file_is_written_as_the_real_one(awkward: Awkward, understudy) -> None:
    said = understudy("schema", awkward.name, "-o", "draft.toml")
    assert said.code == 0, said.err
    ending = awkward.name.partition(".")[2]
    budget = ("--epsilon", "20", "--delta", "1e-6", "--mechanism", "independent")
    said = understudy("synth", awkward.name, "--schema", "draft.toml", *budget, "-o", f"made.{ending}")
    assert said.code == 0, said.err
    real, made = cells(Path(awkward.name), awkward.name), cells(Path(f"made.{ending}"), awkward.name)
    assert list(made) == list(real)
    for name, shape in awkward.shapes.items():
        assert all(re.fullmatch(shape.cell, cell) for cell in real[name])
        odd = [cell for cell in made[name] if cell and not re.fullmatch(shape.cell, cell)]
        assert not odd, (name, odd[:5], us.Schema.load("draft.toml")[name])
        # Of few records noise may leave no value to be named; of any, one table in a hundred shows an empty slot.
        if "" not in real[name] and not re.fullmatch(shape.cell, "") and len(real[name]) > 100:
            assert made[name].count("") <= 0.03 * len(made[name])
    assert all(len(cells) > 0 for cells in made.values())
    if awkward.name.endswith((".csv", ".tsv")):
        _same_dialect(Path(awkward.name), Path(f"made.{ending}"), ENCODINGS.get(awkward.name, "utf-8"))


def _same_dialect(real: Path, made: Path, encoding: str) -> None:
    """The synthetic text has the line ends, the header and the byte order mark of the real one, or none."""
    assert (b"\r\n" in real.read_bytes()) == (b"\r\n" in made.read_bytes())
    assert content(real, encoding).splitlines()[0] == content(made, encoding).splitlines()[0]
    notes = without_notes(real.read_bytes().decode(encoding, "replace")) != real.read_bytes().decode(
        encoding, "replace"
    )
    assert notes or real.read_bytes()[:2] == made.read_bytes()[:2]


def test_without_a_schema_codes_figures_and_close_dates_come_back_in_their_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.db"))
    forms = {
        "zip": (r"\d{5}", [f"{z:05d}" for z in numbers(1).integers(501, 99951, ROWS)]),
        "ward": (r"0046|0112|0007", picks(2, ["0046", "0112", "0007"])),
        "weight": (r"-?\d+(\.\d+)? kg", [f"{x:.1f} kg" for x in numbers(3).normal(70, 9, ROWS)]),
        "total": (
            r"₹\d{1,2}(,\d\d)*,\d{3}\.\d\d|₹\d+\.\d\d",
            [f"₹{in_pairs(x)}" for x in amounts(4, high=9e6)],
        ),
        "week": (r"\d{4}-W\d\d", [d.strftime("%G-W%V") for d in days(5)]),
        "day": (r"2023-11-0[5-7]", picks(6, ["2023-11-05", "2023-11-06", "2023-11-07"])),
    }
    delimited({name: cells for name, (_, cells) in forms.items()})(Path("table.csv"))
    made = us.synth("table.csv", epsilon=20, delta=1e-6, mechanism="independent").to_pydict()
    for name, (form, _) in forms.items():
        odd = [cell for cell in map(str, made[name]) if not re.fullmatch(form, cell)]
        assert len(odd) <= 0.03 * ROWS, (name, odd[:5])
