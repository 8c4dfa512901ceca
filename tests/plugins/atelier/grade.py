"""Grades from A to F, capital or not: as simple as a column type gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Column, arrays
from understudy.domain.codes import Codes
from understudy.domain.columns.parts.codec import Codec, Within

GRADES = "ABCDEF"


@dataclass(frozen=True)
class Grade(Column):
    """A grade from A (code 0) to F (code 5)."""

    type = "grade"
    bounded = False

    def _check(self) -> None:
        pass

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ()

    @property
    def count(self) -> int:
        return len(GRADES)

    def codec(self) -> GradeCodec:
        return GradeCodec(self)

    def value_labels(self) -> list[str]:
        return list(GRADES)


class GradeCodec(Codec[Grade]):
    """A grade's place in the alphabet; anything else goes where the column says."""

    arrow_type = pa.string()

    def encode(self, array: pa.Array) -> Codes:
        return arrays.by_distinct(array, self._code, self.column.null_code, self.dtype)

    def _code(self, value: Any) -> int:
        place = GRADES.find(str(value).upper()) if len(str(value)) == 1 else -1
        outside = self.column.outside_code
        return place if place >= 0 else self.column.null_code if outside is None else outside

    def decode(self, codes: npt.NDArray[Any], rng: np.random.Generator, within: Within) -> pa.Array:
        return self.with_slots(codes, lambda wide: np.array(list(GRADES))[wide])

    def reading_type(self) -> pa.DataType:
        return pa.string()
