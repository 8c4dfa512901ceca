"""Parts of a release file that cannot be what they say: refused where they are read."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.domain import Domain, Integer
from understudy.domain.schema import Schema
from understudy.errors import ReleaseError
from understudy.mechanisms import Independent
from understudy.pipeline import release_file
from understudy.pipeline.measurement_arrays import measurement_from

DOMAIN = Domain({"a": 4, "b": 3})


@pytest.mark.parametrize("text", [b"NaN", b"1e999", b"-1e999", b"Infinity"])
def test_a_header_holds_numbers_alone(tmp_path, text):
    number = float(f"1.{'5' * (len(text) - 2)}")
    path = tmp_path / "file"
    release_file.write(path, release_file.Content({"epsilon": number}, {}))
    assert release_file.read(path).sections == {"epsilon": number}
    changed = path.read_bytes()[: -release_file.DIGEST].replace(str(number).encode(), text)
    path.write_bytes(changed + hashlib.sha256(changed).digest())
    with pytest.raises(ReleaseError, match="header"):
        release_file.read(path)


@pytest.mark.parametrize(
    "bins",
    [
        [[0, 0, 1], [0, 1, 1]],  # fewer codes than the column has
        [[0, 0, 1, 1, 1], [0, 1, 1]],  # more
        [[0, 0, 1, 9], [0, 1, 1]],  # more bins than codes
        [[0, 0, 1, 1]],  # of one column
    ],
)
def test_bins_of_a_measurement_are_those_of_its_codes(bins):
    shape = [max(axis) + 1 for axis in bins]
    values = np.zeros(math.prod(shape))
    with pytest.raises(ReleaseError, match="bins"):
        measurement_from(DOMAIN, {"clique": ["a", "b"], "bins": bins}, values, np.array(1.0))


def test_a_measurement_has_a_value_for_each_cell():
    said = {"clique": ["a", "b"], "bins": None}
    assert measurement_from(DOMAIN, said, np.zeros(12), np.array(1.0)).values.size == 12
    for size in (11, 13):
        with pytest.raises(ReleaseError, match="number of values"):
            measurement_from(DOMAIN, said, np.zeros(size), np.array(1.0))


def test_a_release_of_many_columns_verifies(tmp_path):
    """What bounds the work of verifying leaves room for every table."""
    names = [f"c{number}" for number in range(90)]
    table = pa.table({name: [0, 1, 1] * 20 for name in names})
    schema = Schema({name: Integer(min=0, max=1) for name in names}, name="people")
    settings = {"epsilon": 1.0, "delta": 1e-6, "mechanism": Independent(), "ledger": tmp_path / "ledger"}
    assert us.fit(table, schema, **settings).verify().holds
