"""Partial records in values, completed: what is given comes back as it is, and the rest is drawn given it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import read
from understudy.data.forms.declared_values import as_type
from understudy.domain import Schema
from understudy.domain.arrow_values import plain
from understudy.errors import ParameterError
from understudy.mechanisms import Generator
from understudy.model import Field, Sample
from understudy.transforms.compress import Compression

NOT_GIVEN = -1


class PartialValues:
    """Some cells of some records, as a person knows them: nulls and empty texts are those to be drawn."""

    def __init__(self, given: Any, schema: Schema, field: Generator, compression: Compression) -> None:
        if not isinstance(field, Field):
            raise ParameterError("given: this release has no field to ask.", hint="sample without it.")
        self.table = read(given)
        self.rows = self.table.num_rows
        self.field, self.schema = field, schema
        known = [*schema.synthesised, *schema.made]
        for name in self.table.column_names:
            if name in schema.columns and name not in known:
                raise ParameterError(
                    f"given: column {name!r} is worked out from others, or is not synthesised.",
                    hint="leave it out, and give those.",
                )
            if name not in known:
                raise ParameterError(
                    f"given: column {name!r} is not in the release.", hint=f"it has {', '.join(known)}."
                )
        cells = {name: self._codes(name) for name in schema.synthesised if name in self.table.column_names}
        never = {name: np.isin(codes, compression.never.get(name, ())) for name, codes in cells.items()}
        for name, ruled_out in never.items():
            if ruled_out.any():
                _refuse(name, int(ruled_out.sum()), "hold what no record of this release has")
        self.codes = {
            name: np.where(codes < 0, NOT_GIVEN, compression.maps[name][codes])
            for name, codes in cells.items()
        }

    def _codes(self, name: str) -> npt.NDArray[np.int64]:
        """The code of every cell of a column, -1 where none is given."""
        column, array = self.schema[name], plain(self.table[name])
        codes = column.codec().encode(array).astype(np.int64)
        texts = pc.fill_null(array.cast(pa.string()), "").to_pylist()
        blank = np.array([text == "" for text in texts], bool)
        unread = (codes == column.missing_code) & ~blank
        unread &= np.array([text not in column.missing_texts for text in texts], bool)
        if unread.any():
            _refuse(name, int(unread.sum()), "cannot be read as its schema says, or are not on its list")
        codes[blank] = NOT_GIVEN
        return codes

    def sample(self, n: int | None = None, *, seed: int | None = None) -> Sample:
        """The codes of the completed records, in their own order."""
        if not self.codes:
            return self.field.sample(self.rows, seed=seed)
        return self.field.sample(self.rows, given=self.codes, seed=seed)

    def restored(self, table: pa.Table) -> pa.Table:
        """The table with every cell that was given as it was given."""
        for place, name in enumerate(table.column_names):
            if name in self.table.column_names:
                drawn = plain(table.column(name))
                given = as_type(_filled(plain(self.table[name])), drawn.type)
                whole = pc.coalesce(given, drawn) if given.type == drawn.type else drawn
                table = table.set_column(place, name, whole)
        return table


def _filled(array: pa.Array) -> pa.Array:
    """The cells without empty texts, which are no values."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return array
    return pc.if_else(pc.equal(array, ""), pa.scalar(None, array.type), array)


def _refuse(name: str, cells: int, why: str) -> None:
    raise ParameterError(
        f"given: {cells} cells of column {name!r} {why}.",
        hint="correct them, or leave them empty to be drawn.",
    )
