"""Runs of cliques are as many as are counted, and none is counted twice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.marginals.clique_runs import runs_of_pairs, runs_within


@pytest.mark.parametrize("most", [1, 10, 300, 5000])
def test_runs_of_all_pairs_are_as_many_as_are_made(most: int) -> None:
    draw = np.random.default_rng(most)
    for columns in (0, 1, 2, 3, 12):
        domain = Domain({f"c{i}": int(size) for i, size in enumerate(draw.integers(1, 40, columns))})
        made = runs_within(domain, combinations(domain, 2), most)
        assert runs_of_pairs(domain, most) == len(made)
        assert [pair for run in made for pair in run] == list(combinations(domain, 2))
