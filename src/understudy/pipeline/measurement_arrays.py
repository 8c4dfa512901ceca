"""Measurements as a release's file holds them: plain words and arrays, checked against the domain when read."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.errors import ReleaseError
from understudy.marginals import Measurement, Query
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned

Arrays = Mapping[str, npt.NDArray[Any]]


def measurements_to_arrays(
    measurements: Sequence[Measurement],
) -> tuple[list[dict[str, Any]], dict[str, npt.NDArray[Any]]]:
    """What is said of each measurement, and the arrays of all."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for number, m in enumerate(measurements):
        arrays[f"measurement {number} values"] = _whole(m.values)
        arrays[f"measurement {number} stddev"] = m.stddev
    return [_words(m) for m in measurements], arrays


def measurements_from_arrays(
    domain: Domain, said: Sequence[Mapping[str, Any]], arrays: Arrays
) -> tuple[Measurement, ...]:
    """The measurements again; a ReleaseError where one does not fit its clique."""
    return tuple(
        measurement_from(
            domain, words, arrays[f"measurement {number} values"], arrays[f"measurement {number} stddev"]
        )
        for number, words in enumerate(said)
    )


def _whole(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Noisy counts as the integers they are."""
    return (
        values.astype(np.int64)
        if (np.abs(values) < 2**62).all() and (values == np.rint(values)).all()
        else values
    )


def measurement_from(
    domain: Domain, said: Mapping[str, Any], values: npt.NDArray[Any], stddev: npt.NDArray[Any]
) -> Measurement:
    """A measurement of as many values as its clique has cells, or its bins, on this domain."""
    query: Query | None
    clique, query, shape = domain.clique(said["clique"]), None, domain.shape(said["clique"])
    if said["bins"] is not None:
        query = Binned(tuple(np.array(bins, np.int64) for bins in said["bins"]))
        fits = query.fine_shape == shape and all(map(operator.le, query.shape, shape))
        if not fits:
            raise ReleaseError(f"the bins of {clique!r} are not those of its codes.")
        shape = query.shape
    elif said.get("interactions") is not None:
        query = Interactions(shape, said["interactions"])
    if values.size != math.prod(shape):
        raise ReleaseError(f"the measurement of {clique!r} has another number of values than cells.")
    return Measurement(clique, values, stddev, query)


def _words(measurement: Measurement) -> dict[str, Any]:
    query = measurement.query
    words = {"clique": list(measurement.clique), "bins": None}
    if query is None:
        return words
    if isinstance(query, Binned):
        return words | {"bins": [bins.tolist() for bins in query.bins]}
    if isinstance(query, Interactions):
        return words | {"interactions": [list(part) for part in query.left_out]}
    raise ReleaseError(f"the measurement of {measurement.clique!r} has a query that no release can hold.")
