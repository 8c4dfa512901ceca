"""Where random words come from: the operating system for people's privacy, a seed for tests alone."""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


class Randomness(Protocol):
    """A source of independent uniform 64-bit words."""

    @property
    def private(self) -> bool:
        """Whether noise made of these words protects anyone. Only `OperatingSystem`'s yes is believed."""
        ...

    def words(self, count: int) -> Words:
        """`count` fresh words, read-only."""
        ...


class OperatingSystem:
    """The operating system's cryptographic generator; the only source on a private path.

    Nothing is kept between calls, so a forked or restored process cannot hand out a word twice.
    """

    private = True

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class Seeded:
    """Words that a seed determines, to replay a run in a test. Never private."""

    private = False

    def __init__(self, seed: int) -> None:
        self._stream = np.random.Philox(seed)

    def words(self, count: int) -> Words:
        drawn = np.asarray(self._stream.random_raw(count), dtype=np.uint64)
        drawn.flags.writeable = False
        return drawn


def extend(number: int, bits: int, source: Randomness) -> int:
    """`number` with `bits` more random bits below it: the same uniform number, seen more closely."""
    for word in source.words(bits // 64):
        number = (number << 64) | int(word)
    rest = bits % 64
    return number << rest | int(source.words(1)[0]) >> (64 - rest) if rest else number
