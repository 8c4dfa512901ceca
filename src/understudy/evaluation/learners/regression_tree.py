"""A regression tree over binned features, grown level by level; classes are several targets at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.evaluation.learners.features import BINS

Matrix = npt.NDArray[np.float64]
Binned = npt.NDArray[np.int64]

DEPTH = 8
SMALLEST_LEAF = 20


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in one array each: a record goes left while its bin is at most the threshold."""

    feature: npt.NDArray[np.int64]  # -1 at a leaf
    threshold: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]  # the right child is the next node
    value: Matrix
    depth: int

    def predict(self, bins: Binned) -> Matrix:
        """The mean targets of the leaf that each record falls in."""
        node = np.zeros(len(bins), np.int64)
        for _ in range(self.depth):
            feature = self.feature[node]
            went = bins[np.arange(len(bins)), np.maximum(feature, 0)] > self.threshold[node]
            node = np.where(feature < 0, node, self.left[node] + went)
        return self.value[node]


def grow(
    bins: Binned,
    targets: Matrix,
    *,
    depth: int = DEPTH,
    smallest: int = SMALLEST_LEAF,
    features: npt.NDArray[np.int64] | None = None,
) -> Tree:
    """The tree that splits, greedily, for the largest drop in squared error (Gini's index, for classes)."""
    allowed = np.arange(bins.shape[1]) if features is None else features
    feature, threshold, left = [-1], [0], [0]
    value = [targets.mean(axis=0)]
    node = np.zeros(len(bins), np.int64)
    frontier = np.array([0])
    levels = 0
    for _ in range(depth):
        splits = _best(bins, targets, node, frontier, allowed=allowed, smallest=smallest)
        if not splits:
            break
        levels += 1
        following = []
        for at, (column, cut) in splits.items():
            feature[at], threshold[at], left[at] = column, cut, len(feature)
            inside = np.flatnonzero(node == at)
            right = bins[inside, column] > cut
            for side in (~right, right):
                following.append(len(feature))
                feature.append(-1)
                threshold.append(0)
                left.append(0)
                value.append(targets[inside[side]].mean(axis=0))
            node[inside] = left[at] + right
        frontier = np.array(following)
    return Tree(np.array(feature), np.array(threshold), np.array(left), np.array(value), levels)


def _best(
    bins: Binned,
    targets: Matrix,
    node: npt.NDArray[np.int64],
    frontier: npt.NDArray[np.int64],
    *,
    allowed: npt.NDArray[np.int64],
    smallest: int,
) -> dict[int, tuple[int, int]]:
    """The best split of every node on the frontier that has one: node -> (column, last bin to the left)."""
    place = np.full(int(node.max()) + 1, -1)
    inside = frontier[frontier < len(place)]
    place[inside] = np.arange(len(inside))
    members = np.flatnonzero(place[node] >= 0)
    at = place[node[members]]
    gain = np.full(len(inside), 1e-12)
    split: dict[int, tuple[int, int]] = {}
    wanted = targets[members]
    for column in allowed:
        cell = at * BINS + np.minimum(bins[members, column], BINS - 1)
        size = len(inside) * BINS
        count = np.bincount(cell, minlength=size).reshape(-1, BINS).cumsum(axis=1)
        total = count[:, -1:]
        score = np.zeros(count.shape)
        for target in wanted.T:
            below = np.bincount(cell, target, minlength=size).reshape(-1, BINS).cumsum(axis=1)
            whole = below[:, -1:]
            with np.errstate(divide="ignore", invalid="ignore"):
                score += below**2 / count + (whole - below) ** 2 / (total - count) - whole**2 / total
        score = np.where((count >= smallest) & (total - count >= smallest), score, -np.inf)
        best = score.argmax(axis=1)
        better = score[np.arange(len(inside)), best] > gain
        for i in np.flatnonzero(better):
            gain[i] = score[i, best[i]]
            split[int(inside[i])] = int(column), int(best[i])
    return split
