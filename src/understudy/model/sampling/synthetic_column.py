"""The paper's "Synthetic column": one column of records, group by group, as its expected counts say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain.codes import Codes, code_type
from understudy.errors import ParameterError
from understudy.model.sampling.rounding import collect, deal, matrix_rounding, remainder_rounding
from understudy.model.tree.factor import Array

BLOCK_CELLS = 1 << 20  # groups are rounded in blocks of about this many cells, to bound memory

Counts = npt.NDArray[np.int64]
Keys = npt.NDArray[np.int64]
Rounding = Callable[[Array, Counts, np.random.Generator], Counts]


@dataclass(frozen=True, eq=False)
class Conditional:
    """How likely each of `width` codes is in each of `groups` groups; `rows` gives some groups' weights."""

    groups: int
    width: int
    rows: Callable[[npt.NDArray[np.intp]], Array]


def _seed(random: np.random.Generator) -> np.uint64:
    return random.integers(0, 2**64, dtype=np.uint64)


def _matrix(weights: Array, sizes: Counts, random: np.random.Generator) -> Counts:
    return np.asarray(matrix_rounding(weights, sizes, _seed(random)))


def _paper(weights: Array, sizes: Counts, random: np.random.Generator) -> Counts:
    return np.asarray(remainder_rounding(weights, sizes, _seed(random)))


def _independent(weights: Array, sizes: Counts, random: np.random.Generator) -> Counts:
    """What independent draws would have counted: a multinomial a group."""
    return random.multinomial(sizes, weights / weights.sum(axis=1, keepdims=True))


ROUNDINGS: dict[str, Rounding] = {"synthetic": _matrix, "paper": _paper, "iid": _independent}


def rounding_named(method: str) -> Rounding:
    """The rounding that a method stands for."""
    if method not in ROUNDINGS:
        raise ParameterError(
            f"sampling method {method!r} is not known.", hint=f"use one of {', '.join(map(repr, ROUNDINGS))}."
        )
    return ROUNDINGS[method]


def synthetic_column(
    keys: Keys, conditional: Conditional, rounding: Rounding, random: np.random.Generator
) -> Codes:
    """One code a record: record i belongs to group `keys[i]` of the conditional.

    Within a group the counts are the rounded expectations, and which record gets which code is a fresh
    uniform shuffle: given its parents, a column is independent of every other (siblings are never coupled).
    """
    dtype: np.dtype[Any] = code_type(conditional.width)
    sizes = np.bincount(keys, minlength=conditional.groups)
    cursors = np.zeros(conditional.groups, np.int64)
    np.cumsum(sizes[:-1], out=cursors[1:])
    pool = np.empty(keys.size, dtype)
    filled = np.flatnonzero(sizes)
    step = max(1, BLOCK_CELLS // conditional.width)
    for first in range(0, filled.size, step):
        block = filled[first : first + step]
        counts = rounding(conditional.rows(block), sizes[block], random)
        deal(counts, cursors[block], pool, _seed(random))
    out = np.empty(keys.size, dtype)
    collect(keys, cursors, pool, out)
    return out
