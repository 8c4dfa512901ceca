"""Which synthetic records are wanted: those that fulfil a condition, or as many of each value of a column.

A condition is split at its `and`s. What its parts say of codes goes into the model: the joint distribution of their
columns, with the cells that no wanted record has set to zero, is drawn from, and each record is completed from the
exact conditional. So a condition that one record in a billion fulfils takes no longer than another. What codes cannot
tell (a bin that the condition cuts in two, columns that are too many together) is left to drawing again: a record is
kept if its values fulfil the whole condition, so that those kept have the law of the release's records given it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Clique, Column, Schema
from understudy.domain.arrow_values import plain
from understudy.domain.columns.differences.difference import Difference
from understudy.domain.condition_truth import CodeCells, RecordValues, check, truth
from understudy.domain.conditions import Condition, columns_of, conjuncts, parse
from understudy.errors import ParameterError
from understudy.mechanisms import Generator
from understudy.model import Field, Sample
from understudy.model.queries.elimination import Elimination
from understudy.pipeline.drawing.conflicts import refuse_conflict
from understudy.transforms.compress import Compression

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
MOST_CELLS = 1 << 22  # of the joint distribution that is drawn from
BATCH = 200_000  # records that are drawn at a time, at most, to find some that fulfil a condition
TRIED = 1_000_000  # records after which it can be told how many will have to be drawn
MOST_TRIED = 20_000_000  # and how many are drawn at most


@dataclass(frozen=True, eq=False)
class WantedRecords:
    """A condition on the values of a release's records, and a column whose values are to be equally frequent."""

    columns: Mapping[str, Column]
    field: Generator
    compression: Compression
    where: Condition | None = None
    balance: str | None = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        field: Generator,
        compression: Compression,
        where: str | None,
        balance: str | None,
    ) -> WantedRecords | None:
        """What was asked for, once it has a meaning; None for all records as they come."""
        if where is None and balance is None:
            return None
        columns = {name: column for name, column in schema.columns.items() if name in schema.valued}
        condition = None if where is None else parse(where)
        if condition is not None:
            for name in columns_of(condition):
                if name in schema.made:
                    raise ParameterError(
                        f"where: column {name!r} is made up, and not part of the release.",
                        hint="leave it out; release.sample(given=...) takes values of it.",
                    )
            check(condition, columns)
            refuse_conflict(condition, schema)
        if balance is not None and balance not in field.domain:
            raise ParameterError(
                f"balance: column {balance!r} is not in the release, or is worked out or made up.",
                hint=f"one of {', '.join(field.domain)}.",
            )
        if balance is not None and isinstance(column := columns[balance], Difference):
            raise ParameterError(
                f"balance: column {balance!r} is modelled by how far it lies after {column.after!r}.",
                hint='balance another, or fit anew with by = "values" in the order of the two.',
            )
        if balance is not None and not isinstance(field, Field):
            raise ParameterError("balance: this release has no field to ask.", hint="leave it out.")
        found = cls(columns, field, compression, condition, balance)
        if isinstance(field, Field) and not found._joint[1].any():
            raise ParameterError(
                f"where {where!r}: no record of this release fulfils it.",
                hint="ask for something less narrow.",
            )
        return found

    def sample(self, n: int, *, seed: int | None = None) -> Sample:
        """The codes of `n` records; some may not fulfil the condition once they have values: see `fill`."""
        names, joint = self._joint if isinstance(self.field, Field) else ((), np.ones(()))
        if not names or not isinstance(self.field, Field):
            return self.field.sample(n, seed=seed)
        random = np.random.default_rng(seed)
        # As many of each cell as the distribution says, but for one that is drawn: then in any order.
        places = (np.arange(n) + random.random()) / max(1, n)
        ends = np.cumsum(joint.ravel()) / joint.sum()
        cells = random.permutation(np.searchsorted(ends, places, side="right").clip(max=joint.size - 1))
        drawn = np.unravel_index(cells, joint.shape)
        given = {name: self._allowed[name][axis] for name, axis in zip(names, drawn, strict=True)}
        return self.field.sample(n, given=given, seed=int(random.integers(2**63)))

    def fill(self, table: pa.Table, more: Callable[[int], pa.Table]) -> pa.Table:
        """As many records as the table has, all of which fulfil the condition: others replace those that do not.

        `more` makes as many records as it is asked for, with values in the types of the columns' codecs.
        """
        wanted = table.num_rows
        left, kept, tried = self._quotas(wanted), [], 0
        while True:
            tried += table.num_rows
            chosen, left = self._chosen(table, left)
            kept.append(table.filter(pa.array(chosen)))
            missing = int(left.sum())
            if not missing:
                return pa.concat_tables(kept).combine_chunks() if len(kept) > 1 else kept[0]
            found = wanted - missing
            if tried >= TRIED and wanted * tried > MOST_TRIED * found:
                raise ParameterError(
                    f"where: of {tried:,} records that were drawn, {found} fulfil the condition.",
                    hint="ask for less narrow a part of a column's bins.",
                )
            table = more(int(min(BATCH, max(1_000, 1.2 * missing * tried / max(1, found)))))

    def _chosen(self, table: pa.Table, left: Counts) -> tuple[Mask, Counts]:
        """Which records are wanted, of every value no more than are left to be found; and how many are left then."""
        good = np.flatnonzero(self._fulfilled(table))
        groups = self._groups(table)[good]
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(len(left)))
        number = np.empty(len(good), np.int64)  # of each record among those of its group
        number[order] = np.arange(len(good)) - starts[groups[order]]
        taken = number < left[groups]
        chosen = np.zeros(table.num_rows, bool)
        chosen[good[taken]] = True
        return chosen, left - np.bincount(groups[taken], minlength=len(left))

    def _groups(self, table: pa.Table) -> Counts:
        """The group of each record: one for all, or one for each code of the column that is balanced."""
        if self.balance is None:
            return np.zeros(table.num_rows, np.int64)
        codes = self.columns[self.balance].codec().encode(plain(table[self.balance]))
        return self.compression.maps[self.balance][codes.astype(np.int64)]

    def _quotas(self, rows: int) -> Counts:
        """How many records of each group are wanted: as many of each value as of any other, to within one."""
        if self.balance is None:
            return np.array([rows])
        _, joint = self._joint
        shares = np.zeros(self.field.domain[self.balance])
        shares[self._allowed[self.balance]] = joint.sum(axis=tuple(range(1, joint.ndim))) / joint.sum()
        quotas = np.floor(rows * shares + 1e-9).astype(np.int64)
        most = np.argsort(quotas - rows * shares, kind="stable")[: rows - int(quotas.sum())]
        quotas[most] += 1
        return quotas

    def _fulfilled(self, table: pa.Table) -> Mask:
        if self.where is None:
            return np.ones(table.num_rows, bool)
        found = truth(self.where, RecordValues(self.columns, table)).true
        return np.broadcast_to(found, (table.num_rows,))

    # --- what codes can tell ---------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> dict[Clique, Mask]:
        """For the columns of each part of the condition, which cells of the field may hold a wanted record."""
        found: dict[Clique, Mask] = {}
        for part in () if self.where is None else conjuncts(self.where):
            clique = self._read(columns_of(part))
            if not all(name in self.field.domain for name in clique):
                continue
            cells = CodeCells(self.columns, clique)
            if np.prod(cells.shape, dtype=float) > MOST_CELLS:
                continue
            may = np.broadcast_to(truth(part, cells).true, cells.shape)
            mask = self.compression.cells(clique, may)
            found[clique] = found[clique] & mask if clique in found else mask
        return found

    def _read(self, clique: Clique) -> Clique:
        """The columns, and those that they are modelled by their difference from: together they tell more."""
        more = (column.after for name in clique if isinstance(column := self.columns.get(name), Difference))
        return tuple(dict.fromkeys((*clique, *more)))

    @cached_property
    def _allowed(self) -> dict[str, npt.NDArray[np.intp]]:
        """For every column of a part, the codes of the field that some wanted record has."""
        found: dict[str, Mask] = {}
        for clique, cells in self._parts.items():
            for axis, name in enumerate(clique):
                seen = np.asarray(
                    cells.any(axis=tuple(other for other in range(cells.ndim) if other != axis))
                )
                found[name] = found[name] & seen if name in found else seen
        if self.balance is not None:
            name, column = self.balance, self.columns[self.balance]
            values = self.compression.cells((name,), np.arange(column.size) < column.count)
            found[name] = found[name] & values if name in found else values
        return {name: np.flatnonzero(mask) for name, mask in found.items()}

    @cached_property
    def _joint(self) -> tuple[Clique, npt.NDArray[np.float64]]:
        """Some of the condition's columns, and the distribution of their allowed codes among wanted records.

        The rarest come first, for as long as they fit in memory together; of the others `fill` takes care.
        """
        assert isinstance(self.field, Field)
        rarity = {name: len(codes) / self.field.domain[name] for name, codes in self._allowed.items()}
        names: list[str] = [] if self.balance is None else [self.balance]
        cells = np.prod([len(self._allowed[name]) for name in names], dtype=float)
        for name in sorted(rarity, key=rarity.__getitem__):
            wider = cells * len(self._allowed[name])
            if name not in names and wider <= MOST_CELLS:
                names, cells = [*names, name], wider
        if any(not len(codes) for codes in self._allowed.values()):
            return tuple(names), np.zeros(1)
        evidence = {name: self._allowed[name] for name in names}
        factor, _ = Elimination(self.field.tree, self.field.tables, evidence).joint(tuple(names))
        joint = np.array(factor.values, np.float64)
        for clique, mask in self._parts.items():
            if len(clique) > 1 and all(name in names for name in clique):
                part = mask[np.ix_(*(self._allowed[name] for name in clique))]
                order = sorted(range(len(clique)), key=lambda axis: names.index(clique[axis]))
                shape = [len(self._allowed[name]) if name in clique else 1 for name in names]
                joint = joint * part.transpose(order).reshape(shape)
        return tuple(names), self._balanced(joint)

    def _balanced(self, joint: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The distribution with the same mass for every value of the first column, where it is to be balanced."""
        if self.balance is None:
            return joint
        mass = joint.sum(axis=tuple(range(1, joint.ndim)), keepdims=True)
        values = self.compression.possible(self.balance)
        values = values[values < self.columns[self.balance].count]
        behind = np.bincount(
            self.compression.maps[self.balance][values], minlength=self.field.domain[self.balance]
        )
        share = behind[self._allowed[self.balance]].reshape(mass.shape)
        return np.where(mass > 0, joint / np.where(mass > 0, mass, 1.0) * share, 0.0)
