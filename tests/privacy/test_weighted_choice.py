"""Candidates that matter more weigh more in a choice, whose noise is in proportion to the largest weight."""

from __future__ import annotations

import numpy as np
import pytest
from plain_engine import people

from understudy.errors import ParameterError
from understudy.privacy import Budget, Choice, Curator, Neighbours, Seeded
from understudy.privacy.curator import private_choice

PAIRS = [("sex", "age"), ("sex", "school"), ("age", "school")]


def drawn_at(monkeypatch: pytest.MonkeyPatch, **asked: object) -> tuple[list[int], int]:
    """The scores and the sensitivity that a choice is drawn at."""
    seen: list[tuple[list[int], int]] = []
    monkeypatch.setattr(
        private_choice,
        "choose",
        lambda scores, epsilon, sensitivity, source: seen.append((scores.tolist(), sensitivity)) or 0,
    )
    records = people()
    curator = Curator(records, Budget(1.0, 1e-9), neighbours=Neighbours("replace"), source=Seeded(0))
    curator.choose(PAIRS, lambda clique: np.zeros(records.domain.size(clique)), Choice(0.1), **asked)  # type: ignore[arg-type]
    return seen[0]


def test_a_misfit_is_weighed_before_its_cost_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, one = drawn_at(monkeypatch)
    weighed, most = drawn_at(monkeypatch, weights=[1, 7, 3], costs=[0, 5, -2])
    assert weighed == [plain[0], 7 * plain[1] - 5, 3 * plain[2] + 2]
    assert (one, most) == (
        2,
        14,
    )  # a record that is replaced moves a misfit by two, the heaviest score by fourteen


def test_a_misfit_too_large_to_be_weighed_counts_as_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_choice, "misfit", lambda counts, expected: 2**61)
    scores, _ = drawn_at(monkeypatch, weights=[1000, 1, 2])
    assert scores == [1000 * 2**50, 2**50, 2 * 2**50]


@pytest.mark.parametrize("weights", [[0, 1, 1], [1, 1], [1.5, 1, 1], [True, 1, 1], [1, 1, 1001], [-1, 1, 1]])
def test_weights_are_whole_numbers_from_one_to_a_thousand(weights: list[object]) -> None:
    with pytest.raises(ParameterError):
        Curator(people(), Budget(1.0, 1e-9)).choose(
            PAIRS, lambda c: np.zeros(1), Choice(0.1), weights=weights
        )  # type: ignore[arg-type]


def test_other_weights_make_another_question() -> None:
    def asked(weights: list[int]) -> object:
        records = people()
        curator = Curator(records, Budget(1.0, 1e-9), source=Seeded(0))
        curator.choose(
            PAIRS, lambda clique: np.zeros(records.domain.size(clique)), Choice(0.1), weights=weights
        )
        return curator.certificate()["charges"][0]["digest"]

    assert asked([1, 2, 3]) != asked([1, 2, 4])
