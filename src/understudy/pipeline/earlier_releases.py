"""What releases of earlier versions meant, said in today's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from understudy.domain import Boolean, Column, Schema


def released_schema(sections: Mapping[str, Any]) -> Schema:
    """The schema in a release's sections.

    Before codes could be left out of a release, a closed list that ruled out missing values had a slot for other
    ones all the same: such a release says so now.
    """
    schema = Schema.from_toml(sections["schema"], learned=True)
    if "never" in sections["compression"]:
        return schema
    return schema.with_columns({name: _with_slot(column) for name, column in schema.columns.items()})


def _with_slot(column: Column) -> Column:
    slotless = column.missing is False and column.outside is None and not column.bounded
    return replace(column, outside="other") if slotless and not isinstance(column, Boolean) else column
