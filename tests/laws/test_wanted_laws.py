"""For any field and any condition, wanted records are drawn from the field's own distribution given the condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from field_maker import fields
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Category, Domain, Schema
from understudy.errors import ParameterError
from understudy.pipeline.drawing.wanted_records import WantedRecords
from understudy.transforms.compress import Compression

ROWS = 400


def schema_of(domain: Domain) -> Schema:
    """Columns whose codes stand for the texts v0, v1, ..."""
    return Schema(
        {
            name: Category(tuple(f"v{code}" for code in range(size)), missing=False)
            for name, size in domain.items()
        }
    )


@st.composite
def conditions(draw: Any, domain: Domain, depth: int = 2) -> tuple[str, Any]:
    """A condition as text, and which cells of the whole domain fulfil it."""
    if depth == 0 or draw(st.booleans()):
        axis = draw(st.integers(0, len(domain.names) - 1))
        name = domain.names[axis]
        codes = draw(st.sets(st.integers(0, domain[name] - 1), min_size=1))
        shape = [1] * len(domain.names)
        shape[axis] = domain[name]
        mask = np.isin(np.arange(domain[name]), list(codes)).reshape(shape)
        listed = ", ".join(f"'v{code}'" for code in sorted(codes))
        return f"{name} in ({listed})", np.broadcast_to(mask, domain.shape())
    left, right = draw(conditions(domain, depth - 1)), draw(conditions(domain, depth - 1))
    how = draw(st.sampled_from(["and", "or", "not"]))
    if how == "not":
        return f"not ({left[0]})", ~left[1]
    joined = left[1] & right[1] if how == "and" else left[1] | right[1]
    return f"({left[0]}) {how} ({right[0]})", joined


@settings(max_examples=many(150))
@given(fields(), st.data())
def test_wanted_records_have_the_fields_law_given_the_condition(made: Any, data: Any) -> None:
    field, joint = made
    where, mask = data.draw(conditions(field.domain))
    chance = joint[mask].sum()
    compression = Compression.none(field.domain)
    if not chance:
        with pytest.raises(ParameterError, match="no record of this release fulfils it"):
            WantedRecords.of(schema_of(field.domain), field, compression, where, None)
        return
    assume(chance > 1e-12)
    wanted = WantedRecords.of(schema_of(field.domain), field, compression, where, None)
    assert wanted is not None
    drawn = wanted.sample(ROWS, seed=1)
    cells = np.ravel_multi_index([drawn[name] for name in field.domain], field.domain.shape())
    assert mask.ravel()[cells].all()
    found = np.bincount(cells, minlength=joint.size).reshape(joint.shape)
    law = np.where(mask, joint, 0.0) / chance
    # The columns that the condition names are drawn together, each cell to within a record; others given them.
    rest = tuple(axis for axis, name in enumerate(field.domain) if f"{name} in" not in where)
    assert np.abs(found.sum(axis=rest) - ROWS * law.sum(axis=rest)).max() <= 1 + 1e-6
    assert np.abs(found - ROWS * law).max() <= 6 * np.sqrt(ROWS)


@settings(max_examples=many(75))
@given(fields(zeros=0.0), st.data())
def test_balanced_values_are_equally_frequent(made: Any, data: Any) -> None:
    field, _ = made
    name = data.draw(st.sampled_from(field.domain.names))
    wanted = WantedRecords.of(schema_of(field.domain), field, Compression.none(field.domain), None, name)
    assert wanted is not None
    counts = np.bincount(wanted.sample(ROWS, seed=2)[name], minlength=field.domain[name])
    assert counts.max() - counts.min() <= 1
