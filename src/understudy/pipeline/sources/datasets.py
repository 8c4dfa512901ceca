"""Records of a dataset of Arrow's, of a Delta table and of an Iceberg table, streamed through their libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from understudy.data.engines.batch_source import BatchSource, open_dataset, open_delta, open_iceberg
from understudy.data.files.file_set import table_name
from understudy.data.files.lake_folder import DELTA, lake_at
from understudy.domain.dialect import Dialect
from understudy.pipeline.sources.streamed import StreamedSource

ICEBERG_NOTES = (".metadata.json", ".metadata.json.gz")


class DatasetSource(StreamedSource):
    """A `pyarrow.dataset.Dataset`, over whatever file system it is made."""

    @property
    def name(self) -> str | None:
        """A dataset has no name."""
        return None

    def scannable(self, dialect: Dialect | None) -> BatchSource:
        return open_dataset(self.data)


class DeltaSource(StreamedSource):
    """The folder of a Delta table."""

    @property
    def name(self) -> str | None:
        """The folder's name."""
        return table_name(self._folder)

    @property
    def places(self) -> tuple[str, ...]:
        """The folder."""
        return (self._folder,)

    def scannable(self, dialect: Dialect | None) -> BatchSource:
        return open_delta(self._folder)

    @property
    def _folder(self) -> str:
        return str(os.fspath(self.data)).removeprefix("delta:")


class IcebergSource(StreamedSource):
    """The file that describes the newest state of an Iceberg table; only a catalog knows which one that is."""

    @property
    def name(self) -> str | None:
        """The name of the table's folder."""
        return table_name(*self.places)

    @property
    def places(self) -> tuple[str, ...]:
        """The table's folder, in which `metadata` lies."""
        return (str(Path(self._notes).absolute().parent.parent),)

    def scannable(self, dialect: Dialect | None) -> BatchSource:
        return open_iceberg(self._notes)

    @property
    def _notes(self) -> str:
        return str(os.fspath(self.data)).removeprefix("iceberg:")


def is_delta(data: Any) -> bool:
    """Whether the data is the path of a folder with the log of a Delta table."""
    if not isinstance(data, str | os.PathLike):
        return False
    try:
        found = lake_at(Path(data))
    except (OSError, ValueError):
        return False
    return found is not None and found.kind == DELTA


def is_iceberg(data: Any) -> bool:
    """Whether the data is the path of a file that describes an Iceberg table."""
    return isinstance(data, str | os.PathLike) and os.fspath(data).endswith(ICEBERG_NOTES)


__all__ = ["DatasetSource", "DeltaSource", "IcebergSource", "is_delta", "is_iceberg"]
