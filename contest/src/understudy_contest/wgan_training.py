"""The training of a DP-WGAN: PyTorch and NumPy alone, on a processor or a GPU.

The critic has one hidden layer, and each of its steps uses the records' gradient, every record's clipped to a norm
and the sum noised. The generator learns from the critic alone, which costs no privacy. On a GPU one round (some steps
of the critic and one of the generator) is recorded once and replayed, since its kernels are small.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import ParameterError
from understudy_contest.neural_generator import LAYERS

_BATCHES = 2000  # steps whose records are drawn at once
_KEPT = 0.99  # of the running mean of squared steps, a step


@dataclass(frozen=True)
class WGAN:
    """How a network is trained: shapes and batches as in the entry, rates for noised gradients.

    `steps`: updates of the critic, each on a noised gradient; every `critic_steps` of them the generator is updated
    once. `gradient_norm`: where each record's gradient is clipped. `widest`: the most outputs a column may have.
    Rates fall to nothing in a straight line, so that what noise did last is forgotten too.
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


class Training:
    """One run: the critic's weights, the generator, and the records as places of ones among all outputs."""

    def __init__(
        self,
        places: npt.NDArray[np.int64],
        widths: Sequence[int],
        recipe: WGAN,
        rate: float,
        multiplier: float,
        seed: int | None,
        device: str = "cpu",
    ) -> None:
        self.torch = torch = importlib.import_module("torch")
        self.recipe, self.rate, self.device = recipe, rate, device
        self.deviation = multiplier * recipe.gradient_norm
        seeds = np.random.SeedSequence(int.from_bytes(os.urandom(16), "little") if seed is None else seed)
        self.chance = np.random.default_rng(seeds)
        self.random = torch.Generator(device).manual_seed(int(seeds.generate_state(1, np.uint64)[0] >> 1))
        self.widths = list(widths)
        self.ones = torch.from_numpy(places).to(device)
        expected = recipe.batch if rate < 1 else len(places)
        # A batch is larger than this with a chance below 1e-20.
        self.capacity = min(len(places), math.ceil(expected + 12 * math.sqrt(expected) + 40))
        width, clip = int(sum(widths)), recipe.weight_clip
        shapes: list[tuple[int, ...]] = [(recipe.hidden, width), (recipe.hidden,), (recipe.hidden,)]
        self.critic = [self._uniform(shape, clip) for shape in shapes]
        self.critic_squares = [torch.zeros_like(weight) for weight in self.critic]
        shapes = [(recipe.hidden, recipe.noise), (recipe.hidden,), (width, recipe.hidden), (width,)]
        self.layers = [self._uniform(shape, 1 / math.sqrt(shape[-1])).requires_grad_() for shape in shapes]
        self.squares = [torch.zeros_like(layer) for layer in self.layers]
        self.fade = torch.ones((), device=device)

    def run(self) -> dict[str, npt.NDArray[np.float32]]:
        """The generator's layers, trained."""
        torch, recipe = self.torch, self.recipe
        taken = torch.zeros(recipe.critic_steps, self.capacity, dtype=torch.int64, device=self.device)
        there = torch.zeros(recipe.critic_steps, self.capacity, device=self.device)

        def play() -> None:
            for step in range(recipe.critic_steps):
                self._teach_critic(taken[step], there[step])
            self._teach_generator()

        rounds = max(1, recipe.steps // recipe.critic_steps)
        replay = self._recorded(play, taken, there) if self.device.startswith("cuda") else play
        for number, (records, counted) in zip(range(rounds), self._rounds(), strict=False):
            taken.copy_(records)
            there.copy_(counted)
            self.fade.fill_(1 - number / rounds)
            replay()
        trained = zip(LAYERS, self.layers, strict=True)
        return {name: layer.detach().cpu().numpy() for name, layer in trained}

    def _recorded(self, play: Any, taken: Any, there: Any) -> Any:
        """One round as a graph of kernels. Nothing is learned while it is recorded: its batches are empty."""
        torch = self.torch
        kept = [tensor.detach().clone() for tensor in self._state()]
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                play()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.random)
        with torch.cuda.graph(graph):
            play()
        with torch.no_grad():
            for tensor, before in zip(self._state(), kept, strict=True):
                tensor.copy_(before)
        return graph.replay

    def _state(self) -> list[Any]:
        return [*self.critic, *self.critic_squares, *self.layers, *self.squares]

    def _rounds(self) -> Iterator[tuple[Any, Any]]:
        """Batches of records, a round's at a time: which records, and 1 for each that is there."""
        steps = self.recipe.critic_steps
        while True:
            records, there = draw_batches(
                self.chance, len(self.ones), self.rate, _BATCHES * steps, self.capacity
            )
            records = self.torch.from_numpy(records).to(self.device).view(_BATCHES, steps, -1)
            there = self.torch.from_numpy(there).to(self.device).view(_BATCHES, steps, -1)
            yield from zip(records, there, strict=True)

    def _teach_critic(self, taken: Any, there: Any) -> None:
        """One step up the critic's gap between records and fakes: the records' gradient clipped and noised."""
        torch, recipe = self.torch, self.recipe
        with torch.no_grad():
            real = self.gradients(self.records(taken), there, recipe.gradient_norm)
            fake = self.gradients(self._fakes(recipe.batch), None, None)
            for weight, ours, theirs, square in zip(
                self.critic, real, fake, self.critic_squares, strict=True
            ):
                noise = torch.randn(ours.shape, generator=self.random, device=self.device)
                step = (ours + self.deviation * noise - theirs) / recipe.batch
                self._move(weight, step, square, recipe.critic_rate)
                weight.clamp_(-recipe.weight_clip, recipe.weight_clip)

    def _move(self, weight: Any, step: Any, square: Any, rate: float) -> None:
        """One step of RMSprop, at a rate that fades."""
        square.mul_(_KEPT).addcmul_(step, step, value=1 - _KEPT)
        weight.add_(self.fade * rate * step / (square.sqrt() + 1e-8))

    def gradients(self, inputs: Any, there: Any | None, norm: float | None) -> list[Any]:
        """The critic's gradient summed over inputs, each input's clipped to a norm where one is given.

        With one hidden layer the norm of a record's gradient is known without forming it: the gradient of the inner
        weights is an outer product, whose norm is the product of the norms. Inputs that are not `there` add nothing.
        """
        torch = self.torch
        inner, bias, outer = self.critic
        hidden = torch.relu(inputs @ inner.T + bias)
        slope = (hidden > 0) * outer
        if norm is not None:
            lengths = hidden.square().sum(1) + slope.square().sum(1) * (inputs.square().sum(1) + 1)
            factor = torch.clamp(norm / (lengths.sqrt() + 1e-6), max=1.0)[:, None]
            if there is not None:
                factor = factor * there[:, None]
            hidden, slope = hidden * factor, slope * factor
        return [slope.T @ inputs, slope.sum(0), hidden.sum(0)]

    def _teach_generator(self) -> None:
        """One step that raises the critic's opinion of fakes; it sees the critic alone, so it costs nothing."""
        inner, bias, outer = self.critic
        opinion = (self.torch.relu(self._fakes(self.recipe.batch) @ inner.T + bias) @ outer).mean()
        steps = self.torch.autograd.grad(opinion, self.layers)
        with self.torch.no_grad():
            for layer, step, square in zip(self.layers, steps, self.squares, strict=True):
                self._move(layer, step, square, self.recipe.generator_rate)

    def records(self, taken: Any) -> Any:
        """Records by number, as ones and zeros."""
        zeros = self.torch.zeros(len(taken), sum(self.widths), device=self.device)
        return zeros.scatter_(1, self.ones[taken], 1.0)

    def _fakes(self, count: int) -> Any:
        torch = self.torch
        inner, inner_bias, outer, outer_bias = self.layers
        noise = torch.randn(count, self.recipe.noise, generator=self.random, device=self.device)
        outputs = torch.relu(noise @ inner.T + inner_bias) @ outer.T + outer_bias
        return torch.cat([part.softmax(1) for part in outputs.split(self.widths, dim=1)], dim=1)

    def _uniform(self, shape: tuple[int, ...], bound: float) -> Any:
        return (2 * self.torch.rand(*shape, generator=self.random, device=self.device) - 1) * bound


def draw_batches(
    chance: np.random.Generator, rows: int, rate: float, steps: int, capacity: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """For each step the records of its batch, and 1 for each that is there (batches are padded to `capacity`).

    Records join independently with probability `rate`: so many as a binomial says, and given that number every set
    of so many is as likely as any other.
    """
    if rate >= 1:
        everyone = np.broadcast_to(np.arange(rows, dtype=np.int64), (steps, rows))
        return everyone[:, :capacity].copy(), np.ones((steps, capacity), np.float32)
    sizes = chance.binomial(rows, rate, steps)
    if sizes.max(initial=0) > capacity:
        raise RuntimeError("a batch is larger than there is room for.")
    records = np.zeros((steps, capacity), np.int64)
    for step, size in enumerate(sizes):
        records[step, :size] = chance.choice(rows, size, replace=False, shuffle=False)
    return records, (np.arange(capacity) < sizes[:, None]).astype(np.float32)
