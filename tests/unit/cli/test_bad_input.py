"""Bad input from the command line: the stated message, the stated exit code, and an unchanged ledger."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CANARY = "XCANARYX"
BUDGET = ("--epsilon", "1", "--delta", "1e-9")


def fit(
    understudy: Callable,
    data: str = "people.csv",
    *more: str,
    schema: str | None = "people.toml",
    budget=BUDGET,
):
    described = () if schema is None else ("--schema", schema)
    return understudy("fit", data, *described, *budget, "-o", "out.release", "--overwrite", *more)


def untouched(folder: Path, understudy: Callable) -> None:
    """Nothing was released and nothing was charged."""
    assert not (folder / "out.release").exists()
    if (folder / "ledger.db").exists():
        assert not json.loads(understudy("ledger", "--json").out).get("tables")


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "-inf", "one", "", "21", "1e400"])
def test_an_impossible_epsilon_is_refused(folder, understudy, epsilon) -> None:
    said = fit(understudy, budget=("--epsilon", epsilon, "--delta", "1e-9"))
    assert (said.code, "epsilon" in said.err, said.out) == (2, True, "")
    untouched(folder, understudy)


@pytest.mark.parametrize("delta", ["0", "-1e-9", "1", "2", "nan", "inf", "tiny"])
def test_an_impossible_delta_is_refused(folder, understudy, delta) -> None:
    said = fit(understudy, budget=("--epsilon", "1", "--delta", delta))
    assert (said.code, "delta" in said.err) == (2, True)
    untouched(folder, understudy)


@pytest.mark.parametrize("missing", ["--epsilon", "--delta"])
def test_a_budget_is_always_asked_for(folder, understudy, missing) -> None:
    given = {"--epsilon": "1", "--delta": "1e-9"}
    del given[missing]
    said = fit(understudy, budget=tuple(word for pair in given.items() for word in pair))
    assert (said.code, missing in said.err) == (2, True)


def test_a_large_epsilon_goes_through_when_it_is_meant_and_is_recorded(folder, understudy) -> None:
    said = fit(
        understudy,
        "people.csv",
        "--allow-large-epsilon",
        "--json",
        budget=("--epsilon", "25", "--delta", "1e-9"),
    )
    assert (said.code, json.loads(said.out)["epsilon"]) == (0, 25.0)


def test_more_than_the_limit_leaves_is_refused_and_nothing_is_charged(folder, understudy) -> None:
    assert understudy("ledger", "people", "--limit-epsilon", "1.5", "--limit-delta", "1e-8").code == 0
    assert fit(understudy).code == 0
    before = understudy("ledger", "people", "--json").out
    said = fit(understudy, "people.csv", "--job", "again")
    assert said.code == 2 and "epsilon" in said.err
    assert understudy("ledger", "people", "--json").out == before


@pytest.mark.parametrize("output", ["made.foo", "made", "made.json"])
def test_an_output_of_no_known_kind_is_refused_before_anything_is_charged(folder, understudy, output) -> None:
    said = understudy("synth", "people.csv", "--schema", "people.toml", *BUDGET, "-o", output)
    assert said.code == 1 and ".jsonl" in said.err
    assert not (folder / "ledger.db").exists()


def test_a_limit_set_by_a_files_name_holds_for_runs_on_that_file(folder, understudy) -> None:
    limit = ("--limit-epsilon", "1.5", "--limit-delta", "1e-8")
    assert understudy("ledger", "people.csv", *limit).code == 0
    assert understudy("ledger", "./people.csv", "--json").out == understudy("ledger", "people", "--json").out
    assert fit(understudy).code == 0
    assert fit(understudy, "people.csv", "--job", "again").code == 2
    assert understudy("ledger", "survey 2.1", *limit).code == 0
    assert "survey 2.1" in understudy("ledger").out


def test_a_reviewed_schema_is_never_written_over_by_a_draft(folder, understudy) -> None:
    reviewed = (folder / "people.toml").read_text()
    said = understudy("schema", "people.csv", "-o", "people.toml")
    assert said.code == 2 and "--overwrite" in said.err
    assert (folder / "people.toml").read_text() == reviewed
    assert understudy("schema", "people.csv", "-o", "people.toml", "--overwrite").code == 0
    assert "NOT PRIVATE" in (folder / "people.toml").read_text()


FAULTY_FILES = {
    "empty": b"",
    "ragged": b"sex,age,income\nM,1,2\nXCANARYX,1\n",
    "unclosed quote": b'sex,age,income\n"XCANARYX,1,2\nM,2,3\n',
    "NUL bytes": b"sex,age,income\nM,1,2\nXCANARYX\x00,1,2\n",
    "invalid UTF-8": b"sex,age,income\nM,1,2\n\xff\xfeXCANARYX,1,2\n",
    "duplicate names": b"sex,age,sex\nXCANARYX,1,2\n",
}


@pytest.mark.parametrize("fault", FAULTY_FILES)
def test_a_faulty_file_is_an_operator_error_that_shows_no_content(folder, understudy, fault) -> None:
    (folder / "bad.csv").write_bytes(FAULTY_FILES[fault])
    said = fit(understudy, "bad.csv")
    assert (said.code, CANARY in said.err + said.out) in [(1, False), (2, False)], said.err
    assert (said.code == 2) == (fault == "duplicate names") or said.code == 1
    assert "bad.csv" in said.err or "sex" in said.err
    untouched(folder, understudy)


def test_files_that_are_no_tables_are_operator_errors(folder, understudy) -> None:
    table = pa.table({"sex": [CANARY], "age": [1], "income": [2.0]})
    pq.write_table(table, folder / "whole.parquet")
    (folder / "cut.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:-20])
    (folder / "no.parquet").write_bytes(b"PAR1" + b"\0" * 50)
    pq.write_table(pa.table({"sex": [[1]], "age": [1], "income": [2.0]}), folder / "nested.parquet")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"sex,age,income\nM,1,2\n" * 1000)[:-30])
    (folder / "nothing").mkdir()
    for name in ("cut.parquet", "no.parquet", "nested.parquet", "cut.csv.gz", "absent.csv", "nothing"):
        said = fit(understudy, name)
        assert (said.code, CANARY in said.err) == (1, False), (name, said)
    untouched(folder, understudy)


def test_header_only_and_one_row_are_valid_runs(folder, understudy) -> None:
    for number, rows in enumerate((b"", b"M,30,1000\n")):
        (folder / f"t{number}.csv").write_bytes(b"\xef\xbb\xbfsex,age,income\n" + rows)
        assert fit(understudy, f"t{number}.csv", "--name", f"t{number}").code == 0


def test_a_schema_column_that_the_file_lacks_is_refused(folder, understudy) -> None:
    (folder / "less.csv").write_text("sex,age\nM,1\n")
    said = fit(understudy, "less.csv")
    assert said.code == 2 and "income" in said.err
    untouched(folder, understudy)


def test_a_file_column_that_the_schema_lacks_is_dropped_and_named(folder, understudy) -> None:
    (folder / "more.csv").write_text(f"sex,age,income,secret\nM,1,2,{CANARY}\n")
    said = fit(understudy, "more.csv")
    assert said.code == 0 and "secret" in said.out and CANARY not in said.out + said.err
    assert CANARY.encode() not in (folder / "out.release").read_bytes() + (folder / "ledger.db").read_bytes()


BAD_SCHEMAS = {
    "lower above upper": '[columns.age]\ntype = "integer"\nmin = 9\nmax = 1\n',
    "zero bins": '[columns.income]\ntype = "number"\nmin = 0\nmax = 1\nbins = 0\n',
    "unknown type": '[columns.age]\ntype = "intger"\n',
    "unknown field": '[columns.age]\ntype = "integer"\nmn = 3\n',
    "not TOML": "[columns.age\n",
    "too many codes": '[columns.age]\ntype = "integer"\nmin = 0\nmax = 100_000_000\nbins = 50_000_000\n',
    "nothing": "",
}


@pytest.mark.parametrize("fault", BAD_SCHEMAS)
def test_an_impossible_schema_is_refused_before_the_data_is_opened(folder, understudy, fault) -> None:
    (folder / "bad.toml").write_text(BAD_SCHEMAS[fault])
    said = fit(understudy, "absent.csv", schema="bad.toml")
    assert said.code == 2 and "absent" not in said.err
    untouched(folder, understudy)


def test_values_that_misfit_never_raise(folder, understudy) -> None:
    cells = ["1e400", "0x10", "1_000", "NaN", "inf", "-inf", "", "9" * 40, "ünïcode", "1,5", '"quoted ""x"""']
    rows = [f'"{c.replace(chr(34), chr(34) * 2)}"' for c in cells]
    text = "\n".join(f"{c},{c},{c}" for c in rows)
    (folder / "odd.csv").write_text("sex,age,income\n" + text + "\n")
    assert fit(understudy, "odd.csv").code == 0


def test_constant_and_empty_columns_run_like_any_other(folder, understudy) -> None:
    (folder / "flat.csv").write_text("sex,age,income\n" + "M,5,\n" * 50)
    assert fit(understudy, "flat.csv").code == 0


def test_without_a_schema_such_columns_are_learned_like_any_other(folder, understudy) -> None:
    (folder / "flat.csv").write_text("a,b,c,d\n" + f"{CANARY},5,,2020-01-01\n" * 5)
    assert fit(understudy, "flat.csv", schema=None).code == 0
    assert CANARY.encode() not in (folder / "out.release").read_bytes()  # five records are too few to name


@pytest.mark.parametrize(
    ("rows", "code"), [("-1", 2), ("0", 0), ("7", 0), ("1e12", 2), ("2.5", 2), ("many", 2)]
)
def test_a_number_of_rows_is_checked(folder, understudy, rows, code) -> None:
    assert fit(understudy).code == 0
    said = understudy("sample", "out.release", "-n", rows, "-o", "s.csv")
    assert said.code == code
    if not code:
        assert len((folder / "s.csv").read_text().splitlines()) == 1 + int(rows)
    else:
        assert not (folder / "s.csv").exists()


def test_hostile_and_damaged_releases_are_refused(folder, understudy) -> None:
    assert fit(understudy).code == 0
    good = (folder / "out.release").read_bytes()
    magic = good[: good.index(b"\n") + 1]
    for number, data in enumerate(
        (
            b"",
            b"\x80\x05cos\nsystem\n(S'touch pwned'\ntR.",
            good[: len(good) // 2],
            good[:100] + b"\0" + good[101:],
            magic + (2**62).to_bytes(8, "little") + b"{}" + b"\0" * 64,
            b"PK\x03\x04" + b"../../etc/passwd" * 10,
        )
    ):
        (folder / f"bad{number}").write_bytes(data)
        for command in (("sample", "-o", "s.csv"), ("verify",), ("report", "-o", "r.html")):
            said = understudy(command[0], f"bad{number}", *command[1:])
            assert said.code == 1 and "Traceback" not in said.err
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize(
    "words", [("--mechanism", "fixed"), ("--mechanism", "nist-mst"), ("--clique", "sex,height")]
)
def test_a_mechanism_that_lacks_something_is_refused(folder, understudy, words) -> None:
    assert fit(understudy, "people.csv", *words).code == 2
    untouched(folder, understudy)


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_spent(folder, understudy) -> None:
    said = understudy("synth", "people.csv", "--schema", "people.toml", *BUDGET, "-o", "nowhere/s.csv")
    assert said.code == 1
    said = understudy("fit", "people.csv", "--schema", "people.toml", *BUDGET, "-o", "nowhere/s.release")
    assert said.code == 1
    untouched(folder, understudy)


def test_a_delta_above_one_over_n_is_warned_of(folder, understudy) -> None:
    (folder / "people.toml").write_text(
        (folder / "people.toml").read_text().replace("[table]", "[table]\nrows = 400")
    )
    said = fit(understudy, budget=("--epsilon", "1", "--delta", "0.01"))
    assert said.code == 0 and "delta" in said.err


def test_a_folder_that_is_closed_to_the_user_is_told_with_its_name(folder, understudy, monkeypatch):
    def closed(self, **_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", closed)
    said = understudy("demo", "--rows", "10", "-o", "closed")
    assert said.code == 1 and "'closed' cannot be used: permission denied" in said.err
    assert "should not be" not in said.err
