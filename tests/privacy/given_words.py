"""Random words that are given one by one, to lead a test into a rare corner."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from understudy.privacy.noise.randomness import Words


class GivenWords:
    """A source of the given words, in order. Never private."""

    private = False

    def __init__(self, words: Iterable[int]) -> None:
        self._left = list(words)

    def words(self, count: int) -> Words:
        if count > len(self._left):
            raise ValueError(f"{count} words were asked for, and {len(self._left)} are left")
        drawn, self._left = np.array(self._left[:count], dtype=np.uint64), self._left[count:]
        drawn.flags.writeable = False
        return drawn
