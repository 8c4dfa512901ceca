"""The studio's folder: tables that were chosen, what is publicly said of each, and every run; for this user alone."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import understudy as us
from understudy.data.files.atomic import whole_file
from understudy.errors import FileError, ParameterError
from understudy.pipeline.draft import DRAFTED
from understudy.pipeline.sources.registry import is_address, name_of
from understudy.studio.work_folder import WorkFolder

FOLDER = "understudy-studio"
_ID = re.compile(r"[0-9a-f]{12}\Z")


def new_id() -> str:
    """A name for a table or a run that nobody can guess."""
    return secrets.token_hex(6)


def write_private(path: Path, text: str) -> None:
    """Write a file, whole or not at all, that this user alone can read."""
    with whole_file(path, confidential=True) as file:
        file.write(text.encode())


@dataclass(frozen=True)
class ChosenTable:
    """A private table that was chosen, by its path or address, and the schema that is publicly said of it."""

    id: str
    folder: Path

    @cached_property
    def _said(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads((self.folder / "source.json").read_text(encoding="utf-8"))
        return said

    @property
    def data(self) -> str:
        """Where the records are; an address may hold a password, so no page shows it."""
        return str(self._said["data"])

    @property
    def ledger(self) -> us.Ledger:
        """Where runs on it are charged."""
        return us.Ledger(self.ledger_path)

    @property
    def ledger_path(self) -> str | None:
        """The ledger's file; None for the one of this user."""
        return self._said["ledger"] if self._said["ledger"] is None else str(self._said["ledger"])

    @property
    def place(self) -> str:
        """Where the records are, as a page may show it."""
        return "a table at an address that you gave" if is_address(self.data) else self.data

    @property
    def is_address(self) -> bool:
        """Whether the records are at an address, which may hold a password."""
        return is_address(self.data)

    @property
    def schema(self) -> us.Schema:
        """What is publicly said of the table."""
        return us.Schema.load(self.folder / "schema.toml")

    @property
    def name(self) -> str:
        """The ledger's key."""
        return self.schema.name or name_of(self.data) or "table"

    def state(self, schema: us.Schema) -> None:
        """Write another schema in place of the one that is there."""
        write_private(self.folder / "schema.toml", schema.to_toml())

    @property
    def unread(self) -> bool:
        """Whether its schema was drafted from the records, and nobody has said that they read it."""
        return DRAFTED in self.schema.comment


@dataclass(frozen=True)
class Run(WorkFolder):
    """One run on a table: what it was asked for, and what came of it."""

    @property
    def id(self) -> str:
        """The run's name, which is a part of its label in the ledger."""
        return self.folder.name

    @property
    def release_path(self) -> Path:
        return self.folder / "table.release"

    @property
    def synthetic_path(self) -> Path:
        return self.folder / "synthetic.parquet"

    @property
    def report_path(self) -> Path:
        return self.folder / "report.html"

    @property
    def schema(self) -> us.Schema:
        """The schema that the run was given."""
        return us.Schema.load(self.folder / "schema.toml")

    @property
    def comparison(self) -> WorkFolder:
        """The work of comparing its records with the private ones."""
        return WorkFolder(self.folder / "comparison")


class Workspace:
    """All tables and runs of one folder."""

    def __init__(self, start: Path, ledger: str | None = None) -> None:
        self.start, self.ledger_path = start.resolve(), ledger
        self.folder = self.start / FOLDER
        try:
            for folder in (self.folder, self.folder / "tables", self.folder / "runs"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)  # also where it was there before
        except OSError as fault:
            raise FileError(
                f"the studio cannot keep its files in {str(self.folder)!r}: {fault.strerror}.",
                hint="start it in a folder of yours.",
            ) from None

    def add(self, data: str, schema: us.Schema, *, ledger: str | None = None) -> ChosenTable:
        """A table that was chosen, with what is said of it; the same place is the same table."""
        for known in self.tables():
            if known.data == data:
                return known
        table = ChosenTable(new_id(), Path())
        table = ChosenTable(table.id, self.folder / "tables" / table.id)
        table.folder.mkdir(mode=0o700)
        table.state(schema)
        source = {"data": data, "ledger": ledger or self.ledger_path}
        write_private(table.folder / "source.json", json.dumps(source))
        return table

    def tables(self) -> list[ChosenTable]:
        """Every table that was chosen, the last one first."""
        found = [path for path in (self.folder / "tables").iterdir() if (path / "source.json").exists()]
        return [ChosenTable(path.name, path) for path in sorted(found, key=_made, reverse=True)]

    def table(self, name: str) -> ChosenTable:
        """The table of that name."""
        folder = self.folder / "tables" / _checked(name)
        if not (folder / "source.json").exists():
            raise ParameterError("there is no such table here.", hint="choose one on the first page.")
        return ChosenTable(name, folder)

    def open_run(self, name: str, table: ChosenTable, settings: Mapping[str, Any]) -> Run:
        """The run of that name, made where there is none: asked for twice, it is the same run and not another."""
        run = Run(self.folder / "runs" / _checked(name))
        if not run.exists:
            run.folder.mkdir(mode=0o700, exist_ok=True)
            write_private(run.folder / "schema.toml", table.schema.to_toml())
            run.describe({"work": "fit", "table": table.id, "label": f"studio {name}", **settings})
        return run

    def runs(self, table: str | None = None) -> list[Run]:
        """Every run, or those on one table, the last one first."""
        found = [Run(path) for path in (self.folder / "runs").iterdir()]
        known = [run for run in found if run.exists and table in (None, run.settings["table"])]
        return sorted(known, key=lambda run: _made(run.folder / "settings.json"), reverse=True)

    def run(self, name: str) -> Run:
        """The run of that name."""
        run = Run(self.folder / "runs" / _checked(name))
        if not run.exists:
            raise ParameterError("there is no such run here.", hint="the first page lists all of them.")
        return run


def _checked(name: str) -> str:
    """A name that can be a folder's, and nothing else."""
    if not _ID.match(name):
        raise ParameterError("there is nothing here by that name.", hint="go back to the first page.")
    return name


def _made(path: Path) -> float:
    return os.stat(path).st_mtime
