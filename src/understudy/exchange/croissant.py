"""A release as a data set in the form Croissant 1.1: its files, its fields, where it comes from, and how."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.domain import Column
from understudy.errors import FileError
from understudy.exchange.release_card import card
from understudy.pipeline import Release

CONFORMS = "http://mlcommons.org/croissant/1.1"
_TYPES = {
    "integer": "sc:Integer",
    "number": "sc:Float",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "time": "sc:Time",
    "boolean": "sc:Boolean",
}
_FORMATS = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".parquet": "application/x-parquet"}
_FORMATS |= {
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".arrow": "application/vnd.apache.arrow.file",
}
# The words of the form, each with the vocabulary it is from.
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def document_of(
    release: Release, files: Mapping[str, str | os.PathLike[str]], data: str | None
) -> dict[str, Any]:
    """The data set: `files` by the names that it lists them under; `data` names the one with synthetic records."""
    name = release.schema.name or "table"
    said = card(release)
    privacy = said["privacy"]
    text = f"Synthetic records that stand in for the table {name!r}. It is {privacy['statement']}"
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "name": name,
        "conformsTo": CONFORMS,
        "description": text,
        "isLiveDataset": False,
        "keywords": ["synthetic data", "differential privacy"],
        "measurementTechnique": f"{said['mechanism']['name'] or 'noisy marginals'}: "
        + "; ".join(said["mechanism"]["primitives"]),
        "prov:wasDerivedFrom": {
            "@type": "prov:Entity",
            "prov:label": f"the private table {name!r}, which is not published",
        },
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": "measured with noise, fitted, sampled: " + "; ".join(said["post_processing"]),
        },
        "prov:wasAttributedTo": {
            "@type": ["prov:SoftwareAgent", "prov:Agent"],
            "prov:label": f"understudy {said['software']['version']}",
        },
        "rai:personalSensitiveInformation": f"None of a person's own: {privacy['statement']}",
        "rai:dataCollectionType": ["Synthetic data generation"],
        "variableMeasured": [
            {"@type": "PropertyValue", "name": "epsilon", "value": privacy["epsilon"]},
            {"@type": "PropertyValue", "name": "delta", "value": privacy["delta"]},
        ],
        "distribution": [_file(listed, path) for listed, path in files.items()],
        "recordSet": [] if data is None else [_records(name, release.schema.columns, data)],
    }


def _file(name: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(
            f"cannot read {os.fspath(path)!r}: {error.strerror}.", hint="check the path."
        ) from None
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": _FORMATS.get(Path(path).suffix.lower(), "application/octet-stream"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(name: str, columns: Mapping[str, Column], data: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "records",
        "name": "records",
        "description": f"One record each of the synthetic table {name!r}.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"records/{column}",
                "name": column,
                "description": said.description or f"the column {column!r}",
                "dataType": _TYPES.get(said.type, "sc:Text"),
                "source": {"fileObject": {"@id": data}, "extract": {"column": column}},
            }
            for column, said in columns.items()
        ],
    }
