"""What draws synthetic records: the fitted field, or what a mechanism without a graphical model has in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.marginals import Marginal
from understudy.model import Sample

Arrays = Mapping[str, npt.NDArray[Any]]


class Generator(Protocol):
    """Records as often as wanted, free of privacy: `model.MarkovField` is one.

    `to_arrays` gives a header, whose "format" says which kind it is, and arrays: what a release holds.
    """

    @property
    def domain(self) -> Domain:
        """The columns and their sizes."""
        ...

    @property
    def total(self) -> float:
        """The number of records it stands for."""
        ...

    def sample(self, n: int | None = None, *, seed: int | None = None) -> Sample:
        """`n` records (as many as it stands for when left out)."""
        ...

    def sample_chunks(
        self, n: int | None = None, chunk: int = 1_000_000, *, seed: int | None = None
    ) -> Iterator[Sample]:
        """`n` records in samples of at most `chunk`."""
        ...

    def marginal(self, clique: Clique | str) -> Marginal:
        """The expected counts of a clique, axes in the order given."""
        ...

    def summary(self) -> object:
        """A description that prints as a page."""
        ...

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header of plain values and named arrays that together are the generator."""
        ...


@runtime_checkable
class Grouped(Protocol):
    """A generator that draws each group of columns from a histogram of its own, which was asked for as such."""

    @property
    def groups(self) -> tuple[Clique, ...]:
        """The groups."""
        ...
