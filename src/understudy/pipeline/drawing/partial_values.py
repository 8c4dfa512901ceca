"""Partial records in values, completed: what is given comes back as it is, and the rest is drawn given it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import read
from understudy.data.forms.declared_values import as_type
from understudy.domain import Schema
from understudy.domain.arrow_values import plain
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.columns.differences.difference_codec import DifferenceCodec
from understudy.errors import ParameterError
from understudy.mechanisms import Generator
from understudy.model import Field, Sample
from understudy.pipeline.drawing.conflicts import refuse_broken
from understudy.transforms.compress import Compression
from understudy.transforms.encode import Encoder

NOT_GIVEN = -1
HALF_A_RECORD = 0.5

Whole = npt.NDArray[np.int64]


class PartialValues:
    """Some cells of some records, as a person knows them: nulls and empty texts are those to be drawn."""

    def __init__(
        self,
        given: Any,
        schema: Schema,
        field: Generator,
        compression: Compression,
        seed: int | None = None,
    ) -> None:
        if not isinstance(field, Field):
            raise ParameterError("given: this release has no field to ask.", hint="sample without it.")
        self.table = read(given)
        self.rows = self.table.num_rows
        self.field, self.schema, self.compression = field, schema, compression
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
        refuse_broken(self.table, schema)
        encoder = Encoder(schema)
        cells: dict[str, Whole] = {}
        for name in sorted(schema.synthesised, key=lambda name: isinstance(schema[name], Difference)):
            column = schema[name]
            if name in self.table.column_names:
                if isinstance(column, Difference):
                    if self._with_starts(name, column, self._merged(cells), seed):
                        cells[column.after] = self._codes(column.after, encoder)
                    if column.after not in self.table.column_names:
                        continue  # every cell is empty
                cells[name] = self._codes(name, encoder)
        never = {name: np.isin(codes, compression.never.get(name, ())) for name, codes in cells.items()}
        for name, ruled_out in never.items():
            if ruled_out.any():
                _refuse(name, int(ruled_out.sum()), "hold what no record of this release has")
        self.codes = self._possible(cells)

    def _possible(self, cells: dict[str, Whole]) -> dict[str, Whole]:
        """What the rest is drawn given, in codes of the field: the cells, but for those that it has no record of.

        That a value has no records is often the noise's doing, and what is given is kept all the same. A cell of an
        ordered column is taken for the nearest value that has records; any other, and cells that have none
        together, last column first, are left out of what the rest is drawn given. Columns of constraints stay: what
        follows from them must follow from the cells as they are.
        """
        ruled = {name for rule in self.schema.rules for name in rule.columns}
        free = [name for name in cells if name not in ruled and not isinstance(self.schema[name], Difference)]
        codes = self._merged({**cells, **{name: self._likely(name, cells[name]) for name in free}})
        for name in reversed(free):
            odd = np.isneginf(self.field.log_likelihood(codes)) & (codes[name] >= 0)
            if not odd.any():
                break
            codes[name][odd] = NOT_GIVEN
        return codes

    def _likely(self, name: str, codes: Whole) -> Whole:
        """The nearest codes of the schema that have records; none where a column has no order."""
        merged = self.field.marginal(name).counts / np.maximum(self.compression.behind(name), 1)
        records = merged[self.compression.maps[name]]  # of codes that were merged, each one's part
        odd = (codes >= 0) & (records[codes] < HALF_A_RECORD)
        column = self.schema[name]
        steps = np.flatnonzero(records[: column.ranges if column.ordered else 0] >= HALF_A_RECORD)
        nearest = np.full(int(odd.sum()), NOT_GIVEN)
        if len(steps):
            nearest = steps[np.abs(steps - codes[odd][:, None]).argmin(axis=1)]
            nearest[codes[odd] >= column.ranges] = NOT_GIVEN  # slots have no neighbours
        found = codes.copy()
        found[odd] = nearest
        return found

    def _merged(self, cells: Mapping[str, Whole]) -> dict[str, Whole]:
        """Codes of the schema as the field has them."""
        return {
            name: np.where(codes < 0, NOT_GIVEN, self.compression.maps[name][codes])
            for name, codes in cells.items()
        }

    def _codes(self, name: str, encoder: Encoder) -> Whole:
        """The code of every cell of a column, -1 where none is given."""
        column, array = self.schema[name], plain(self.table[name])
        texts = pc.fill_null(array.cast(pa.string()), "").to_pylist()
        blank = _blank(array)
        codes = encoder.coded(self.table, [name])[name].astype(np.int64)
        if isinstance(column, Difference) and (astray := (codes == column.astray) & ~blank).any():
            _refuse(name, int(astray.sum()), f"lie before column {column.after!r}, or cannot be read")
        if isinstance(column, Difference):  # further than any record of the release: the furthest of them
            possible = self.compression.possible(name)
            codes[codes < column.ranges] = np.minimum(
                codes[codes < column.ranges], possible[possible < column.ranges].max(initial=0)
            )
        unread = (codes == column.missing_code) & ~blank
        unread &= np.array([text not in column.missing_texts for text in texts], bool)
        if unread.any():
            _refuse(name, int(unread.sum()), "cannot be read as its schema says, or are not on its list")
        codes[blank] = NOT_GIVEN
        return codes

    def _with_starts(
        self, name: str, column: Difference, cells: Mapping[str, Whole], seed: int | None
    ) -> bool:
        """Give what a column lies after where only the column itself is given: as far before it as the model has it.

        False where there was nothing to give.

        How far is drawn given the other cells, and taken not to depend on when the record begins.
        """
        blank = _blank(plain(self.table[name]))
        known = ~blank
        if column.after in self.table.column_names:
            known &= _blank(plain(self.table[column.after]))
        if not known.any():
            return False
        base = self.schema[column.after]
        if isinstance(base, Difference):
            raise ParameterError(
                f"given: column {name!r} is modelled by how far it lies after {column.after!r}, which is left open.",
                hint=f"give {column.after!r} too, or leave {name!r} empty to be drawn.",
            )
        rng = np.random.default_rng(seed)
        drawn = self.field.sample(self.rows, given=dict(cells), seed=int(rng.integers(2**63))).columns
        codes = self.compression.reverse({name: drawn[name]}, rng, spread="counts")[name]
        found = DifferenceCodec(column, base).before(plain(self.table[name]), codes, rng)
        found = pc.if_else(pa.array(known), found, pa.scalar(None, found.type))
        if column.after not in self.table.column_names:
            self.table = self.table.append_column(column.after, found)
            return True
        there = plain(self.table[column.after])
        whole = pc.coalesce(_filled(there), as_type(found, there.type))
        self.table = self.table.set_column(self.table.column_names.index(column.after), column.after, whole)
        return True

    def sample(self, n: int | None = None, *, seed: int | None = None) -> Sample:
        """The codes of the completed records, in their own order."""
        if not self.codes:
            return self.field.sample(self.rows, seed=seed)
        return self.field.sample(self.rows, given=self.codes, seed=seed)

    def restored(self, table: pa.Table) -> pa.Table:
        """The table with every cell that was given as it was given."""
        for place, name in enumerate(table.column_names):
            if name in self.table.column_names:
                table = table.set_column(place, name, self.known(name, plain(table.column(name))))
        return table

    def known(self, name: str, drawn: pa.Array) -> pa.Array:
        """A drawn column with every cell that was given as it was given."""
        if name not in self.table.column_names:
            return drawn
        given = as_type(_filled(plain(self.table[name])), drawn.type)
        return pc.coalesce(given, drawn) if given.type == drawn.type else drawn


def _blank(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Which cells are to be drawn: nulls and empty texts."""
    found: npt.NDArray[np.bool_] = np.asarray(pc.is_null(_filled(array)))
    return found


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
