"""Truths as a pair of words: Y and N, ja and nein, X and the empty cell."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain.formats.cell_format import NEITHER, CellFormat


class WordFormat(CellFormat):
    """Two words, that for true and that for false; their case counts only where it tells them apart."""

    def __init__(self, true: str, false: str) -> None:
        self.words = {"true": true.strip(" \t"), "false": false.strip(" \t")}
        self.folds = true.lower() != false.lower()

    def reads_type(self, kind: pa.DataType) -> bool:
        return bool(pa.types.is_boolean(kind))

    def read(self, texts: pa.Array) -> pa.Array:
        """ "true" or "false" for each text, `NEITHER` for another; null for the empty text where it is no word."""
        shown = pc.utf8_lower(texts) if self.folds else texts
        known = [word.lower() if self.folds else word for word in self.words.values()]
        place = pc.index_in(shown, value_set=pa.array(known, pa.string()))
        truth = pc.if_else(pc.equal(place, 0), "true", "false")
        return pc.if_else(pc.is_null(place), pc.if_else(pc.equal(shown, ""), None, NEITHER), truth)

    def write(self, values: pa.Array) -> pa.Array:
        """The word of each truth; for the empty word an empty cell, which is null."""
        true, false = (pa.scalar(word or None, pa.string()) for word in self.words.values())
        return pc.if_else(values, true, false)
