"""Every question has one shape: a frozen value, of which only the draw touches records."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.privacy import Approximate, Budget, Choice, Gaussian, Laplace, Neighbours
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator.discovery import DiscoveryQuestion
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.noisy_distances import DistancesQuestion
from understudy.privacy.curator.noisy_marginals import MarginalsQuestion
from understudy.privacy.curator.pooled_choice import CandidatePool, PooledQuestion
from understudy.privacy.curator.private_choice import DependenceQuestion, MisfitQuestion, ScoreMemory
from understudy.privacy.curator.question import Question
from understudy.privacy.curator.thresholded_histogram import HistogramQuestion
from understudy.privacy.curator.unit_sizes import SizesQuestion
from understudy.privacy.noise.randomness import OperatingSystem

DOMAIN = Domain({"a": 3, "b": 2})
PAIR = [("a", "b"), ("a",)]


def uniform(clique: Any) -> Any:
    return np.ones(DOMAIN.shape(clique))


QUESTIONS = [
    MarginalsQuestion.of(DOMAIN, ["a", "b"], None, Gaussian(20.0), None),
    MisfitQuestion.of(DOMAIN, PAIR, uniform, Choice(0.1), None, None, None, ScoreMemory()),
    PooledQuestion.of(
        DOMAIN, CandidatePool(PAIR).offer([0, 1]), uniform, Choice(0.1), None, None, None, ScoreMemory()
    ),
    DependenceQuestion.of(DOMAIN, PAIR, Choice(0.1), None, ScoreMemory()),
    HistogramQuestion.of(DOMAIN, ("a", "b"), Laplace(0.1), 50),
    DiscoveryQuestion.of("town", Approximate(0.1, 1e-7)),
    SizesQuestion.of((1, 2, 5), Budget(0.1, 1e-7)),
    DistancesQuestion.of(DOMAIN, [[("a", "b")], PAIR], uniform, Gaussian(20.0, None), None),
]


class CountedError(Exception):
    """Somebody counted records."""


class Closed:
    """An engine that can count everything, and says so when it is asked to."""

    domain = DOMAIN

    def count(self, *_: Any) -> Any:
        raise CountedError

    count_cells = count_values = count_units = recode = count


def kinds(kind: type) -> set[type]:
    return {found for child in kind.__subclasses__() for found in {child, *kinds(child)}}


def test_every_kind_of_question_is_tried_here() -> None:
    assert {type(q) for q in QUESTIONS} == {k for k in kinds(Question) if not inspect.isabstract(k)}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_question_is_frozen_and_only_its_draw_touches_records(question: Question[Any, Any]) -> None:
    engine: Any = Closed()
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.budget = None  # type: ignore[attr-defined]
    question.check(engine)
    price = question.price(Allowance(Budget(4.0, 1e-5), Neighbours()))
    assert price.losses and price.allowance.parts
    assert question.words(price)["question"]
    ready = question.prepare()
    with pytest.raises(CountedError):
        ready.draw(ExactCounts(engine, DOMAIN), OperatingSystem(), price)
