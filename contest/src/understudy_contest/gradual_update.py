"""Records moved, marginal by marginal, from cells that hold too many to cells that hold too few (PrivSyn's GUM)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.domain.codes import code_type
from understudy.errors import ParameterError
from understudy.mechanisms.generator import Arrays
from understudy_contest.simulator import Simulator, header_of, read_header

KIND = "understudy gradual update"
Cells = npt.NDArray[np.float64]
# Copies make records alike, and what they share by chance stays: so coarse work is done by overwriting alone.
_COARSE = 0.7  # of the rounds, at most
_FINE_STEP = 0.1  # of what a cell is off by, once records are copied
_BETTER, _PATIENCE = 0.98, 5  # rounds that bring the records no nearer than this before the work is done


class GradualUpdate(Simulator):
    """Consistent marginals, and the records that are made to follow them.

    Records start as independent columns. In every round each marginal in turn has records moved from over-full to
    under-full cells. At first the record's columns of this marginal are overwritten; later every other round makes
    the whole record a copy of one that is in the wanted cell already. `rounds` is the most that are made.
    """

    def __init__(
        self, domain: Domain, tables: Mapping[Clique, npt.ArrayLike], total: float, rounds: int
    ) -> None:
        super().__init__(domain, total)
        self.tables = {
            domain.clique(clique): _counts(table, domain.shape(clique)) for clique, table in tables.items()
        }
        missing = [name for name in domain if (name,) not in self.tables]
        if missing:
            raise ParameterError(f"column {missing[0]!r} has no marginal of its own.")
        self.rounds = int(rounds)

    def draw(self, rows: int, random: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """The records of one synthesis."""
        widest = np.uint16 if max(self.domain.values(), default=1) <= 1 << 16 else np.uint32
        codes = np.empty((len(self.domain), rows), widest)
        for i, name in enumerate(self.domain):
            codes[i] = _shuffled(self.tables[name,], rows, random)
        covered = {name for clique in self.tables for name in clique if len(clique) > 1}
        followed = [clique for clique in self.tables if len(clique) > 1 or clique[0] not in covered]
        follow(codes, [self._aim(clique, rows) for clique in followed], self.rounds, random)
        return {name: codes[i].astype(code_type(size)) for i, (name, size) in enumerate(self.domain.items())}

    def _aim(self, clique: Clique, rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Cells]:
        """The places of the clique's columns, their strides, and the counts that its cells should have."""
        names = self.domain.names
        places = np.array([names.index(name) for name in clique])
        shape = self.domain.shape(clique)
        strides = np.array([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))])
        table = self.tables[clique].reshape(-1)
        return places, strides, table * (rows / table.sum())

    def summary(self) -> str:
        """How many marginals there are to follow, and of what size."""
        cells = sum(table.size for table in self.tables.values())
        return (
            f"Gradual update: {len(self.domain)} columns, {len(self.tables)} consistent marginals, "
            f"{cells:,} cells, {self.total:,.1f} records, at most {self.rounds} rounds"
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header and one array a marginal."""
        cliques = [list(clique) for clique in self.tables]
        header = header_of(KIND, self) | {"cliques": cliques, "rounds": self.rounds}
        return header, {f"marginal_{i}": table for i, table in enumerate(self.tables.values())}

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Arrays) -> GradualUpdate:
        """The generator of a header and arrays from `to_arrays`."""
        domain, total = read_header(header)
        cliques = [tuple(map(str, clique)) for clique in header["cliques"]]
        tables = {clique: arrays[f"marginal_{i}"] for i, clique in enumerate(cliques)}
        return cls(domain, tables, total, header["rounds"])


def follow(
    codes: npt.NDArray[Any],
    aims: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Cells]],
    rounds: int,
    random: np.random.Generator,
) -> None:
    """Move the records (one row a column) towards the aims, in place."""
    from understudy_contest.gradual_kernel import move

    rows = codes.shape[1]
    if not aims or not rows:
        return
    cell, members = np.empty(rows, np.int32), np.empty(rows, np.int32)
    # A column that many marginals share is better left as it is: changing it spoils them all.
    shared = np.bincount(np.concatenate([columns for columns, _, _ in aims]), minlength=len(codes)) ** 2.0
    best, since, coarse = np.inf, 0, True
    for number in range(rounds):
        copying = not coarse and number % 2 == 1
        off = 0.0
        for place in random.permutation(len(aims)):
            columns, strides, wanted = aims[place]
            seed = random.integers(1, 2**63, dtype=np.uint64)
            keep = int(random.choice(columns.size, p=shared[columns] / shared[columns].sum()))
            step = 1.0 if coarse else _FINE_STEP
            off += move(codes, columns, strides, wanted, step, copying, keep, seed, cell, members)
        best, since = (off, 0) if off < _BETTER * best else (best, since + 1)
        if coarse and (since > _PATIENCE or number + 1 >= _COARSE * rounds):
            best, since, coarse = np.inf, 0, False
        elif since > _PATIENCE and copying:  # a copy leaves every other marginal of its record as it was
            break


def _shuffled(table: Cells, rows: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Codes of one column in the table's proportions, as nearly as whole records can, in random order."""
    points = (np.arange(rows) + random.random()) / max(rows, 1)
    ends = np.cumsum(table.reshape(-1)) / table.sum()
    codes = np.minimum(np.searchsorted(ends, points, side="right"), table.size - 1)
    return random.permutation(codes)


def _counts(table: npt.ArrayLike, shape: tuple[int, ...]) -> Cells:
    counts = np.array(table, dtype=np.float64).reshape(shape)
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ParameterError("a marginal holds a count that is negative or not finite.")
    if not counts.any():
        counts[...] = 1.0
    counts.flags.writeable = False
    return counts
