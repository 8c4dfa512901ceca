"""What a run says and asks before it looks at a record: warnings, and types that a file declares."""

from __future__ import annotations

import pyarrow as pa
import pytest

import understudy as us
from understudy.data import write
from understudy.domain import Integer
from understudy.domain.schema import Schema
from understudy.mechanisms import Independent
from understudy.pipeline.synthesizer import warnings
from understudy.privacy import Budget

SCHEMA = Schema({"a": Integer(min=0, max=3)}, name="people", rows=1000)


@pytest.mark.parametrize(("delta", "warned"), [(0.9e-3, False), (1.5e-3, True), (1e-2, True)])
def test_a_delta_that_could_expose_a_record_is_warned_of(delta, warned):
    assert (
        any("expose a whole record" in words for words in warnings(SCHEMA, Budget(1.0, delta), 900.0))
        is warned
    )


@pytest.mark.parametrize(("name", "asked"), [("people.csv", True), ("people.parquet", False)])
def test_types_are_learned_of_text_alone(tmp_path, name, asked):
    """A file that declares its types is not asked for them: a question costs a share of the budget."""
    write(pa.table({"a": [0, 1, 2] * 200}), tmp_path / name)
    release = us.fit(
        tmp_path / name, epsilon=1.0, delta=1e-6, mechanism=Independent(), ledger=tmp_path / "ledger"
    )
    stages = [charge.get("stage") for charge in release.certificate["charges"]]
    assert ("types" in stages) is asked


@pytest.mark.parametrize(
    ("said", "asked", "records"), [(None, 3, 3), (2, 3, 3), (2, None, 2), (None, None, 1)]
)
def test_a_bound_that_is_asked_for_goes_before_the_schemas(tmp_path, said, asked, records):
    """The number of a unit's records that count is the one that noise is scaled for."""
    table = pa.table({"who": [1, 2, 3] * 100, "a": [0, 1, 2] * 100})
    schema = Schema({"a": Integer(min=0, max=3)}, name="people", unit="who", max_records_per_unit=said)
    release = us.fit(
        table,
        schema,
        epsilon=5.0,
        delta=1e-6,
        mechanism=Independent(),
        ledger=tmp_path / "ledger",
        max_records_per_unit=asked,
    )
    assert release.certificate["neighbours"]["records"] == records
    assert abs(release.rows - 3 * records) < 40
