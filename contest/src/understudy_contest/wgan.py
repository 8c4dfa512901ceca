"""DP-WGAN, the contest's fifth entry (UCLANESL): a Wasserstein GAN trained with clipped, noised gradients.

THIS RIVAL DOES NOT USE THE CURATOR. A gradient is not a count, so it reads records itself, draws its noise from
PyTorch's generator as floats, and is accounted for by `moments_accountant`. Its promise is weaker than that of every
mechanism of this package: nothing is proved about floating-point noise, nothing is written to a ledger, and the
number of records is taken as public. It is here to be compared with, not to be published from; `Trained.certificate`
says so.

As submitted: one hidden layer of 1,024, 64 numbers of noise, batches of 64, weights clipped at 0.01. It differs in
that records join a batch independently (as the accountant assumes), that the noise multiplier follows from the budget
and the number of steps (the entry: 1 to 3), and that columns of very many codes share outputs.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.data import Table
from understudy.errors import ParameterError
from understudy_contest.moments_accountant import epsilon_of, multiplier_for
from understudy_contest.neural_generator import NeuralGenerator, folds, widths
from understudy_contest.wgan_training import WGAN, Training

STATEMENT = (
    "trained outside the curator: differentially private by a moments accountant alone, with noise in floating "
    "point, no ledger, and the number of records taken as public. For comparison only."
)


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: a generator of records, and what it cost."""

    generator: NeuralGenerator
    certificate: dict[str, Any]


def train(
    table: Table,
    *,
    epsilon: float,
    delta: float,
    recipe: WGAN | None = None,
    seed: int | None = None,
    device: str | None = None,
) -> Trained:
    """A generator trained on the records, within (epsilon, delta) by the moments accountant.

    A `seed` makes a run repeatable and NOT PRIVATE; without one PyTorch is seeded by the operating system. `device`
    is PyTorch's word for where to train; left out, a GPU where there is one.
    """
    recipe = recipe or WGAN()
    rows = len(table)
    if rows < 1:
        raise ParameterError("a network cannot be trained on no records.")
    device = device or _device()
    rate = min(1.0, recipe.batch / rows)
    multiplier = multiplier_for(epsilon, delta, rate, recipe.steps)
    folded = folds(table.domain, recipe.widest)
    training = Training(
        places_of_ones(table, recipe.widest),
        widths(table.domain, folded),
        recipe,
        rate,
        multiplier,
        seed,
        device,
    )
    certificate = {
        "epsilon": epsilon,
        "delta": delta,
        "private": seed is None,
        "curator": False,
        "statement": STATEMENT if seed is None else "NOT PRIVATE: the noise came from a seed, for testing.",
        "accountant": "moments (sampled Gaussian, integer orders)",
        "spent": epsilon_of(rate, multiplier, recipe.steps, delta),
        "noise_multiplier": multiplier,
        "sampling_rate": rate,
        "steps": recipe.steps,
    }
    return Trained(NeuralGenerator(table.domain, folded, training.run(), float(rows)), certificate)


def places_of_ones(table: Table, widest: int) -> npt.NDArray[np.int64]:
    """Each record as the places of its ones among all outputs: a row a record, a place a column."""
    folded = folds(table.domain, widest)
    starts = np.cumsum([0, *widths(table.domain, folded)[:-1]])
    codes = table.columns.values()
    return np.stack(
        [c.astype(np.int64) // f + s for c, f, s in zip(codes, folded, starts, strict=True)], axis=1
    )


def _device() -> str:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ParameterError(
            "DP-WGAN needs PyTorch, which is not installed.", hint="pip install 'understudy-contest[gan]'."
        ) from None
    return "cuda" if torch.cuda.is_available() else "cpu"
