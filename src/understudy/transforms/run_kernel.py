"""The cuts of a stretch of codes into runs that are worth most, by what each run holds: a loop over all its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def best_cuts(held: Any, need: Any, value: Any, shortest: float, price: float, best: Any, back: Any) -> None:
    """Fill `best`, what the codes before each place are worth cut into runs, and `back`, where their last run begins.

    A run from one place to another holds the difference of `held`, and should hold `need` of its length. One that
    lacks more than a share `shortest` of it is none; every share that it lacks costs `price`.
    """
    best[0], back[0] = 0.0, 0
    for end in range(1, len(held)):
        top, at = -np.inf, 0
        for start in range(end):
            short = 1.0 - (held[end] - held[start]) / need[end - start]
            if short <= shortest:  # not where it is no number
                score = best[start] + value[start] - price * max(short, 0.0)
                if score > top:
                    top, at = score, start
        best[end], back[end] = top, at
