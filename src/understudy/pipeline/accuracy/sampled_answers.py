"""What records drawn from a model say where its codes do not: a bin that a condition cuts, a column after another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain import Schema
from understudy.domain.condition_truth import RecordValues, truth
from understudy.domain.conditions import Condition
from understudy.mechanisms import Generator
from understudy.transforms.compress import Compression
from understudy.transforms.encode import Encoder

DRAWN, SEED = 50_000, 0
Mask = npt.NDArray[np.bool_]


class SampledAnswers:
    """Records of a model, the same every time, with their values and their codes."""

    def __init__(self, schema: Schema, field: Generator, compression: Compression) -> None:
        rng = np.random.default_rng(SEED)
        drawn = dict(field.sample(DRAWN, seed=SEED).columns.items())
        self._codes = compression.reverse(drawn, rng, spread="counts")
        self._values: pa.Table = Encoder(schema).reverse(self._codes, rng)
        self._schema = schema

    def chosen(self, where: Condition | None, codes: Mapping[str, int]) -> Mask:
        """Which of the records fulfil a condition, and have these codes."""
        found = np.ones(DRAWN, np.bool_)
        if where is not None:
            view = RecordValues(self._schema.columns, self._values)
            found &= np.broadcast_to(truth(where, view).true, found.shape)
        for name, code in codes.items():
            found &= np.asarray(self._codes[name]) == code
        return found

    def number(self, column: str, chosen: Mask, q: float | None) -> float | None:
        """The mean of a column's numbers among some of the records, or a quantile; None where there is none."""
        span = RecordValues(self._schema.columns, self._values).span(column, {})
        numbers = np.asarray(span.low, np.float64)[chosen & span.present]
        if not len(numbers):
            return None
        return float(numbers.mean() if q is None else np.quantile(numbers, q, method="inverted_cdf"))
