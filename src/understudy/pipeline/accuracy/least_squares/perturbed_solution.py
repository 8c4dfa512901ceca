"""Where the solution of linear equations lies, when each of their numbers is known to lie between two others.

Of A x = b, with the middles of A and b and how far off each may be: for any guess g, A (x - g) = b - A g. Times the
inverse P of A's middle, x - g = P (b - A g) - P (A - middle) (x - g). So |x - g| is at most |P (b - A g)| plus
M |x - g|, with M = |P| times how far A may be off. Where the spectral radius of M is below 1, no A in reach is
singular, and (I - M)^-1 times the first bounds |x - g|, all orders included; put into the second term once more, it
leaves little more than what b and A do at first order. Where it is not, nothing can be told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
WORST = 1e10  # of a matrix' condition: the inverse of a worse one is not one, in floats
FINE = 1 - 1e-6  # of the spectral radius: below 1 beyond what rounding does to it


def solution_bounds(
    matrix: tuple[Floats, Floats], right: tuple[Floats, Floats], guess: Floats, wanted: Floats
) -> tuple[Floats, Floats]:
    """Between what weighted sums of the solution lie, a row of weights each: infinite where nothing can be told.

    `matrix` and `right` have the least and the greatest that each number can be.
    """
    unknown = np.full(len(wanted), np.inf)
    if not all(np.isfinite(end).all() for end in (*matrix, *right, guess)):
        return -unknown, unknown
    (middle, off), (found, wide) = _middle(*matrix), _middle(*right)
    if not np.linalg.cond(middle) < WORST:
        return -unknown, unknown
    inverse = np.linalg.inv(middle)
    spread = np.abs(inverse) @ off
    if not np.abs(np.linalg.eigvals(spread)).max() < FINE:
        return -unknown, unknown
    rest, reach = found - middle @ guess, wide + off @ np.abs(guess)
    first = np.abs(inverse @ rest) + np.abs(inverse) @ reach
    apart = np.linalg.solve(np.eye(len(guess)) - spread, first)  # |x - guess| is at most this
    turned = wanted @ inverse
    centre, most = wanted @ guess + turned @ rest, np.abs(turned) @ (reach + off @ apart)
    return centre - most, centre + most


def _middle(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The middle, and how far off it is at most."""
    return (low + high) / 2, np.maximum((high - low) / 2, 0.0)
