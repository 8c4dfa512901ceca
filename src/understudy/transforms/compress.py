"""Merge rare codes, and spread them out again (the paper's "Domain compression"); leave out empty slots.

The paper merges all rare codes of a column into one. Those of an ordered column are joined with their neighbours
first, into runs (see `runs`): ages from 90 to 94 say more of each other than of age 13.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.domain.codes import CodedColumns, code_type
from understudy.errors import DomainError, ParameterError
from understudy.marginals import Marginal, Measurement

Map = npt.NDArray[np.int64]  # map[old code] = new code
Shares = npt.NDArray[np.float64]
Spread = Literal["uniform", "counts"]

_NO_RUNS: Map = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Compression:
    """For each column, which codes are kept and which became one. `Compression.none(domain)` merges nothing.

    Kept codes and runs of neighbours come first, in their order; all other codes became one, the last, which is
    absent where there are none.

    Parameters:
        maps: a column -> the new code of each old one.
        weights: a column -> where codes were merged, the share of each old code in its new one: from noisy counts, so
            free to use.
        never: a column -> codes that no synthetic record has: a record of theirs, should there be one, counts with
            the most frequent of the others, and nothing comes back as one of them. None by default.
        unseen: of columns with such codes, the noisy count of records that have one, and the standard deviation of
            its noise. None by default: then no one said.
    """

    maps: Mapping[str, Map]
    weights: Mapping[str, Shares]
    never: Mapping[str, Map] = field(default_factory=dict)
    unseen: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def none(
        cls,
        domain: Mapping[str, int],
        never: Mapping[str, Collection[int]] | None = None,
        unseen: Mapping[str, tuple[float, float]] | None = None,
    ) -> Compression:
        """The compression that merges nothing, and keeps every code but those of `never`."""
        return compress(
            {name: np.zeros(size) for name, size in domain.items()}, {}, never=never, unseen=unseen
        )

    @property
    def sizes(self) -> dict[str, int]:
        """How many codes each column has once compressed."""
        return {name: int(codes.max()) + 1 for name, codes in self.maps.items()}

    def possible(self, name: str) -> Map:
        """The old codes of a column that a synthetic record may have, in the order of their new ones."""
        return self._possible[name]

    @cached_property
    def _possible(self) -> dict[str, Map]:
        """Of every column: marginals ask for them by the hundred, and they stay the same."""
        found = {}
        for name, codes in self.maps.items():
            kept = np.setdiff1d(np.arange(len(codes)), self.never.get(name, ()))
            found[name] = kept[np.argsort(codes[kept], kind="stable")]
        return found

    def behind(self, name: str) -> Map:
        """How many old codes each new code of a column comes back as."""
        codes = self.maps[name]
        return np.bincount(codes[self.possible(name)], minlength=int(codes.max()) + 1)

    def cells(self, clique: Clique, old: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Cells of the old codes as cells of the new ones: those that may come back as one of them."""
        for axis, name in enumerate(clique):
            codes, possible = self.maps[name], self.possible(name)
            turned = np.moveaxis(old, axis, 0)[possible]
            new = np.zeros((int(codes.max()) + 1, *turned.shape[1:]), np.bool_)
            np.logical_or.at(new, codes[possible], turned)
            old = np.moveaxis(new, 0, axis)
        return old

    def domain(self, domain: Domain) -> Domain:
        """The domain of the compressed columns."""
        for name, codes in self.maps.items():
            if domain[name] != len(codes):
                raise DomainError(
                    f"column {name!r} has {domain[name]} codes, but {len(codes)} were compressed."
                )
        return domain.resize(self.sizes)

    def forward(self, codes: CodedColumns, /) -> dict[str, npt.NDArray[Any]]:
        """The same records in fewer codes; a column that was not compressed stays as it is."""
        sizes = self.sizes
        tables = {name: old.astype(code_type(sizes[name])) for name, old in self.maps.items()}
        return {name: tables[name][column] if name in tables else column for name, column in codes.items()}

    def reverse(
        self, codes: CodedColumns, /, rng: np.random.Generator | None = None, *, spread: Spread = "uniform"
    ) -> dict[str, npt.NDArray[Any]]:
        """The records in the old codes: a merged one becomes any of those it stands for.

        Each with the same chance, as in the paper, or in proportion to the noisy counts.
        """
        if spread not in ("uniform", "counts"):
            raise ParameterError(f"spread {spread!r} is not known.", hint='write "uniform" or "counts".')
        rng = np.random.default_rng() if rng is None else rng
        return {
            name: self._spread(name, np.asarray(column), rng, spread) if name in self.maps else column
            for name, column in codes.items()
        }

    def _spread(
        self, name: str, column: npt.NDArray[Any], rng: np.random.Generator, spread: Spread
    ) -> npt.NDArray[Any]:
        codes, kept = self.maps[name], self.possible(name)
        size = int(codes.max()) + 1
        if column.size and (column.min() < 0 or column.max() >= size):
            raise DomainError(
                f"column {name!r}: codes reach {column.max()}, but it has {size} compressed codes."
            )
        old = kept.astype(code_type(len(codes)))
        if len(kept) == size:
            back: npt.NDArray[Any] = old[column]
            return back
        # Where each old code ends on a line on which every new code is one long.
        shares = self.shares(name) if spread == "counts" else self._even(name)
        new = codes[kept]
        last = np.searchsorted(new, np.arange(size), side="right") - 1
        ends = np.cumsum(shares[kept])
        ends += new - np.append(0.0, ends[last])[new]
        ends[last] = np.arange(1, size + 1)
        drawn: npt.NDArray[Any] = old[last][column]
        several = np.flatnonzero((np.diff(last, prepend=-1) > 1)[column])
        merged = column[several]
        places = np.searchsorted(ends, merged + rng.random(len(merged)), side="right")
        drawn[several] = old[np.minimum(places, last[merged])]
        return drawn

    def shares(self, name: str) -> Shares:
        """The share of each old code in its new one."""
        return self._shares[name]

    @cached_property
    def _shares(self) -> dict[str, Shares]:
        return {name: self.weights[name] if name in self.weights else self._even(name) for name in self.maps}

    def _even(self, name: str) -> Shares:
        shares = np.zeros(len(self.maps[name]))
        kept = self.possible(name)
        shares[kept] = (1.0 / self.behind(name))[self.maps[name][kept]]
        return shares

    def spread(self, marginal: Marginal, domain: Domain) -> Marginal:
        """A marginal of the compressed columns in the old codes; merged ones share their count by `weights`."""
        counts = np.asarray(marginal.counts, dtype=np.float64)
        for axis, name in enumerate(marginal.clique):
            codes = self.maps.get(name)
            if codes is None:
                continue
            shape = [1] * counts.ndim
            shape[axis] = domain[name]
            counts = np.take(counts, codes, axis=axis) * self.shares(name).reshape(shape)
        return Marginal(marginal.clique, counts)

    def measurement(self, measured: Measurement) -> Measurement:
        """A measurement of one column on the compressed domain: the k merged cells become their sum.

        Its noise is the sum of k independent ones, so its scale is sqrt(k) times one cell's. A cell of a code
        that never comes back held nothing but noise, as far as can be told: it is left out. Several columns
        together must not have been merged.
        """
        if measured.query is not None or not (len(measured.clique) == 1 or self._whole(measured.clique)):
            raise ParameterError(
                f"measurement of {measured.clique!r} is not of one column's counts.",
                hint="compress right after the one-way marginals; measure the rest on the compressed domain.",
            )
        shape = tuple(len(self.maps[name]) for name in measured.clique if name in self.maps)
        if len(shape) < len(measured.clique):
            return measured
        kept = np.ix_(*map(self.possible, measured.clique))
        values, scales = (
            np.broadcast_to(given, measured.values.shape).reshape(shape)[kept].reshape(-1)
            for given in (measured.values, measured.stddev)
        )
        if self._whole(measured.clique):
            return Measurement(measured.clique, values, scales if measured.stddev.ndim else measured.stddev)
        codes = self.maps[measured.clique[0]][kept]
        variance = np.bincount(codes, weights=scales**2)
        return Measurement(measured.clique, np.bincount(codes, weights=values), np.sqrt(variance))

    def _whole(self, clique: Clique) -> bool:
        """Whether no codes of these columns were merged."""
        return all(self.behind(name).max() == 1 for name in clique if name in self.maps)

    def to_dict(self) -> dict[str, Any]:
        """The compression as plain lists, for a release file."""
        return {
            "maps": {name: codes.tolist() for name, codes in self.maps.items()},
            "weights": {name: shares.tolist() for name, shares in self.weights.items()},
            "never": {name: codes.tolist() for name, codes in self.never.items()},
            "unseen": {name: list(told) for name, told in self.unseen.items()},
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Compression:
        """The compression that `to_dict` wrote; anything else is refused."""
        try:
            # Before 0.2 every code could come back.
            never = {name: np.array(codes, np.int64) for name, codes in said.get("never", {}).items()}
            maps = {name: _checked_map(name, codes, never.get(name)) for name, codes in said["maps"].items()}
            weights = {name: np.array(shares, dtype=np.float64) for name, shares in said["weights"].items()}
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise ParameterError("compression is not of the form that to_dict writes.") from None
        unseen = _checked_unseen(said.get("unseen", {}), never)
        made = cls(maps, {}, never)
        if not (never.keys() <= maps.keys() and weights.keys() <= maps.keys()):
            raise ParameterError("compression speaks of codes of a column that it does not have.")
        return cls(
            maps,
            {name: made._checked_shares(name, shares) for name, shares in weights.items()},
            never,
            unseen,
        )

    def _checked_shares(self, name: str, shares: Shares) -> Shares:
        """Shares that add up in every new code. Before 0.2 only those of the last one were written down."""
        codes, kept = self.maps[name], self.possible(name)
        last = kept[codes[kept] == codes.max()]
        if shares.shape == last.shape != codes.shape:
            whole = self._even(name)
            whole[last] = shares
            shares = whole
        fit = shares.shape == codes.shape and bool((shares >= 0).all())
        if not fit or not (np.abs(np.bincount(codes[kept], weights=shares[kept]) - 1) < 1e-6).all():
            raise ParameterError(f"compression of column {name!r}: weights do not fit the merged codes.")
        return shares


def compress(
    counts: Mapping[str, npt.ArrayLike],
    thresholds: Mapping[str, float],
    exempt: Collection[str] = (),
    never: Mapping[str, Collection[int]] | None = None,
    *,
    runs: Mapping[str, Map] | None = None,
    weights: Mapping[str, npt.ArrayLike] | None = None,
    unseen: Mapping[str, tuple[float, float]] | None = None,
) -> Compression:
    """The compression that merges, in each column, the codes with a noisy count below its threshold.

    Paper, "Domain compression": a count below 3 sigma is likely to be noise. Columns in `exempt`, or without
    a threshold, keep every code, but for those that `never` names: no synthetic record has them.
    `runs` has, for the first codes of ordered columns, the number of each one's run, or -1 where it is in none: such
    codes and the others that are rare become one. `weights`, where given, say better than the counts how much of a
    merged code each old one is.
    """
    gone = {name: np.array(sorted(codes), np.int64) for name, codes in (never or {}).items() if codes}
    for name in thresholds:
        if name not in counts:
            raise DomainError(f"column {name!r} has a threshold but no counts.", hint="measure it first.")
    maps, shares = {}, {}
    for name, noisy in counts.items():
        cells = np.asarray(noisy, dtype=np.float64).reshape(-1)
        threshold = -np.inf if name in exempt else thresholds.get(name, -np.inf)
        left = np.ones(len(cells), dtype=bool)
        left[gone.get(name, [])] = False
        joined = (runs or {}).get(name, _NO_RUNS) if name not in exempt else _NO_RUNS
        others = (cells >= threshold) & left
        others[: len(joined)] = False
        codes = np.cumsum(others) + int(joined.max(initial=-1))
        codes[: len(joined)] = joined
        rare = ~others & left
        rare[: len(joined)] &= joined < 0
        codes[rare] = codes[~rare & left].max(initial=-1) + 1
        codes = np.searchsorted(np.unique(codes[left]), codes)  # a run may have been left out whole
        codes[~left] = codes[np.argmax(np.where(left, cells, -np.inf))]
        maps[name] = codes
        if len(set(codes[left].tolist())) < left.sum():
            shares[name] = _shares(codes, np.asarray((weights or {}).get(name, cells), np.float64), left)
    return Compression(
        maps, shares, gone, {name: told for name, told in (unseen or {}).items() if name in gone}
    )


def _shares(codes: Map, counts: Shares, left: npt.NDArray[np.bool_]) -> Shares:
    """The share of each old code in its new one: its count's, or the same for all where none is positive."""
    mass = np.where(left, np.maximum(counts, 0.0), 0.0)
    held = np.bincount(codes, weights=mass)[codes]
    even = left / np.bincount(codes, weights=left)[codes]
    return np.where(held > 0, mass / np.where(held > 0, held, 1.0), even)


def _checked_unseen(said: Any, never: Mapping[str, Map]) -> dict[str, tuple[float, float]]:
    """Counts of records that nobody saw, each with its noise, of columns that have codes that never come back."""
    try:
        found = {name: (float(count), float(noise)) for name, (count, noise) in said.items()}
    except (TypeError, AttributeError, ValueError):
        raise ParameterError("compression is not of the form that to_dict writes.") from None
    if not found.keys() <= never.keys() or not all(
        math.isfinite(count) and 0 < noise < math.inf for count, noise in found.values()
    ):
        raise ParameterError("compression counts records of codes that it does not leave out.")
    return found


def _checked_map(name: str, codes: Any, never: Map | None = None) -> Map:
    """A map whose new codes are 0, 1, 2, ..., every one of them, and those that never come back aside."""
    array = np.array(codes)
    if array.ndim != 1 or not len(array) or array.dtype.kind != "i":
        raise ParameterError(f"compression of column {name!r} is not a list of codes.")
    whole = array.astype(np.int64)
    if never is not None and not (never.ndim == 1 and set(never.tolist()) < set(range(len(whole)))):
        raise ParameterError(
            f"compression of column {name!r} leaves out codes that it does not have, or all."
        )
    new = whole if never is None else np.delete(whole, never)
    within = 0 <= whole.min() <= whole.max() == new.max() < len(new)  # before as many codes are counted up
    if not within or not np.bincount(new).all():
        raise ParameterError(f"compression of column {name!r} does not number its codes in order.")
    return whole
