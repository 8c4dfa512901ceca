r"""Identifiers: a fresh key for every synthetic record, which no real record had a part in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from understudy.domain.columns.made.key_pattern import KeyPattern
from understudy.domain.columns.made.looks import key_of
from understudy.domain.columns.made.made import Made, Place
from understudy.domain.columns.parts.fields import refuse, text, whole
from understudy.domain.columns.parts.sight import Sight

FEWEST = 1_000  # keys of a pattern; fewer are codes with a meaning, or will run out
_HIGHEST = 2**62
_HEX = np.array([f"{byte:02x}" for byte in range(256)])
_DASHES = (4, 6, 8, 10)  # the bytes of a UUID that a dash stands before


@dataclass(frozen=True)
class Id(Made):
    """Keys, no two alike in a sample: no cell of the column is ever read, unless it is the unit.

    More parameters: those of every `Column`.

    Parameters:
        kind: "integer" (the default), or "uuid".
        start: the first of the whole numbers; 1 by default.
        pattern: the form of keys that are texts, such as "PT-\\d{6}"; none by default.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "id"

    kind: Literal["integer", "uuid"] = "integer"
    start: int = 1
    pattern: str | None = None

    def _check(self) -> None:
        super()._check()
        if self.kind not in ("integer", "uuid"):
            refuse("kind", self.kind, "is not known.", 'write "integer" or "uuid", or give a pattern.')
        if not -_HIGHEST <= whole("start", self.start) <= _HIGHEST:
            refuse("start", self.start, "leaves too few numbers of 64 bits.", f"write at most {_HIGHEST}.")
        if self.start != 1 and (self.kind == "uuid" or self.pattern is not None):
            refuse("start", self.start, "is for keys that are numbers.", "drop it.")
        if self.pattern is None:
            return
        if self.kind == "uuid":
            refuse("pattern", self.pattern, 'contradicts kind = "uuid".', "drop one of the two.")
        size = KeyPattern.read(text("pattern", self.pattern)).size
        if size < FEWEST:
            refuse(
                "pattern",
                self.pattern,
                f"has {size} keys; at least {FEWEST} are needed.",
                "lengthen it, or make the column a category if its values have a meaning.",
            )

    @cached_property
    def _keys(self) -> KeyPattern:
        assert self.pattern is not None
        return KeyPattern.read(self.pattern)

    @property
    def keys(self) -> int | None:
        """How many keys there are; of UUIDs, so many that no two are ever drawn alike."""
        return None if self.pattern is None else self._keys.size

    def generated(self, rows: int, place: Place) -> pa.Array:
        if self.pattern is not None:
            return self._keys.keys(rows, place.first, place.seed)
        if self.kind == "uuid":
            return _uuids(rows, place.random())
        first = self.start + place.first
        return pa.array(np.arange(first, first + rows, dtype=np.int64))

    @classmethod
    def drafted(cls, sight: Sight) -> Id | None:
        seen = key_of(sight)
        return None if seen is None else cls(**seen.fields, comment=seen.comment)


def _uuids(rows: int, random: np.random.Generator) -> pa.Array:
    """Random UUIDs (version 4), as texts: 122 random bits, so that two alike are not to be expected."""
    drawn = random.integers(256, size=(rows, 16), dtype=np.uint8)
    drawn[:, 6] = drawn[:, 6] & 0x0F | 0x40
    drawn[:, 8] = drawn[:, 8] & 0x3F | 0x80
    written = np.full((rows, 36), "-", "U1")
    places = [2 * byte + sum(byte >= dash for dash in _DASHES) for byte in range(16)]
    pairs = _HEX[drawn].view("U1").reshape(rows, 32)
    for byte, place in enumerate(places):
        written[:, place : place + 2] = pairs[:, 2 * byte : 2 * byte + 2]
    return pa.array(written.view("U36").ravel(), pa.string())
