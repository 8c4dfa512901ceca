"""What the rivals have in place of a field: something that knows how to draw records, and how it is kept."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError, ReleaseError
from understudy.marginals import Marginal
from understudy.model import Sample
from understudy.model.sampling.synthetic_data import row_count, seeded

DRAWN = 100_000  # records that a marginal is counted on, at least, where it can only be drawn


class Simulator(ABC):
    """A generator that knows how to draw records and nothing else: its marginals are counted on what it drew."""

    def __init__(self, domain: Domain, total: float) -> None:
        if not (math.isfinite(total) and total >= 0):
            raise ParameterError(f"total {total!r} is not a finite number of at least 0.")
        self.domain = domain
        self.total = float(total)

    @abstractmethod
    def draw(self, rows: int, random: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """The codes of so many records, column by column."""

    @abstractmethod
    def summary(self) -> str:
        """What it is, printed as a page."""

    @abstractmethod
    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header of plain values and named arrays that together are the generator."""

    def sample(self, n: int | None = None, *, seed: int | None = None) -> Sample:
        """`n` records (as many as it stands for when left out)."""
        rows = row_count(n, self.total)
        return Sample(self.domain, dict(self.draw(rows, seeded(seed))), rows)

    def sample_chunks(
        self, n: int | None = None, chunk: int = 1_000_000, *, seed: int | None = None
    ) -> Iterator[Sample]:
        """`n` records in samples of at most `chunk`, drawn as they are asked for."""
        rows, size = row_count(n, self.total), row_count(chunk, 0.0, "chunk")
        if size < 1:
            raise ParameterError("chunk 0 would never end.", hint="ask for at least one record a chunk.")
        random = seeded(seed)
        for first in range(0, rows, size):
            yield self.sample(min(size, rows - first), seed=int(random.integers(2**63)))

    def marginal(self, clique: Clique | str) -> Marginal:
        """The counts of a clique among records that were drawn once, scaled to the number it stands for."""
        counted = self._drawn.counts(clique)
        return Marginal(counted.clique, counted.counts * (self.total / len(self._drawn)))

    @cached_property
    def _drawn(self) -> Sample:
        return self.sample(max(DRAWN, round(self.total)), seed=0)


def header_of(kind: str, generator: Simulator) -> dict[str, Any]:
    """The part of a header that all simulators share."""
    return {
        "format": kind,
        "version": 1,
        "domain": [[name, size] for name, size in generator.domain.items()],
        "total": generator.total,
    }


def read_header(header: Mapping[str, Any]) -> tuple[Domain, float]:
    """The domain and total of a header that `header_of` wrote."""
    if header["version"] != 1:
        raise ReleaseError(f"the generator's version {header['version']!r} is not known.")
    return Domain([(str(name), size) for name, size in header["domain"]]), float(header["total"])
