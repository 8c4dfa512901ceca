"""What cells hold, given noisy counts and what was expected of them, in compiled code.

A cell's count is taken to be one of a few things: nothing at all; what was expected, exactly or about; or anything of
that order (exponential laws of several means). Each has a posterior mean in closed form under normal noise.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from understudy.compiled import njit

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int32]

_WIDTHS = np.array([0.0, 0.15, 0.5])  # of "what was expected, or about", beside what was expected
_MEANS = np.array([0.25, 1.0, 4.0])  # of "anything", beside what was expected
BELIEVED = np.array([0.4, 4.0, 0.2, 0.2, 0.05, 0.05, 0.05])  # cells of each law, before any is looked at
LAWS = 1 + len(_WIDTHS) + len(_MEANS)
_NOTHING = (
    1e-3  # of what was expected: a cell that holds nothing is given so much, as no logarithm is of zero
)
_SETTLED = 1e-7  # a share of the cells: where no law's moved further, another round is not worth its time
_ROOT = math.sqrt(2 * math.pi)
_FAR = -6.0  # standard deviations: from here down a normal's tail is read off its series
_WHOLE = 8.0  # standard deviations: from here up a normal is surely below
_UNHEARD = -60.0  # the logarithm of a chance beside the likeliest that no share could bring back


@njit(cache=True, nogil=True, error_model="numpy")
def _laws(noisy: float, prior: float, sigma: float, chances: Floats, means: Floats) -> None:
    """How likely one noisy count is under every law, up to a factor for all, and the mean of the count behind it.

    A law's chance is a factor and an exponent, kept apart until the largest exponent is known. That of the law with
    mean m is sigma / m times normal(z) / density(z), at z = noisy / sigma - sigma / m, beside that of nothing at all.
    """
    apart = noisy / sigma
    nothing = -0.5 * apart * apart
    chances[0], means[0] = 1.0, 0.0
    exponents = means  # until an exponent is used, it stands where the mean will be
    largest = nothing
    at = 1
    for i in range(_WIDTHS.size):
        variance = sigma * sigma + (_WIDTHS[i] * prior) ** 2
        exponent = -0.5 * (noisy - prior) ** 2 / variance
        chances[at], exponents[at] = sigma / math.sqrt(variance), exponent
        largest = max(largest, exponent)
        at += 1
    for i in range(_MEANS.size):
        z = apart - sigma / (_MEANS[i] * prior)
        if z > _FAR:
            largest = max(largest, nothing + 0.5 * z * z)
    chances[0] = _heard(nothing - largest)
    at = 1
    for i in range(_WIDTHS.size):
        chances[at] *= _heard(exponents[at] - largest)
        spread = (_WIDTHS[i] * prior) ** 2
        means[at] = max(prior + spread / (sigma * sigma + spread) * (noisy - prior), 0.0)
        at += 1
    for i in range(_MEANS.size):
        scale = sigma / (_MEANS[i] * prior)
        z = apart - scale
        if z > _FAR:
            below = 0.5 * math.erfc(-z / math.sqrt(2.0)) if z < _WHOLE else 1.0
            beyond = z + (math.exp(-0.5 * z * z) / (_ROOT * below) if z < _WHOLE else 0.0)
            chances[at] = scale * _ROOT * below * _heard(nothing + 0.5 * z * z - largest)
        else:
            inverse = 1.0 / (z * z)
            less = inverse * (1.0 - inverse * (3.0 - inverse * (15.0 - inverse * 105.0)))
            beyond = -z * less / (1.0 - less)
            chances[at] = scale * (1.0 - less) / -z * chances[0]
        means[at] = max(sigma * beyond, 0.0)
        at += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _heard(exponent: float) -> float:
    """The chance of this logarithm beside the likeliest; none where it is too small to matter."""
    return math.exp(exponent) if exponent > _UNHEARD else 0.0


def pull(
    table: Floats,
    noisy: Floats,
    rows: Places,
    columns: Places,
    noise_of_rows: Floats,
    noise_of_columns: Floats,
    *,
    least: float,
    rounds: int,
    most: int,
) -> None:
    """Multiply every cell of a table by the mean of what its block holds beside what was expected of it.

    Laws are as common as the blocks themselves say: that is learned from at most about so many of them,
    by at most so many rounds of expectation and maximisation. Else as `pull_blocks`.
    """
    blocks = noise_of_rows.size * noise_of_columns.size
    step = blocks // most + 1
    judged, spare = np.empty((2 * LAWS + 1, -(-blocks // step))), np.empty((3, LAWS))
    pull_blocks(
        table,
        noisy,
        rows,
        columns,
        noise_of_rows,
        noise_of_columns,
        least,
        BELIEVED,
        rounds,
        step,
        judged,
        spare,
        np.empty((5, blocks)),
    )


# Kernels make no arrays, which would take longer to compile than all else in them.


@njit(cache=True, nogil=True, error_model="numpy")
def pull_blocks(
    table: Floats,
    noisy: Floats,
    rows: Places,
    columns: Places,
    noise_of_rows: Floats,
    noise_of_columns: Floats,
    least: float,
    believed: Floats,
    rounds: int,
    step: int,
    judged: Floats,
    spare: Floats,
    room: Floats,
) -> None:
    """Multiply every cell of a table by how much its block likely holds beside what was expected of it.

    `rows` and `columns` say which of its blocks each row and column is in, the others how much variance they bring;
    `least` is what a block is expected to hold at least; `room` has five numbers for every block.
    """
    wide, blocks = noise_of_columns.size, noise_of_rows.size * noise_of_columns.size
    expected, seen, held, prior, scale = room[0], room[1], room[2], room[3], room[4]
    for block in range(blocks):
        expected[block] = seen[block] = 0.0
        scale[block] = math.sqrt(noise_of_rows[block // wide] * noise_of_columns[block % wide])
    cell = 0
    for row in range(rows.size):
        for column in range(columns.size):
            block = rows[row] * wide + columns[column]
            expected[block] += table[cell]
            seen[block] += noisy[cell]
            cell += 1
    for block in range(blocks):
        prior[block] = max(expected[block], least)
    _hold(seen, prior, scale, believed, rounds, step, judged, spare, held)
    for block in range(blocks):
        held[block] /= expected[block]
    cell = 0
    for row in range(rows.size):
        for column in range(columns.size):
            table[cell] *= held[rows[row] * wide + columns[column]]
            cell += 1


@njit(cache=True, nogil=True, error_model="numpy")
def best_cut(product: Floats, square: Floats, start: int, end: int) -> tuple[float, int]:
    """How much better two shares on each group explain a run than one does, at best, and where it is cut for it.

    `product` and `square` are sums up to each code, a column a group; the first of equal places is taken.
    """
    most, place = -math.inf, start + 1
    weight = square[end] - square[start]
    for cut in range(start + 1, end):
        before, behind, gain = square[cut] - square[start], square[end] - square[cut], 0.0
        for group in range(product.shape[1]):
            left, right = (
                product[cut, group] - product[start, group],
                product[end, group] - product[cut, group],
            )
            gain += left * left / before + right * right / behind - (left + right) ** 2 / weight
        if gain > most:
            most, place = gain, cut
    return most, place


@njit(cache=True, nogil=True, error_model="numpy")
def _hold(
    noisy: Floats,
    prior: Floats,
    sigma: Floats,
    believed: Floats,
    rounds: int,
    step: int,
    judged: Floats,
    spare: Floats,
    held: Floats,
) -> None:
    """The mean of what each cell holds, into an array that is there, learned from every `step`-th.

    `believed` are cells of each law that are taken to have been seen already; `judged` is room for chances, means and
    one number a cell.
    """
    common, total = spare[2], 0.0
    for law in range(LAWS):
        total += believed[law]
    for law in range(LAWS):
        common[law] = believed[law] / total
    for place in range(judged.shape[1]):
        cell = place * step
        _laws(noisy[cell], prior[cell], sigma[cell], spare[0], spare[1])
        for law in range(LAWS):
            judged[law, place], judged[LAWS + law, place] = spare[0, law], spare[1, law]
    _learn(judged, believed, rounds, judged[2 * LAWS], common)
    for cell in range(held.size):
        if step == 1:
            for law in range(LAWS):
                spare[0, law], spare[1, law] = judged[law, cell], judged[LAWS + law, cell]
        else:
            _laws(noisy[cell], prior[cell], sigma[cell], spare[0], spare[1])
        whole = some = 0.0
        for law in range(LAWS):
            weight = common[law] * spare[0, law]
            whole += weight
            some += weight * spare[1, law]
        held[cell] = max(some / whole, _NOTHING * prior[cell])


@njit(
    cache=True, nogil=True, fastmath={"reassoc", "contract"}
)  # so that sums over cells are taken many at a time
def _learn(chances: Floats, believed: Floats, rounds: int, rest: Floats, found: Floats) -> None:
    """How common each law is among the cells, until a round changes nothing worth another."""
    cells = chances.shape[1]
    total = float(cells)
    for law in range(LAWS):
        total += believed[law]
    for _ in range(rounds):
        for cell in range(cells):
            rest[cell] = found[0] * chances[0, cell]
        for law in range(1, LAWS):
            share = found[law]
            for cell in range(cells):
                rest[cell] += share * chances[law, cell]
        for cell in range(cells):
            rest[cell] = 1.0 / rest[cell]
        moved = 0.0
        for law in range(LAWS):
            seen = 0.0
            for cell in range(cells):
                seen += chances[law, cell] * rest[cell]
            share = (believed[law] + found[law] * seen) / total
            moved = max(moved, abs(share - found[law]))
            found[law] = share
        if moved < _SETTLED:
            break
