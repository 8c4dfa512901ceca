"""The synthetic file is written as the private one was, from whichever engine, and unless told otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import understudy as us

FIT = ("--epsilon", "8", "--delta", "1e-6", "--mechanism", "independent", "--insecure-seed", "1")


@pytest.fixture
def german(folder: Path) -> Path:
    """A file as a German spreadsheet writes it, and a draft of its schema."""
    rows = [f"{('Köln', 'München', 'Bonn')[n % 3]};{n % 50};ja" for n in range(300)]
    (folder / "leute.csv").write_bytes("\r\n".join(["Stadt;Alter;Mitglied", *rows, ""]).encode("latin-1"))
    us.draft_schema("leute.csv").save("leute.toml")
    return folder


@pytest.mark.parametrize("address", ["leute.csv", "csv:leute.csv", "leut*.csv"])
def test_a_release_writes_the_dialect_of_the_private_file(understudy, german: Path, address: str) -> None:
    drafted = us.Schema.load("leute.toml")
    assert (drafted.delimiter, drafted.encoding, drafted.line_end) == (";", "latin-1", "\r\n")
    said = understudy("fit", address, "--schema", "leute.toml", *FIT, "-o", "leute.release")
    assert said.code == 0, said.err
    assert understudy("sample", "leute.release", "-n", "200", "--seed", "1", "-o", "made.csv").code == 0
    lines = (german / "made.csv").read_bytes().decode("latin-1").split("\r\n")
    assert lines[0] == "Stadt;Alter;Mitglied" and len(lines) == 202
    assert {line.split(";")[0] for line in lines[1:-1]} <= {"Köln", "München", "Bonn", ""}


def test_an_option_or_an_ending_goes_before_the_dialect_of_the_private_file(understudy, german: Path) -> None:
    assert understudy("fit", "leute.csv", "--schema", "leute.toml", *FIT, "-o", "leute.release").code == 0
    sample = ("sample", "leute.release", "-n", "50", "--seed", "1")
    assert understudy(*sample, "-o", "made.tsv").code == 0
    assert (german / "made.tsv").read_bytes().startswith(b"Stadt\tAlter\tMitglied\r\n")
    asked = ("--delimiter", "|", "--encoding", "utf-8-sig")
    assert understudy(*sample, *asked, "-o", "made.csv").code == 0
    assert (german / "made.csv").read_text("utf-8-sig").startswith("Stadt|Alter|Mitglied\n")
    assert understudy(*sample, "--encoding", "klingon", "-o", "x.csv").code == 2


def test_without_a_schema_the_header_line_alone_says_how_to_write(understudy, folder: Path) -> None:
    rows = "\r\n".join(f"{n % 7};a,b" for n in range(400))
    (folder / "plain.csv").write_bytes(f"\ufeffn;words\r\n{rows}\r\n".encode())
    assert understudy("synth", "plain.csv", *FIT, "-n", "20", "-o", "made.csv").code == 0
    made = (folder / "made.csv").read_bytes().decode()
    assert made.startswith("\ufeffn;words\r\n") and made.count("\r\n") == 21


def test_tables_of_two_dialects_are_compared(understudy, german: Path) -> None:
    (german / "made.csv").write_text("Stadt,Alter,Mitglied\nKöln,3,ja\nBonn,4,ja\nBonn,4,nein\n")
    for schema in (("--schema", "leute.toml"), ()):
        said = understudy("evaluate", "leute.csv", "made.csv", *schema)
        assert said.code == 0, said.err
