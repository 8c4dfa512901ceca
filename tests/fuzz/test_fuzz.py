"""A few hundred of the damaged things of `make fuzz`, always the same ones; by day every door's first half."""

from __future__ import annotations

import pytest
from run_fuzz import short, tried

from nightly import NIGHTLY


@pytest.mark.timeout(1800)  # by the clock of a crowded machine; each case has limits of its own
def test_damaged_files_releases_ledgers_schemas_and_addresses_are_opened_or_refused_with_a_word() -> None:
    doors = {door: (first, count if NIGHTLY else -(-count // 2)) for door, (first, count) in short().items()}
    said = list(tried("0", doors))
    assert [f"{line['door']}:{line['number']}: {line['found']}" for line in said if "found" in line] == []
    assert {line["door"] for line in said if "cases" in line} == set(short())
    assert all(line["cases"] == line["opened"] + line["refused"] for line in said if "cases" in line)
