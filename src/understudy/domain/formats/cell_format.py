"""What every format offers: texts to values that a plain column reads, and values back to texts."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain import arrays

NEITHER = (
    "?"  # how a text that is neither of two words is handed on: it reads as no truth, and is not missing
)


class CellFormat(ABC):
    """The form of a column's cells. `read` never raises on a text, and reads each by itself."""

    arrow_type: pa.DataType = pa.string()  # in which values are written

    @abstractmethod
    def reads_type(self, kind: pa.DataType) -> bool:
        """Whether values of this Arrow type are read as such, and not by their texts."""

    @abstractmethod
    def read(self, texts: pa.Array) -> pa.Array:
        """The value of each text, without blanks around it, as a plain column reads it; null where there is none."""

    @abstractmethod
    def write(self, values: pa.Array) -> pa.Array:
        """The text of each value."""

    def values(self, array: pa.Array) -> pa.Array:
        """The values of a whole column."""
        if self.reads_type(array.type):
            return array
        texts, places = arrays.distinct_texts(array)
        return self.read(texts).take(places)


def joined(*pieces: pa.Array | str, between: str = "") -> pa.Array:
    """The pieces of each text put together; a plain text is the same piece for all."""
    kind = pa.large_string()
    parts = [pa.scalar(piece, kind) if isinstance(piece, str) else piece.cast(kind) for piece in pieces]
    return pc.binary_join_element_wise(*parts, pa.scalar(between, kind))
