"""Every question has one shape: a frozen value, of which only the draw touches records."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.privacy import Approximate, Budget, Choice, Gaussian, Laplace, Neighbours
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator import curator
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


def test_the_page_names_as_many_questions_as_the_curator_asks_and_every_file_of_them():
    """Whoever audits the curator reads its header and docs/privacy.md: neither may leave a question out."""
    asking = [
        node.name
        for node in ast.walk(ast.parse(Path(curator.__file__).read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(part, ast.Attribute) and part.attr == "_ask" for part in ast.walk(node))
    ]
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text()
    said = {"seven": 7, "eight": 8, "nine": 9}
    for text in (page, curator.Curator.__doc__):
        assert said[re.search(r"[Aa]nswers (\w+)\s+questions", text)[1]] == len(asking)
    for file in Path(curator.__file__).parent.glob("*.py"):
        if file.stem != "question" and re.search(r"^class \w*Question\b", file.read_text(), re.M):
            assert f"`{file.name}`" in page and f"`{file.name}`" in curator.__doc__, file.name
