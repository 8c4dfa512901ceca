"""What a command leaves behind: confidential files for their owner alone, and records of a test marked as such."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

FIT = ("--schema", "people.toml", "--epsilon", "1", "--delta", "1e-9", "--mechanism", "independent")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("output", ["synthetic.csv", "parts/"])
def test_sample_says_that_a_seeded_release_is_not_private(understudy, folder: Path, output: str) -> None:
    assert understudy("fit", "people.csv", *FIT, "--insecure-seed", "1", "-o", "test.release").code == 0
    said = understudy("sample", "test.release", "-o", output)
    assert said.code == 0 and "NOT PRIVATE" in said.err
    said = understudy("sample", "test.release", "--json", "-o", "other.csv")
    assert "NOT PRIVATE" in said.err and json.loads(said.out)["private"] is False
    assert "NOT PRIVATE" not in (folder / "other.csv").read_text()


def test_sample_says_nothing_of_the_kind_of_a_private_release(understudy, folder: Path) -> None:
    assert understudy("fit", "people.csv", *FIT, "-o", "people.release").code == 0
    assert "NOT PRIVATE" not in "".join(understudy("sample", "people.release", "-o", "s.csv")[1:])


def test_what_shows_private_values_is_for_its_owner_alone(understudy, folder: Path) -> None:
    (folder / "page.html").write_text("older, and open to all")
    (folder / "page.html").chmod(0o644)
    said = understudy(
        *("evaluate", "people.csv", "people.csv", "--schema", "people.toml"),
        *("-o", "page.html", "--json", "figures.json", "--overwrite"),
    )
    assert said.code == 0, said.err
    assert understudy("schema", "people.csv", "-o", "draft.toml").code == 0
    for name in ("page.html", "figures.json", "draft.toml"):
        assert mode(folder / name) == 0o600, name


def test_tests_of_the_contest_are_for_their_owner_alone(tmp_path: Path) -> None:
    from understudy.evaluation.contest.contest_tests import ContestTests

    ContestTests({"age": 99}, (), (), 0).save(tmp_path / "tests.json")
    assert mode(tmp_path / "tests.json") == 0o600


def test_a_sample_can_be_made_safe_for_spreadsheets(understudy, folder: Path) -> None:
    schema = (folder / "people.toml").read_text().replace('"M", "F"', '"=M", "F"')
    (folder / "people.toml").write_text(schema)
    (folder / "people.csv").write_text((folder / "people.csv").read_text().replace("M,", "=M,"))
    assert understudy("fit", "people.csv", *FIT, "-o", "p.release").code == 0
    for option, wanted in (((), "=M"), (("--safe-for-spreadsheets",), "'=M")):
        assert understudy("sample", "p.release", *option, "-o", "s.csv", "--overwrite").code == 0
        cells = {line.split(",")[0].strip('"') for line in (folder / "s.csv").read_text().splitlines()[1:]}
        assert wanted in cells and cells <= {wanted, "F", ""}
    refused = understudy("sample", "p.release", "--safe-for-spreadsheets", "-o", "s.parquet")
    assert refused.code == 2 and "text files" in refused.err


def test_verify_tells_a_signed_release_from_others(understudy, folder: Path) -> None:
    pytest.importorskip("cryptography")
    assert understudy("key", "holder.key").code == 0 and understudy("key", "other.key").code == 0
    assert understudy("fit", "people.csv", *FIT, "--key", "holder.key", "-o", "signed.release").code == 0
    assert understudy("fit", "people.csv", *FIT, "--name", "again", "-o", "plain.release").code == 0
    said = understudy("verify", "signed.release", "--key", "holder.pub")
    assert said.code == 0 and "signature holds" in said.out
    assert "not checked" in understudy("verify", "signed.release").out
    for release, key in (("signed.release", "other.pub"), ("plain.release", "holder.pub")):
        said = understudy("verify", release, "--key", key)
        assert said.code == 1 and "THE SIGNATURE DOES NOT HOLD" in said.out
        said = understudy("verify", release, "--key", key, "--json")
        assert said.code == 1 and json.loads(said.out)["signature"].startswith("does not hold")
    assert understudy("sign", "plain.release", "--key", "holder.key").code == 0
    assert understudy("verify", "plain.release", "--key", "holder.pub").code == 0


def test_what_is_not_private_or_does_not_hold_is_not_signed(understudy, folder: Path) -> None:
    pytest.importorskip("cryptography")
    assert understudy("key", "holder.key").code == 0
    refused = understudy(
        "fit", "people.csv", *FIT, "--insecure-seed", "1", "--key", "holder.key", "-o", "x.release"
    )
    assert refused.code == 2 and not (folder / "x.release").exists()
    assert understudy("fit", "people.csv", *FIT, "--insecure-seed", "1", "-o", "x.release").code == 0
    before = (folder / "x.release").read_bytes()
    refused = understudy("sign", "x.release", "--key", "holder.key")
    assert refused.code == 1 and "not signed" in refused.err
    assert (folder / "x.release").read_bytes() == before
