"""What a person is told while a run goes on."""

from __future__ import annotations

from fractions import Fraction

from understudy.pipeline.progress import Progress
from understudy.privacy import Gaussian, Group


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
