"""Synthetic records in one file of any kind, streamed, and written as the private table's text file was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from understudy.data import Writer
from understudy.data.files.writing import text_dialect
from understudy.data.read_ahead import read_ahead
from understudy.domain.dialect import Dialect
from understudy.pipeline.drawing.samples import rows_at_once
from understudy.pipeline.generation import MOST_ROWS
from understudy.pipeline.sources.registry import first_records
from understudy.transforms.encode import missing_text

if TYPE_CHECKING:
    from understudy.pipeline.drawing.samples import Samples


def sample_to_file(
    release: Samples,
    output: str | os.PathLike[str],
    rows: int | None = None,
    *,
    seed: int | None = None,
    spreadsheet: bool = False,
    dialect: Dialect | None = None,
    where: str | None = None,
    balance: str | None = None,
    given: str | None = None,
    stage: Callable[[str], None] = lambda _: None,
) -> int:
    """Draw so many records (the noisy total by default) into a file, whole or not at all; how many there are.

    `where` and `balance` say which records; `given` is a file of partial ones to complete. A text file is written as
    the private one was, unless `dialect` says otherwise; `spreadsheet` keeps texts from being run as formulas.
    """
    written, columns = 0, release.schema.columns
    with Writer(
        output,
        missing=missing_text(release.schema),
        spreadsheet=spreadsheet,
        dialect=text_dialect(output, release.form.dialect.over(release.schema.dialect), dialect),
        numbers={name for name, column in columns.items() if column.type in ("integer", "number", "boolean")},
    ) as file:
        if given is None:
            chunk = rows_at_once(len(columns))
            tables: Iterable[Any] = release.sample_chunks(
                rows, seed=seed, chunk=chunk, where=where, balance=balance
            )
        else:
            partial = first_records(given, MOST_ROWS)
            tables = [release.sample(rows, seed=seed, given=partial, where=where, balance=balance)]
        for table in read_ahead(iter(tables), 1):  # drawn while the one before it is written
            stage(f"writing records {written + 1:,} to {written + table.num_rows:,}")
            file.write(table)
            written += table.num_rows
            del table
            stage(f"generating records: {written:,} are written")
    return written
