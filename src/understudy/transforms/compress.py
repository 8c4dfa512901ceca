"""Merge rare codes into one, and spread it out again (the paper's "Domain compression"); leave out empty slots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.domain.codes import CodedColumns, code_type
from understudy.errors import DomainError, ParameterError
from understudy.marginals import Marginal, Measurement

Map = npt.NDArray[np.int64]  # map[old code] = new code
Spread = Literal["uniform", "counts"]


@dataclass(frozen=True, eq=False)
class Compression:
    """For each column, which codes are kept and which became one.

    Kept codes come first, in their order; the merged code is last, and absent where nothing was merged.
    `weights` says how often each merged code is drawn when it is spread by counts: noisy, so free to use.
    `never` are codes that no synthetic record has: a record of theirs, should there be one, counts with the most
    frequent of the others, and nothing comes back as one of them.
    """

    maps: Mapping[str, Map]
    weights: Mapping[str, npt.NDArray[np.float64]]
    never: Mapping[str, Map] = field(default_factory=dict)

    @classmethod
    def none(
        cls, domain: Mapping[str, int], never: Mapping[str, Collection[int]] | None = None
    ) -> Compression:
        """The compression that merges nothing, and keeps every code but those of `never`."""
        return compress({name: np.zeros(size) for name, size in domain.items()}, {}, never=never)

    @property
    def sizes(self) -> dict[str, int]:
        """How many codes each column has once compressed."""
        return {name: int(codes.max()) + 1 for name, codes in self.maps.items()}

    def merged(self, name: str) -> Map:
        """The old codes of a column that became one; none, or two at least."""
        codes, kept = self.maps[name], self.possible(name)
        last: Map = kept[codes[kept] == codes.max()]
        return last if len(last) > 1 else last[:0]

    def possible(self, name: str) -> Map:
        """The old codes of a column that a synthetic record may have, in the order of their new ones."""
        codes = self.maps[name]
        kept = np.setdiff1d(np.arange(len(codes)), self.never.get(name, ()))
        return kept[np.argsort(codes[kept], kind="stable")]

    def behind(self, name: str) -> Map:
        """How many old codes each new code of a column comes back as."""
        codes = self.maps[name]
        return np.bincount(codes[self.possible(name)], minlength=int(codes.max()) + 1)

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
        codes, merged, kept = self.maps[name], self.merged(name), self.possible(name)
        size = int(codes.max()) + 1
        if column.size and (column.min() < 0 or column.max() >= size):
            raise DomainError(
                f"column {name!r}: codes reach {column.max()}, but it has {size} compressed codes."
            )
        back = np.empty(size, dtype=code_type(len(codes)))
        back[codes[kept]] = kept
        old: npt.NDArray[Any] = back[column]
        if len(merged):
            rare = column == size - 1
            shares = self.weights.get(name) if spread == "counts" else None
            old[rare] = rng.choice(merged, size=int(rare.sum()), p=shares)
        return old

    def spread(self, marginal: Marginal, domain: Domain) -> Marginal:
        """A marginal of the compressed columns in the old codes: merged ones share their count evenly."""
        counts = np.asarray(marginal.counts, dtype=np.float64)
        for axis, name in enumerate(marginal.clique):
            codes = self.maps.get(name)
            if codes is None:
                continue
            shared = (1.0 / self.behind(name))[codes]
            shared[self.never.get(name, [])] = 0.0
            shape = [1] * counts.ndim
            shape[axis] = domain[name]
            counts = np.take(counts, codes, axis=axis) * shared.reshape(shape)
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
        return not any(len(self.merged(name)) for name in clique if name in self.maps)

    def to_dict(self) -> dict[str, Any]:
        """The compression as plain lists, for a release file."""
        return {
            "maps": {name: codes.tolist() for name, codes in self.maps.items()},
            "weights": {name: shares.tolist() for name, shares in self.weights.items()},
            "never": {name: codes.tolist() for name, codes in self.never.items()},
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
        made = cls(maps, weights, never)
        if not never.keys() <= maps.keys():
            raise ParameterError("compression leaves out codes of a column that it does not have.")
        for name, shares in weights.items():
            if name not in maps or shares.shape != made.merged(name).shape or not _adds_up(shares):
                raise ParameterError(f"compression of column {name!r}: weights do not fit the merged codes.")
        return made


def compress(
    counts: Mapping[str, npt.ArrayLike],
    thresholds: Mapping[str, float],
    exempt: Collection[str] = (),
    never: Mapping[str, Collection[int]] | None = None,
) -> Compression:
    """The compression that merges, in each column, the codes with a noisy count below its threshold.

    Paper, "Domain compression": a count below 3 sigma is likely to be noise. Columns in `exempt`, or without
    a threshold, keep every code, but for those that `never` names: no synthetic record has them.
    """
    gone = {name: np.array(sorted(codes), np.int64) for name, codes in (never or {}).items() if codes}
    for name in thresholds:
        if name not in counts:
            raise DomainError(f"column {name!r} has a threshold but no counts.", hint="measure it first.")
    maps, weights = {}, {}
    for name, noisy in counts.items():
        cells = np.asarray(noisy, dtype=np.float64).reshape(-1)
        threshold = -np.inf if name in exempt else thresholds.get(name, -np.inf)
        left = np.ones(len(cells), dtype=bool)
        left[gone.get(name, [])] = False
        rare = (cells < threshold) & left
        kept = ~rare & left
        codes = np.cumsum(kept) - 1
        codes[rare] = kept.sum()
        codes[~left] = codes[np.argmax(np.where(left, cells, -np.inf))]
        maps[name] = codes
        if rare.sum() > 1:
            weights[name] = _shares(cells[rare])
    return Compression(maps, weights, gone)


def _shares(noisy: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The share of each merged code: its noisy count's, or the same for all when none is positive."""
    mass = np.maximum(noisy, 0.0)
    return mass / mass.sum() if mass.sum() > 0 else np.full(len(noisy), 1 / len(noisy))


def _adds_up(shares: npt.NDArray[np.float64]) -> bool:
    return bool((shares >= 0).all() and abs(shares.sum() - 1) < 1e-6)


def _checked_map(name: str, codes: Any, never: Map | None = None) -> Map:
    """A map whose new codes are 0, 1, 2, ..., each once but the last, and those that never come back aside."""
    array = np.array(codes)
    if array.ndim != 1 or not len(array) or array.dtype.kind != "i":
        raise ParameterError(f"compression of column {name!r} is not a list of codes.")
    whole = array.astype(np.int64)
    if never is not None and not (never.ndim == 1 and set(never.tolist()) < set(range(len(whole)))):
        raise ParameterError(
            f"compression of column {name!r} leaves out codes that it does not have, or all."
        )
    new = whole if never is None else np.delete(whole, never)
    kept = new[new != new.max()]
    within = 0 <= whole.min() <= whole.max() == new.max() < len(new)  # before as many codes are counted up
    if not within or not np.array_equal(kept, np.arange(new.max())):
        raise ParameterError(f"compression of column {name!r} does not number its codes in order.")
    return whole
