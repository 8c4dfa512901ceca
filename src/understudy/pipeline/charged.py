"""Whether what a release holds was paid for: each measurement by one charge, each column by some question.

A certificate alone says what was asked. That the release holds no more than the answers is checked here: a noisy
marginal of which no charge tells, or one with less noise (or, as a boast, more) than was charged, does not pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique
from understudy.errors import ReleaseError
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.mechanisms.generator import Generator, Grouped
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.privacy.curator.noisy_distances import PARTS
from understudy.privacy.curator.noisy_distances import QUESTION as DISTANCE
from understudy.privacy.curator.verification import UNREADABLE, charged_interactions
from understudy.transforms.compress import Compression

_ROUNDING = 1e-9  # of a standard deviation: averages and merged codes are computed in floats

MOST_COMPARED = 10**6  # measurements with answers


@dataclass
class Answer:
    """One marginal of a charge: its noise, its number of values where it was binned, and whether it is spoken for."""

    charge: int
    stddev: float
    bins: tuple[int, ...] | None
    interactions: Interactions | None = None
    taken: bool = False


def check_charged(
    certificate: Mapping[str, Any],
    measurements: Sequence[Measurement],
    field: Generator,
    compression: Compression,
    errors: StatedErrors | None = None,
) -> None:
    """Refuse (ReleaseError) a release with a measurement, a column or stated errors that were not charged for."""
    try:
        answers = _answers(certificate)
    except UNREADABLE:
        raise ReleaseError("the certificate's bins cannot be read.") from None
    if not sum(len(answers.get(frozenset(m.clique), [])) for m in measurements) <= MOST_COMPARED:
        raise ReleaseError("the release holds too many measurements of the same columns.")
    for measured in measurements:
        paying = _paying(measured, answers.get(frozenset(measured.clique), []), compression)
        if not paying:
            raise ReleaseError(
                f"the release holds a measurement of {', '.join(measured.clique)} that no charge pays for."
            )
        for answer in paying:
            answer.taken = True
    histograms = {frozenset(clique) for clique in _charged(certificate, "histogram")}
    asked = frozenset().union(*answers, *histograms)
    if not asked >= set(field.domain):
        raise ReleaseError("the release models a column of which no charge tells.")
    if isinstance(field, Grouped) and not histograms >= set(map(frozenset, field.groups)):
        raise ReleaseError("the release holds a histogram that no charge pays for.")
    if errors is not None and not any(_is_check(errors, charge) for charge in certificate["charges"]):
        raise ReleaseError("the release states errors that no charge pays for.")


def _is_check(errors: StatedErrors, charge: Mapping[str, Any]) -> bool:
    """Whether a charge is for these errors: the same columns, with the same noise."""
    if charge["question"] != DISTANCE or charge["digest"] != errors.digest:
        return False
    scales = np.array(charge["scales"], np.float64) / PARTS
    return bool(charge["summed"] == errors.sizes and _close(errors.stddev, scales))


def _charged(certificate: Mapping[str, Any], question: str) -> list[Clique]:
    return [
        tuple(clique)
        for charge in certificate["charges"]
        if charge["question"] == question
        for clique in charge["cliques"]
    ]


def _answers(certificate: Mapping[str, Any]) -> dict[frozenset[str], list[Answer]]:
    """Every marginal that a charge tells of, by its columns."""
    found: dict[frozenset[str], list[Answer]] = {}
    for number, charge in enumerate(certificate["charges"]):
        if charge["question"] != "measure":
            continue
        spread = math.sqrt(2) if charge["losses"][0]["kind"] == "laplace" else 1.0
        cliques, scales = charge["cliques"], charge["scales"]
        shapes = charge.get("bins") or [None] * len(cliques)
        beyond = charged_interactions(charge)
        for clique, scale, shape, query in zip(cliques, scales, shapes, beyond, strict=True):
            bins = None if shape is None else tuple(map(int, shape))
            found.setdefault(frozenset(clique), []).append(Answer(number, spread * scale, bins, query))
    return found


def _paying(measured: Measurement, answers: Sequence[Answer], compression: Compression) -> list[Answer]:
    """The answers that a measurement is made of: one, or the average of all of a charge's on its columns; or none."""
    free = [answer for answer in answers if not answer.taken and _is_of(measured, answer)]
    for answer in free:
        if _has_noise(measured, answer.stddev, compression):
            return [answer]
    for number in dict.fromkeys(answer.charge for answer in free):
        together = [answer for answer in free if answer.charge == number]
        precision = math.fsum(answer.stddev**-2 for answer in together)
        if _has_noise(measured, precision**-0.5, compression):
            return together
    return []


def _is_of(measured: Measurement, answer: Answer) -> bool:
    """Whether a measurement and an answer have the same cells: the bins that were charged, or no bins at all."""
    if isinstance(measured.query, Interactions) or answer.interactions is not None:
        return measured.query == answer.interactions
    if isinstance(measured.query, Binned):
        return answer.bins == measured.query.shape
    return answer.bins is None or math.prod(answer.bins) == measured.values.size


def _has_noise(measured: Measurement, stddev: float, compression: Compression) -> bool:
    """Whether a measurement's noise is that of an answer: in every cell, or in sums of the codes that were merged."""
    if _close(measured.stddev, np.array(stddev)):
        return True
    if len(measured.clique) != 1 or measured.clique[0] not in compression.maps:
        return False
    if measured.query is not None or measured.stddev.ndim == 0:
        return False
    merged = np.sqrt(compression.behind(measured.clique[0]))
    return merged.shape == measured.stddev.shape and _close(measured.stddev, stddev * merged)


def _close(claimed: npt.NDArray[np.float64], paid: npt.NDArray[np.float64]) -> bool:
    return bool((np.abs(claimed - paid) <= _ROUNDING * paid).all())
