"""A folder of parts is a sample of one release: another's parts are never mixed in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.data.forms.table_form import NO_FORM
from understudy.domain import Integer
from understudy.domain.schema import Schema
from understudy.errors import ParameterError
from understudy.mechanisms import Independent
from understudy.pipeline.drawing.sample_folder import digest, sample_to_folder


def test_a_release_with_other_noise_is_another_release_to_its_folder(tmp_path):
    """Everything but the counts is the same: schema, columns, how codes become values."""
    table = pa.table({"a": [0, 1, 2] * 50})
    schema = Schema({"a": Integer(min=0, max=3)}, name="people")
    one, other = (
        us.fit(
            table,
            schema,
            epsilon=1.0,
            delta=1e-6,
            mechanism=Independent(),
            ledger=tmp_path / "ledger",
            job=job,
        )
        for job in ("one", "two")
    )
    assert digest(one) == digest(one) != digest(other)
    sample_to_folder(one, tmp_path / "parts", rows=20, seed=1)
    with pytest.raises(ParameterError, match="release"):
        sample_to_folder(other, tmp_path / "parts", rows=20, seed=1)


def test_a_release_is_told_by_every_number_that_it_draws_from():
    """Two fields of one shape and one total differ in their numbers alone."""

    def release(numbers):
        return SimpleNamespace(
            schema=Schema({"a": Integer(min=0, max=1)}, name="people"),
            field=SimpleNamespace(to_arrays=lambda: ({"kind": "any"}, {"potentials": np.array(numbers)})),
            compression=SimpleNamespace(to_dict=dict),
            transforms=(),
            form=NO_FORM,
        )

    assert digest(release([1.0, 2.0])) == digest(release([1.0, 2.0])) != digest(release([2.0, 1.0]))
