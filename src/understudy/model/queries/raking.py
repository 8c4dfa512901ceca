"""What a tree says of several columns, brought to what is known better of pairs among them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from understudy.domain import Clique
from understudy.model.tree.factor import Array

SWEEPS, CLOSE = 25, 5e-4  # over all pairs; a probability that less is moved of is left


def raked(joint: Array, names: Clique, known: Mapping[Clique, Array]) -> Array:
    """The table of `names` nearest to the tree's in which `known` pairs are as they are, and others as they were.

    By proportional fitting: what the tree rules out stays so. Records that follow the same pairs come close to it.
    """
    pairs = list(itertools.combinations(range(len(names)), 2))
    targets = []
    for pair in pairs:
        table = known.get((names[pair[0]], names[pair[1]]))
        targets.append(_of(joint, pair) if table is None else table)
    # Those that are known come last in a sweep, so that they hold to the last digit wherever the tree has room.
    order = sorted(range(len(pairs)), key=lambda i: (names[pairs[i][0]], names[pairs[i][1]]) in known)
    for _ in range(SWEEPS):
        moved = 0.0
        for i in order:
            held = _of(joint, pairs[i])
            moved = max(moved, float(np.abs(held - targets[i]).sum()))
            factor = np.divide(targets[i], held, out=np.zeros_like(held), where=held > 0)
            joint = joint * factor.reshape(
                [size if axis in pairs[i] else 1 for axis, size in enumerate(joint.shape)]
            )
        if moved < CLOSE:
            break
    whole = joint.sum()
    return joint / whole if whole > 0 else joint


def _of(joint: Array, pair: tuple[int, int]) -> Array:
    others = tuple(axis for axis in range(joint.ndim) if axis not in pair)
    sums: Array = joint.sum(axis=others)
    return sums
