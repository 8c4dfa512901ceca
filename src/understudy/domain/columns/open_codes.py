"""Codes of one width with leading zeros, where no schema lists them: postal codes, wards, branches.

Those that are frequent enough are found by name. What lies between them is learned as numbers of that width, so that
a column of thousands of codes comes back as codes and not as empty cells.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from understudy.domain.columns.category import Category
from understudy.domain.columns.column import Column
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.parts.noisy_counts import SURE, NoisyCounts


@dataclass(frozen=True)
class OpenCodes(Column):
    """Codes of so many digits, all to be learned: those that are frequent by name, the others as numbers."""

    type = "codes"  # of no schema file: what is learned is a category or whole numbers
    bounded = False
    learns = ("values", "bounds", "bins")

    width: int = 2

    @property
    def unlearned(self) -> tuple[str, ...]:
        return ("values",)

    @property
    def count(self) -> int:
        return 0

    def codec(self) -> Any:
        return Category(discover=True, missing=self.missing).codec()

    def value_labels(self) -> list[str]:
        return []

    def with_values(self, found: tuple[Any, ...]) -> Column:
        """Whole numbers of this width, those that were found apart from all others."""
        digits = [str(value) for value in found if str(value).isascii() and str(value).isdigit()]
        meant = {int(text) for text in self.missing_texts if text.isascii() and text.isdigit()}
        special = tuple(sorted({int(text) for text in digits if len(text) <= self.width} - meant))
        said: dict[str, Any] = {
            "missing": self.missing,
            "description": self.description,
            "comment": self.comment,
        }
        return CodesBetween(format="0" * self.width, special=special, **said)


@dataclass(frozen=True)
class CodesBetween(Integer):
    """Codes that were found, and what else there is between bounds that are being learned."""

    alone: bool = False  # whether nothing but the codes that were found holds more than noise

    def with_bounds(self, grid: Self, counts: NoisyCounts) -> Self:
        between = counts.first(grid.ranges)
        alone = bool(self.special) and not (between.values > SURE * between.stddev).any()
        return replace(super().with_bounds(grid, counts), alone=alone)

    def with_bins(self, counts: NoisyCounts) -> Column:  # type: ignore[override]
        """Whole numbers with bins; the list of those found where nothing else holds more than noise."""
        if self.alone:
            texts = tuple(f"{code:0{len(self.format)}d}" for code in self.special)
            return Category(texts, missing=self.missing, description=self.description, comment=self.comment)
        binned = super().with_bins(counts)
        return Integer(**{field.name: getattr(binned, field.name) for field in fields(Integer)})
