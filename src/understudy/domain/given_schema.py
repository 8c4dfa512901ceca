"""A schema as people give it to a function: itself, or the path of its file."""

from __future__ import annotations

import os

from understudy.domain.schema import Schema
from understudy.errors import ParameterError


def given_schema(schema: Schema | str | os.PathLike[str]) -> Schema:
    """The schema itself, or that of the file; whatever else is refused."""
    if isinstance(schema, str | os.PathLike):
        return Schema.load(schema)
    if not isinstance(schema, Schema):
        raise ParameterError(
            f"schema is a {type(schema).__name__}, neither a Schema nor the path of one.",
            hint='write us.Schema({"age": us.Integer(0, 120)}), or draft one: us.draft_schema(data).',
        )
    return schema
