"""Columns counted alone where the records lie, without moving them; whatever else is asked, as a stream.

Worth it only where nothing but one-way counts is asked: as soon as rows travel, the scan that codes them counts
every column alone as well. So it is for the caller to say, from what it is about to ask, which is public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.data.counting.recoding import recoded
from understudy.data.engines.stream import Streamed
from understudy.domain import Clique, Domain
from understudy.marginals import Counter, Marginal
from understudy.marginals.counter import Recoding

Counts = npt.NDArray[np.int64]
Tally = Callable[[Sequence[str]], Mapping[str, Counts]]


class PushedDown:
    """An engine over `streamed` that has single columns counted by `tally`, each once."""

    def __init__(self, streamed: Streamed, tally: Tally) -> None:
        self._streamed, self._tally = streamed, tally
        self._known: dict[str, Counts] = {}  # before any recoding
        self._maps: dict[str, Any] = {}

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes."""
        return self._streamed.domain

    def __repr__(self) -> str:
        return f"PushedDown({len(self.domain)} columns)"

    def prepare(self) -> PushedDown:
        """The engine itself, once every column was counted, so that no fault of the source is left."""
        self._count(self.domain)
        return self

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64."""
        wanted = [self.domain.clique(clique) for clique in cliques]
        if any(len(clique) > 1 for clique in wanted):
            return self._streamed.count(cliques)
        first = self.domain.names[:1]
        names = dict.fromkeys(name for clique in wanted for name in (clique or first))
        self._count(names)
        return [
            Marginal(clique, self._merged(*clique) if clique else np.array(self._known[first[0]].sum()))
            for clique in wanted
        ]

    def count_cells(self, clique: Clique) -> tuple[Counts, Counts]:
        """The cells that hold a record, as places in C order (rising), and how many each holds."""
        if len(self.domain.clique(clique)) > 1:
            return self._streamed.count_cells(clique)
        (marginal,) = self.count([clique])
        counts = marginal.counts.reshape(-1)
        places = np.flatnonzero(counts)
        return places, counts[places]

    def recode(self, maps: Mapping[str, Recoding]) -> Counter:
        """The same records with code c of column k replaced by maps[k][c]."""
        other = PushedDown(self._streamed.recode(maps), self._tally)
        _, other._maps = recoded(self.domain, self._maps, maps)
        other._known = self._known
        return other

    def _count(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name not in self._known]
        if unknown:
            self._known.update(self._tally(unknown))

    def _merged(self, name: str) -> Counts:
        """A fresh array: nobody's answer is a view of another's."""
        if name not in self._maps:
            return self._known[name].copy()
        merged = np.zeros(self.domain[name], np.int64)
        np.add.at(merged, self._maps[name], self._known[name])
        return merged
