"""The contest's second metric: how often records satisfy conjunctions over many columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit
from understudy.errors import ParameterError
from understudy.evaluation.columns import Codebook, Columns, rows_of

Conjunction = dict[str, tuple[int, ...]]  # column -> accepted codes, ascending

JOIN_PROBABILITY = 0.1
FLOOR = 1e-6  # of a synthetic share, so that its logarithm exists
SCALE = math.log(1000)
BLOCK = 1 << 15  # records whose bits are held at once
WORD = 64


def draw_conjunctions(
    true: Columns, largest: Mapping[str, int], count: int, randomness: np.random.Generator
) -> list[Conjunction]:
    """Up to `count` conjunctions, each grown around a distinct row of the true table."""
    rows = rows_of(true)
    chosen = randomness.choice(rows, min(count, rows), replace=False)
    return [_grow({name: int(true[name][row]) for name in true}, largest, randomness) for row in chosen]


def _grow(
    record: Mapping[str, int], largest: Mapping[str, int], randomness: np.random.Generator
) -> Conjunction:
    joins = randomness.random(len(record)) < JOIN_PROBABILITY
    return {
        name: _accepted(value, largest[name], randomness)
        for (name, value), joined in zip(record.items(), joins, strict=True)
        if joined
    }


def _accepted(value: int, largest: int, randomness: np.random.Generator) -> tuple[int, ...]:
    accepted = {value}
    while True:
        for draw in randomness.integers(0, largest, size=64, endpoint=True).tolist():
            if draw in accepted:
                return tuple(sorted(accepted))
            accepted.add(draw)


def conjunction_shares(table: Columns, conjunctions: Sequence[Conjunction]) -> npt.NDArray[np.float64]:
    """The share of the table's records that satisfy each conjunction, in one pass over the records."""
    words = -(-len(conjunctions) // WORD)
    masks = {
        name: _masks(name, conjunctions, words)
        for name in table
        if any(name in conjunction for conjunction in conjunctions)
    }
    rows = rows_of(table)
    counts = np.zeros(words * WORD, np.int64)
    for start in range(0, rows, BLOCK):
        alive = np.full((min(BLOCK, rows - start), words), ~np.uint64(0), np.uint64)
        for name, (book, mask) in masks.items():
            _meet(alive, mask, book.encode(table[name][start : start + BLOCK]))
        _tally(alive, counts)
    return counts[: len(conjunctions)] / rows


def _masks(
    name: str, conjunctions: Sequence[Conjunction], words: int
) -> tuple[Codebook, npt.NDArray[np.uint64]]:
    # One bit a conjunction: which of them a code satisfies, as far as this column is concerned.
    named = [i for i, conjunction in enumerate(conjunctions) if name in conjunction]
    book = Codebook.listing(np.unique(np.concatenate([conjunctions[i][name] for i in named])))
    bits = np.ones((book.absent + 1, words * WORD), bool)
    bits[:, named] = False
    for i in named:
        bits[np.searchsorted(book.values, conjunctions[i][name]), i] = True
    return book, np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


@njit(cache=True, nogil=True)
def _meet(alive: Any, mask: Any, codes: Any) -> None:
    for i in range(len(codes)):
        for word in range(alive.shape[1]):
            alive[i, word] &= mask[codes[i], word]


@njit(cache=True, nogil=True)
def _tally(alive: Any, counts: Any) -> None:
    for i in range(alive.shape[0]):
        for word in range(alive.shape[1]):
            left = alive[i, word]
            bit = 0
            while left:
                if left & np.uint64(1):
                    counts[WORD * word + bit] += 1
                left >>= np.uint64(1)
                bit += 1


def log_ratios(true: npt.NDArray[np.float64], synthetic: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`ln p_synthetic - ln p_true` of each conjunction, the synthetic share floored at 1e-6."""
    if (true <= 0).any():
        raise ParameterError(
            "a conjunction is satisfied by no record of the true table.",
            hint="the tests were drawn from another table; draw them from this one.",
        )
    return np.log(np.maximum(synthetic, FLOOR)) - np.log(true)


def conjunction_error(ratios: npt.NDArray[np.float64]) -> float:
    """The root mean square of the log ratios over ln 1000, at most 1."""
    return min(1.0, math.sqrt(float(np.mean(ratios**2))) / SCALE) if len(ratios) else 0.0
