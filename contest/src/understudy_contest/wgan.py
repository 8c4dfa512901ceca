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

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.data import Table
from understudy.errors import ParameterError
from understudy_contest.moments_accountant import epsilon_of, multiplier_for
from understudy_contest.neural_generator import NeuralGenerator, folds, widths

STATEMENT = (
    "trained outside the curator: differentially private by a moments accountant alone, with noise in floating "
    "point, no ledger, and the number of records taken as public. For comparison only."
)


@dataclass(frozen=True)
class WGAN:
    """How a network is trained; the defaults are the entry's, but for `steps`, which trains within minutes.

    `steps`: updates of the critic, each on a noised gradient; every `critic_steps` of them the generator is updated
    once. `gradient_norm`: where each record's gradient is clipped. `widest`: the most outputs a column may have.
    """

    steps: int = 4000
    critic_steps: int = 5
    hidden: int = 1024
    noise: int = 64
    batch: int = 64
    weight_clip: float = 0.01
    gradient_norm: float = 1.0
    critic_rate: float = 5e-4
    generator_rate: float = 5e-4
    widest: int = 64

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} {getattr(self, name)!r} is not above 0.")


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: a generator of records, and what it cost."""

    generator: NeuralGenerator
    certificate: dict[str, Any]


def train(
    table: Table, *, epsilon: float, delta: float, recipe: WGAN | None = None, seed: int | None = None
) -> Trained:
    """A generator trained on the records, within (epsilon, delta) by the moments accountant.

    A `seed` makes a run repeatable and NOT PRIVATE; without one PyTorch is seeded by the operating system.
    """
    recipe = recipe or WGAN()
    rows = len(table)
    if rows < 1:
        raise ParameterError("a network cannot be trained on no records.")
    rate = min(1.0, recipe.batch / rows)
    multiplier = multiplier_for(epsilon, delta, rate, recipe.steps)
    folded = folds(table.domain, recipe.widest)
    layers = _Training(table, folded, recipe, rate, multiplier, seed).run()
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
    return Trained(NeuralGenerator(table.domain, folded, layers, float(rows)), certificate)


class _Training:
    """One run: the critic's weights, the generator, and the records as places of ones."""

    def __init__(
        self,
        table: Table,
        folded: tuple[int, ...],
        recipe: WGAN,
        rate: float,
        multiplier: float,
        seed: int | None,
    ) -> None:
        self.torch = torch = _torch()
        self.recipe, self.rate = recipe, rate
        self.deviation = multiplier * recipe.gradient_norm
        self.random = torch.Generator().manual_seed(
            int.from_bytes(os.urandom(7), "little") if seed is None else int(seed)
        )
        self.widths = widths(table.domain, folded)
        starts = np.concatenate([[0], np.cumsum(self.widths)[:-1]])
        columns = [
            codes // fold + start
            for codes, fold, start in zip(
                (codes.astype(np.int64) for codes in table.columns.values()), folded, starts, strict=True
            )
        ]
        self.ones = torch.from_numpy(np.stack(columns, axis=1))
        width, clip = int(sum(self.widths)), recipe.weight_clip
        self.critic = [
            self._uniform(shape, clip)
            for shape in ((recipe.hidden, width), (recipe.hidden,), (recipe.hidden,))
        ]
        self.squares = [torch.zeros_like(weight) for weight in self.critic]
        shapes = ((recipe.hidden, recipe.noise), (recipe.hidden,), (width, recipe.hidden), (width,))
        self.layers = [self._uniform(shape, 1 / math.sqrt(shape[-1])).requires_grad_() for shape in shapes]
        self.optimizer = torch.optim.RMSprop(self.layers, lr=recipe.generator_rate)

    def run(self) -> dict[str, Any]:
        """The generator's layers, trained."""
        for step in range(self.recipe.steps):
            self._teach_critic()
            if step % self.recipe.critic_steps == self.recipe.critic_steps - 1:
                self._teach_generator()
        names = ("inner", "inner_bias", "outer", "outer_bias")
        return {name: layer.detach().numpy() for name, layer in zip(names, self.layers, strict=True)}

    def _teach_critic(self) -> None:
        """One step up the critic's gap between records and fakes: the records' gradient clipped and noised."""
        torch, recipe = self.torch, self.recipe
        with torch.no_grad():
            real = self._gradients(self._batch(), recipe.gradient_norm)
            fake = self._gradients(self._fakes(recipe.batch), None)
            for weight, ours, theirs, square in zip(self.critic, real, fake, self.squares, strict=True):
                noise = self.deviation * torch.randn(ours.shape, generator=self.random)
                step = (ours + noise - theirs) / recipe.batch
                square.mul_(0.99).addcmul_(step, step, value=0.01)
                weight.add_(recipe.critic_rate * step / (square.sqrt() + 1e-8))
                weight.clamp_(-recipe.weight_clip, recipe.weight_clip)

    def _gradients(self, inputs: Any, norm: float | None) -> list[Any]:
        """The critic's gradient summed over inputs, each input's clipped to a norm where one is given.

        With one hidden layer the norm of a record's gradient is known without forming it: the gradient of the inner
        weights is an outer product, whose norm is the product of the norms.
        """
        torch = self.torch
        inner, bias, outer = self.critic
        hidden = torch.relu(inputs @ inner.T + bias)
        slope = (hidden > 0) * outer
        if norm is not None:
            lengths = hidden.square().sum(1) + slope.square().sum(1) * (inputs.square().sum(1) + 1)
            factor = torch.clamp(norm / (lengths.sqrt() + 1e-6), max=1.0)[:, None]
            hidden, slope = hidden * factor, slope * factor
        return [slope.T @ inputs, slope.sum(0), hidden.sum(0)]

    def _teach_generator(self) -> None:
        """One step that raises the critic's opinion of fakes; it sees the critic alone, so it costs nothing."""
        inner, bias, outer = self.critic
        fakes = self._fakes(self.recipe.batch)
        loss = -(self.torch.relu(fakes @ inner.T + bias) @ outer).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def _batch(self) -> Any:
        """Records as ones and zeros, each taken with the sampling rate, independently."""
        torch = self.torch
        taken = torch.rand(len(self.ones), generator=self.random, dtype=torch.float64) < self.rate
        places = self.ones[taken]
        return torch.zeros(len(places), sum(self.widths)).scatter_(1, places, 1.0)

    def _fakes(self, count: int) -> Any:
        torch = self.torch
        inner, inner_bias, outer, outer_bias = self.layers
        noise = torch.randn(count, self.recipe.noise, generator=self.random)
        outputs = torch.relu(noise @ inner.T + inner_bias) @ outer.T + outer_bias
        return torch.cat([part.softmax(1) for part in outputs.split(self.widths, dim=1)], dim=1)

    def _uniform(self, shape: tuple[int, ...], bound: float) -> Any:
        return (2 * self.torch.rand(*shape, generator=self.random) - 1) * bound


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ParameterError(
            "DP-WGAN needs PyTorch, which is not installed.", hint="pip install 'understudy[gan]'."
        ) from None
    return torch
