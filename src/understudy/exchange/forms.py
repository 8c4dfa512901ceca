"""Statements and releases in the forms of others: one function reads, two write, by the form's name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from understudy.domain import Schema
from understudy.errors import ParameterError
from understudy.exchange import croissant, csvw, json_schema, release_card, sdv_metadata, table_schema
from understudy.exchange.statements import Statement, read_json
from understudy.pipeline import Release, load

# A form's name -> how people call it, and what reads it.
READ: dict[str, tuple[str, Callable[[Mapping[str, Any], str | None], Statement]]] = {
    "frictionless": (table_schema.TITLE, table_schema.statement_of),
    "csvw": (csvw.TITLE, csvw.statement_of),
    "sdv": (sdv_metadata.TITLE, sdv_metadata.statement_of),
}
SCHEMA_FORMS = {"frictionless": table_schema.document_of, "csvw": csvw.document_of}
RELEASE_FORMS = ("croissant", "card")


def import_schema(
    statement: Mapping[str, Any] | str | os.PathLike[str],
    form: str | None = None,
    *,
    name: str | None = None,
    table: str | None = None,
) -> Schema:
    """A schema from what another tool says of a table, for a person to review.

    Whoever wrote the statement may have looked at the records. So it is treated as a draft: NOT PRIVATE until a
    person has read every line, and `fit` warns as long as its comment says so. What the statement leaves out is
    learned privately.

    Parameters:
        statement: a JSON file, or what it holds: a Frictionless Table Schema (also in a resource or a package),
            CSV on the Web (also with the terms for differential privacy), or metadata of SDV.
        form: "frictionless", "csvw" or "sdv"; told from the statement by default.
        name: the table's name, which is the ledger's key; by default the statement's own.
        table: which of several tables it is about; needed only where there are several.

    Returns:
        A schema whose comments say what to check; `schema.save("people.toml")` writes it to be edited.

    Raises:
        FileError: the file cannot be read, or is not JSON.
        SchemaError: the statement cannot be used; the message says what of it.
        ParameterError: the form is not known.

    Example:
        >>> import understudy as us
        >>> said = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
        >>> us.import_schema(said, name="people")["age"].max
        99
    """
    document = read_json(statement)
    called = form or _form_of(document)
    if called not in READ:
        raise ParameterError(f"form {called!r} is not known.", hint=f"give one of {', '.join(READ)}.")
    title, read = READ[called]
    found = read(document, table)
    own = Path(statement).stem if isinstance(statement, str | os.PathLike) else None
    return found.schema(title, name or found.table.get("name") or own)


def _form_of(document: Mapping[str, Any]) -> str:
    """The form that a statement is in, by the keys it has."""
    if "tableSchema" in document or "csvw" in str(document.get("@context", "")):
        return "csvw"
    if "METADATA_SPEC_VERSION" in document or isinstance(document.get("columns"), Mapping):
        return "sdv"
    if isinstance(document.get("tables"), Mapping):
        return "sdv"
    if "fields" in document or "schema" in document or "resources" in document:
        return "frictionless"
    raise ParameterError("the statement is in no form that is known.", hint=f"say which: {', '.join(READ)}.")


def export_schema(schema: Schema | str | os.PathLike[str] | None, form: str) -> dict[str, Any]:
    """A schema in a form that other tools read, as plain JSON values.

    What the form has no word for stands under the key `understudy`: `import_schema` gives the same schema again.

    Parameters:
        schema: the schema, or the path of its file; None for "json-schema", which is about all schema files.
        form: "frictionless" (Table Schema), "csvw" (CSV on the Web with the terms for differential privacy), or
            "json-schema": the JSON Schema by which editors check and complete schema files.

    Returns:
        A dictionary to be written as JSON. It says no more than the schema does.

    Raises:
        FileError: the schema's file cannot be read.
        ParameterError: the form is not known.

    Example:
        >>> import understudy as us
        >>> us.export_schema("people.toml", "frictionless")["fields"][0]["constraints"]
        {'enum': ['F', 'M']}
    """
    if form == "json-schema":
        return json_schema.document()
    if form not in SCHEMA_FORMS or schema is None:
        known = ", ".join((*SCHEMA_FORMS, "json-schema"))
        raise ParameterError(f"a schema has no form {form!r}.", hint=f"give one of {known}.")
    return SCHEMA_FORMS[form](schema if isinstance(schema, Schema) else Schema.load(schema))


def export_release(
    release: Release | str | os.PathLike[str], form: str, *, data: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """A release in a form that others read, as plain JSON values: public as they stand.

    Parameters:
        release: the release, or the path of its file, which a Croissant description then lists.
        form: "croissant" (a data set in Croissant 1.1, with its provenance and method), or "card" (as the registry of
            deployments of differential privacy asks: unit, epsilon, delta, neighbours, mechanism, accounting).
        data: a file of synthetic records that were drawn from it, for a Croissant description; none by default.

    Returns:
        A dictionary to be written as JSON.

    Raises:
        FileError: a file cannot be read.
        ReleaseError: the release cannot be opened.
        ParameterError: the form is not known.

    Example:
        >>> import understudy as us
        >>> us.export_release("people.release", "card")["privacy"]["epsilon"]
        1.0
    """
    if form not in RELEASE_FORMS:
        raise ParameterError(
            f"a release has no form {form!r}.", hint=f"give one of {', '.join(RELEASE_FORMS)}."
        )
    found = release if isinstance(release, Release) else load(release)
    if form == "card":
        return release_card.card(found)
    listed = [path for path in (None if isinstance(release, Release) else release, data) if path is not None]
    files = {Path(path).name: path for path in listed}
    return croissant.document_of(found, files, None if data is None else Path(data).name)
