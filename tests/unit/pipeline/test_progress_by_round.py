"""What a person is told while a run goes on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.marginals.interactions import Interactions
from understudy.pipeline.progress import Progress
from understudy.privacy import Gaussian, Group, Neighbours
from understudy.privacy.curator.noisy_marginals import reach


def test_a_round_says_what_was_measured_and_what_is_left() -> None:
    said, seconds = list[str](), iter([10.0, 14.0, 18.0])
    plan = [Group("look", "measure", Fraction(1, 5)), Group("measure", "measure", Fraction(4, 5))]
    progress = Progress(said.append, plan, clock=lambda: next(seconds))
    progress.allotted({"look": Gaussian(2.0), "measure": Gaussian(1.0)})  # in precision: 1/4 and 1
    for cliques, scales in (
        ([["a"], ["b"]], [8**0.5, 8**0.5]),
        ([["a", "b"]], [2**0.5]),
        ([["a", "b"], ["b", "c"]], [2.0, 2.0]),
    ):
        progress({"question": "measure", "cliques": cliques, "scales": scales}, True)
    assert said == [
        "fitting the model",
        "fitting the model to 1 marginal; 40% of the budget for measuring is left, about 4 s",
        "fitting the model",
    ]


@pytest.mark.parametrize("neighbours", [Neighbours(), Neighbours("replace"), Neighbours("add-remove", 3)])
def test_what_is_left_is_told_of_interactions_as_of_marginals(neighbours: Neighbours) -> None:
    said, seconds = list[str](), iter([0.0, 5.0])
    progress = Progress(said.append, [Group("measure", "measure", Fraction(1))], clock=lambda: next(seconds))
    progress.allotted({"measure": Gaussian(1.0, None, neighbours)})
    fifth = 5**0.5  # the scale of noise, in reaches, of what a fifth of the precision buys
    query = Interactions((30, 20), [(0,), (1,)])
    words = {"shape": [30, 20], "left out": [list(part) for part in query.left_out]}
    for asked, told in ((None, None), (query, words)):
        scale = fifth * reach(asked, neighbours)
        cliques = [["a"]] if asked is None else [["a", "b"]]
        progress({"question": "measure", "cliques": cliques, "scales": [scale], "interactions": [told]}, True)
    assert said[-1] == (
        "fitting the model to 1 marginal; 60% of the budget for measuring is left, about 15 s"
    )
