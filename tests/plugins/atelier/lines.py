"""Records as lines of JSON, the columns' names first: as simple as a source gets. `lines:people.jsonl`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from understudy.pipeline.sources.in_memory import InMemory
from understudy.pipeline.sources.records import Reading
from understudy.pipeline.sources.registry import SourceKind


@dataclass(frozen=True)
class LinesSource:
    """One file, each of its lines a list of texts."""

    address: str

    @property
    def path(self) -> Path:
        return Path(self.address.removeprefix("lines:"))

    @property
    def name(self) -> str:
        return self.path.stem

    def open(self, reading: Reading) -> InMemory:
        table = self.first_records()
        snapshot = f"{self.path.resolve()} {os.stat(self.path).st_mtime_ns}"
        for transform in reading.transforms:
            table = transform.forward(table)
        return InMemory(table, "arrow", frozenset(table.column_names), snapshot)

    def first_records(
        self,
        most: int | None = None,
        *,
        dialect: object = None,
        types: Mapping[str, pa.DataType] | None = None,
    ) -> pa.Table:
        names, *rows = map(
            json.loads, self.path.read_text().splitlines()[: None if most is None else most + 1]
        )
        return pa.table(
            {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)}
        )


KIND = SourceKind("lines", f"{__name__}:LinesSource", "lines of JSON: lines:people.jsonl", ("lines:",))
