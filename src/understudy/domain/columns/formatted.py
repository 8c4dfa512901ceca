"""Columns whose cells may be written in a form of their own: `format` says which, and values come back in it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import arrays
from understudy.domain.arrow_values import values_of
from understudy.domain.cell_text import text_of
from understudy.domain.codes import Codes
from understudy.domain.columns.column import Column
from understudy.domain.columns.parts.codec import Codec, Within
from understudy.domain.formats.cell_format import NEITHER, CellFormat


@dataclass(frozen=True, kw_only=True)
class FormattedColumn(Column):
    """A column with a `format`, or None where its cells are in the plain grammar."""

    format: Any = None

    @cached_property
    def form(self) -> CellFormat | None:
        """The format, ready to read and write; refused if it makes no sense."""
        return None if self.format is None else self._form()

    @abstractmethod
    def _form(self) -> CellFormat:
        """The format that the field describes."""

    @abstractmethod
    def _plain_codec(self) -> Codec[Any]:
        """Values in the plain grammar to codes and back."""

    def codec(self) -> Codec[Any]:
        return self._plain_codec() if self.form is None else FormattedCodec(self, self.form)

    @property
    def misfit_cause(self) -> str:
        return (
            self.unread
            if self.format is None
            else "Its cells may be written in another form than its format."
        )

    def plain_values(self, array: pa.Array) -> pa.Array:
        return array if self.form is None else self.form.values(array)

    def written(self, values: pa.Array) -> pa.Array:
        return values if self.form is None else self.form.write(values)

    def plain_text(self, text: str) -> str:
        return next(iter(self._plain_texts((text,))), text)

    @property
    def plain_marks(self) -> tuple[str, ...]:
        """The texts that mean missing, as the plain grammar has them; those that only a format can tell left out."""
        return tuple(dict.fromkeys(self._plain_texts(self.missing_texts)))

    def _plain_texts(self, texts: tuple[str, ...]) -> list[str]:
        """The texts that the format can read, rewritten in the plain grammar."""
        if self.form is None:
            return list(texts)
        found = values_of(self.form.read(_trimmed(texts)))
        return [text_of(value) for value in found if value not in (None, NEITHER)]

    @property
    def unformatted(self) -> Self:
        """The column without its format: its values are in the plain grammar."""
        marks = (self.plain_marks or True) if self.missing_texts else self.missing
        return replace(self, format=None, missing=marks)


def _trimmed(texts: tuple[str, ...]) -> pa.Array:
    return pa.array([text.strip(" \t") for text in texts], pa.large_string())


class FormattedCodec(Codec[FormattedColumn]):
    """Cells by their format, then as in the plain column; values back in the same format."""

    def __init__(self, column: FormattedColumn, form: CellFormat) -> None:
        super().__init__(column)
        self.form = form
        self.inner = column.unformatted._plain_codec()
        self.arrow_type = form.arrow_type
        self.missing = _trimmed(column.missing_texts)

    def encode(self, array: pa.Array) -> Codes:
        if self.form.reads_type(array.type):
            return self.inner.encode(self.form.values(array))
        texts, places = arrays.distinct_texts(array)
        codes = self.inner.encode(self.form.read(texts))
        if len(self.missing):
            marks = pc.is_in(texts, value_set=self.missing)
            codes[np.asarray(marks)] = self.column.null_code
        return arrays.gathered(places, codes, self.column.null_code)

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.form.write(self.inner.decode(codes, rng, within))

    def reading_type(self) -> pa.DataType:
        return pa.string()
