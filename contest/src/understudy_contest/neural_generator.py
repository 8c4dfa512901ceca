"""A small generator network: normal noise in, one code a column out. Drawn from with NumPy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.domain.codes import code_type
from understudy.errors import ParameterError
from understudy.mechanisms.generator import Arrays
from understudy_contest.simulator import Simulator, header_of, read_header

KIND = "understudy neural generator"
LAYERS = ("inner", "inner_bias", "outer", "outer_bias")
Floats = npt.NDArray[np.float32]
_CHUNK = 16_384


def folds(domain: Mapping[str, int], widest: int) -> tuple[int, ...]:
    """How many neighbouring codes of each column share one output, so that no column has more than `widest`."""
    return tuple(-(-size // widest) for size in domain.values())


def widths(domain: Mapping[str, int], folded: Sequence[int]) -> list[int]:
    """How many outputs each column has."""
    return [-(-size // fold) for size, fold in zip(domain.values(), folded, strict=True)]


class NeuralGenerator(Simulator):
    """One hidden layer, and for each column the weights of its codes; `folded` codes share an output evenly."""

    def __init__(
        self, domain: Domain, folded: Sequence[int], layers: Mapping[str, npt.ArrayLike], total: float
    ) -> None:
        super().__init__(domain, total)
        self.folded = tuple(int(fold) for fold in folded)
        if len(self.folded) != len(domain) or any(fold < 1 for fold in self.folded):
            raise ParameterError("a neural generator needs one fold of at least 1 for each column.")
        self.layers: dict[str, Floats] = {name: np.array(layers[name], np.float32) for name in LAYERS}
        inner, outer = self.layers["inner"], self.layers["outer"]
        outputs = sum(widths(domain, self.folded))
        shapes = (inner.shape[:1], (inner.shape[0],), (outputs, inner.shape[0]), (outputs,))
        found = (
            inner.shape[:1],
            self.layers["inner_bias"].shape,
            outer.shape,
            self.layers["outer_bias"].shape,
        )
        if inner.ndim != 2 or shapes != found or not all(np.isfinite(x).all() for x in self.layers.values()):
            raise ParameterError("a neural generator's layers do not fit together.")

    def draw(self, rows: int, random: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """Independent records, each from noise of its own."""
        codes = {name: np.empty(rows, code_type(size)) for name, size in self.domain.items()}
        for first in range(0, rows, _CHUNK):
            part = slice(first, min(first + _CHUNK, rows))
            outputs = self._outputs(part.stop - first, random)
            start = 0
            for (name, size), fold in zip(self.domain.items(), self.folded, strict=True):
                width = -(-size // fold)
                chosen = _picked(outputs[:, start : start + width], random)
                fine = chosen * fold + random.integers(0, fold, chosen.size)
                codes[name][part] = np.minimum(fine, size - 1)
                start += width
        return codes

    def _outputs(self, rows: int, random: np.random.Generator) -> Floats:
        layers = self.layers
        noise = random.standard_normal((rows, layers["inner"].shape[1]), dtype=np.float32)
        hidden = np.maximum(noise @ layers["inner"].T + layers["inner_bias"], 0)
        return np.asarray(hidden @ layers["outer"].T + layers["outer_bias"], np.float32)

    def summary(self) -> str:
        """The size of the network."""
        inner = self.layers["inner"]
        return (
            f"Neural generator: {inner.shape[1]} numbers of noise, {inner.shape[0]} hidden units, "
            f"{len(self.domain)} columns, {self.layers['outer'].shape[0]} outputs, {self.total:,.1f} records"
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header and the layers, as float64."""
        arrays = {name: layer.astype(np.float64) for name, layer in self.layers.items()}
        return header_of(KIND, self) | {"folded": list(self.folded)}, arrays

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Arrays) -> NeuralGenerator:
        """The generator of a header and arrays from `to_arrays`."""
        domain, total = read_header(header)
        return cls(domain, header["folded"], arrays, total)


def _picked(outputs: Floats, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """One place a row, in proportion to e^output: the largest once each has had Gumbel noise."""
    gumbel = -np.log(random.exponential(size=outputs.shape))
    return np.asarray((outputs + gumbel).argmax(axis=1), np.int64)
