"""What makes two runs the same run: the same source, unchanged; then it is charged once and answers the same."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

import understudy as us
from understudy.data import write
from understudy.domain import Integer
from understudy.domain.schema import Schema
from understudy.mechanisms import Independent

SCHEMA = Schema({"a": Integer(min=0, max=3)}, name="people")


@pytest.mark.parametrize("way", ["{}", "csv:{}"], ids=["read whole", "streamed"])
def test_a_file_that_has_not_changed_is_one_job_and_a_changed_one_another(tmp_path, way):
    path = tmp_path / "people.csv"

    def jobs() -> int:
        settings = {"epsilon": 0.5, "delta": 1e-7, "mechanism": Independent(), "ledger": tmp_path / "ledger"}
        us.fit(way.format(path), SCHEMA, **settings)
        return len(us.Ledger(tmp_path / "ledger").account("people").jobs)

    write(pa.table({"a": [0, 1, 2] * 20}), path)
    assert [jobs(), jobs()] == [1, 1]
    write(pa.table({"a": [0, 1, 2, 3] * 20}), path)
    os.utime(path, ns=(1, 1))
    assert [jobs(), jobs()] == [2, 2]
