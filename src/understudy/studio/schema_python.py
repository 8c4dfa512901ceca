"""A schema in Python, beside its TOML: the same statement for a script."""

from __future__ import annotations

import pprint

import understudy as us


def python_of(schema: us.Schema) -> str:
    """The text of a Python expression that is this schema, but for its comments."""
    columns = {name: column.fields() for name, column in schema.columns.items()}
    table = {
        field: value
        for field in (
            "name",
            "rows",
            "unit",
            "max_records_per_unit",
            "delimiter",
            "encoding",
            "quoting",
            "line_end",
        )
        if (value := getattr(schema, field)) is not None
    }
    table |= {field: value for field in ("quote", "escape") if (value := getattr(schema, field)) is not None}
    rules = [rule.said() for rule in schema.rules]
    lines = [f"    {_text(columns)},", *(f"    {field}={value!r}," for field, value in table.items())]
    lines += [f"    constraints={_text(rules)},"] if rules else []
    dates = "import datetime\n\n" if "datetime." in "".join(lines) else ""
    return f"{dates}import understudy as us\n\nschema = us.Schema(\n" + "\n".join(lines) + "\n)\n"


def _text(value: object) -> str:
    return pprint.pformat(value, width=100, sort_dicts=False).replace("\n", "\n    ")
