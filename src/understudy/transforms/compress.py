"""Merge rare codes into one, and spread it out again (the paper's "Domain compression")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
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
    """

    maps: Mapping[str, Map]
    weights: Mapping[str, npt.NDArray[np.float64]]

    @classmethod
    def none(cls, domain: Mapping[str, int]) -> Compression:
        """The compression that keeps every code."""
        return cls({name: np.arange(size) for name, size in domain.items()}, {})

    @property
    def sizes(self) -> dict[str, int]:
        """How many codes each column has once compressed."""
        return {name: int(codes.max()) + 1 for name, codes in self.maps.items()}

    def merged(self, name: str) -> Map:
        """The old codes of a column that became one; none, or two at least."""
        codes = self.maps[name]
        last = np.flatnonzero(codes == codes.max())
        return last if len(last) > 1 else last[:0]

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
        codes, merged = self.maps[name], self.merged(name)
        size = int(codes.max()) + 1
        if column.size and (column.min() < 0 or column.max() >= size):
            raise DomainError(
                f"column {name!r}: codes reach {column.max()}, but it has {size} compressed codes."
            )
        back = np.empty(size, dtype=code_type(len(codes)))
        back[codes] = np.arange(len(codes))
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
            shared = 1.0 / np.bincount(codes)
            shape = [1] * counts.ndim
            shape[axis] = domain[name]
            counts = np.take(counts, codes, axis=axis) * shared[codes].reshape(shape)
        return Marginal(marginal.clique, counts)

    def measurement(self, measured: Measurement) -> Measurement:
        """A measurement of one column on the compressed domain: the k merged cells become their sum.

        Its noise is the sum of k independent ones, so its scale is sqrt(k) times one cell's.
        """
        (name,) = measured.clique if len(measured.clique) == 1 else (None,)
        if name is None or measured.query is not None:
            raise ParameterError(
                f"measurement of {measured.clique!r} is not of one column's counts.",
                hint="compress right after the one-way marginals; measure the rest on the compressed domain.",
            )
        codes = self.maps.get(name)
        if codes is None:
            return measured
        values = np.bincount(codes, weights=measured.values)
        if measured.stddev.ndim == 0 and len(values) == len(codes):
            return Measurement(measured.clique, values, measured.stddev)
        variance = np.bincount(codes, weights=np.broadcast_to(measured.stddev**2, len(codes)))
        return Measurement(measured.clique, values, np.sqrt(variance))

    def to_dict(self) -> dict[str, Any]:
        """The compression as plain lists, for a release file."""
        return {
            "maps": {name: codes.tolist() for name, codes in self.maps.items()},
            "weights": {name: shares.tolist() for name, shares in self.weights.items()},
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Compression:
        """The compression that `to_dict` wrote; anything else is refused."""
        try:
            maps = {name: _checked_map(name, codes) for name, codes in said["maps"].items()}
            weights = {name: np.array(shares, dtype=np.float64) for name, shares in said["weights"].items()}
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise ParameterError("compression is not of the form that to_dict writes.") from None
        made = cls(maps, weights)
        for name, shares in weights.items():
            if name not in maps or shares.shape != made.merged(name).shape or not _adds_up(shares):
                raise ParameterError(f"compression of column {name!r}: weights do not fit the merged codes.")
        return made


def compress(
    counts: Mapping[str, npt.ArrayLike],
    thresholds: Mapping[str, float],
    exempt: Collection[str] = (),
) -> Compression:
    """The compression that merges, in each column, the codes with a noisy count below its threshold.

    Paper, "Domain compression": a count below 3 sigma is likely to be noise. Columns in `exempt`, or without
    a threshold, keep every code.
    """
    for name in thresholds:
        if name not in counts:
            raise DomainError(f"column {name!r} has a threshold but no counts.", hint="measure it first.")
    maps, weights = {}, {}
    for name, noisy in counts.items():
        cells = np.asarray(noisy, dtype=np.float64).reshape(-1)
        threshold = -np.inf if name in exempt else thresholds.get(name, -np.inf)
        rare = cells < threshold
        codes = np.cumsum(~rare) - 1
        codes[rare] = (~rare).sum()
        maps[name] = codes
        if rare.sum() > 1:
            weights[name] = _shares(cells[rare])
    return Compression(maps, weights)


def _shares(noisy: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The share of each merged code: its noisy count's, or the same for all when none is positive."""
    mass = np.maximum(noisy, 0.0)
    return mass / mass.sum() if mass.sum() > 0 else np.full(len(noisy), 1 / len(noisy))


def _adds_up(shares: npt.NDArray[np.float64]) -> bool:
    return bool((shares >= 0).all() and abs(shares.sum() - 1) < 1e-6)


def _checked_map(name: str, codes: Any) -> Map:
    """A map whose new codes are 0, 1, 2, ..., each once but the last."""
    array = np.array(codes)
    if array.ndim != 1 or not len(array) or array.dtype.kind != "i":
        raise ParameterError(f"compression of column {name!r} is not a list of codes.")
    new = array.astype(np.int64)
    kept = new[new != new.max()]
    within = 0 <= new.min() <= new.max() < len(new)  # before as many codes are counted up
    if not within or not np.array_equal(kept, np.arange(new.max())):
        raise ParameterError(f"compression of column {name!r} does not number its codes in order.")
    return new
