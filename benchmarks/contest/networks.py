"""UCLANESL's networks, trained where there is a GPU, and scored anywhere.

    python -m benchmarks.contest.networks tables    # writes the tables as codes, under build/contest/networks
    python -m benchmarks.contest.networks settle    # tries recipes on the public tables and prints their errors
    python -m benchmarks.contest.networks train     # trains a network for each held-out table and epsilon

The last two need PyTorch and what the first one wrote, and nothing else of the project's data: a machine with a GPU
can be lent for them. Networks that are found there are what `python -m benchmarks.contest` scores; without them it
trains its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_contest import nist2018
from understudy_contest.moments_accountant import multiplier_for
from understudy_contest.neural_generator import LAYERS
from understudy_contest.wgan_training import WGAN, Training

FOLDER = Path(__file__).resolve().parents[2] / "build" / "contest" / "networks"
SEED = 2018
PUBLIC = {"census1940": "colorado-like", "temporal-match2": "year 0"}
HELD_OUT = {"census1940": ("arizona-like", "vermont-like"), "temporal-match2": ("years 1-3", "years 4-6")}
DELTA = {"census1940": nist2018.DELTA, "temporal-match2": 1 / 20_898**2}
ROWS = {
    "census1940": 294_000,
    "temporal-match2": 75_000,
}  # of a public table, so that noise is as on the others

# Large batches suit noise: at the entry's 64 records the noise of one step is fifty times what the records say. The
# generator has to be slow, or it has moved on before the critic has averaged the noise away. Settled by `settle`.
CENSUS = WGAN(steps=4000, batch=4096, critic_steps=1, critic_rate=1e-4, generator_rate=3e-5, hidden=128)
SURVEY = replace(CENSUS, batch=1024, critic_rate=5e-4, generator_rate=5e-5)
SURVEY_LONG = replace(SURVEY, steps=8000, hidden=64, generator_rate=1e-4)
RECIPES = {
    ("census1940", 0.3): CENSUS,
    ("census1940", 1.0): CENSUS,
    ("census1940", 8.0): replace(CENSUS, critic_rate=5e-4, generator_rate=5e-5),
    ("temporal-match2", 0.3): SURVEY,
    ("temporal-match2", 1.0): SURVEY_LONG,
    ("temporal-match2", 8.0): SURVEY_LONG,
}
TRIED: tuple[Mapping[str, Any], ...] = (
    {},
    {"generator_rate": 3e-5},
    {"critic_rate": 3e-4},
    {"critic_rate": 5e-4, "generator_rate": 5e-5},
    {"hidden": 256, "critic_rate": 5e-5},
    {"hidden": 1024, "critic_rate": 5e-5, "generator_rate": 5e-6},
    {"steps": 8000},
    {"steps": 8000, "critic_rate": 5e-5, "generator_rate": 2e-5},
    {"steps": 8000, "hidden": 64, "critic_rate": 2e-4, "generator_rate": 3e-5},
    {"steps": 8000, "hidden": 64, "critic_rate": 5e-4, "generator_rate": 1e-4},
)
Layers = Mapping[str, npt.NDArray[np.float32]]


def found(arena: str, table: str, epsilon: float) -> Layers | None:
    """The layers of a network that was trained for a table, or None."""
    path = FOLDER / f"{_file(arena, table)}-{epsilon:g}.npz"
    if not path.is_file():
        return None
    with np.load(path) as arrays:
        return {name: arrays[name] for name in LAYERS}


def write_tables() -> None:
    """The tables as places of ones, for a machine that has none of them."""
    from benchmarks.contest.arenas import census, temporal

    from understudy_contest.neural_generator import folds, widths
    from understudy_contest.wgan import places_of_ones

    FOLDER.mkdir(parents=True, exist_ok=True)
    for arena in (census(), temporal()):
        if arena is None:
            continue
        for name in (arena.public, *arena.held_out):
            table = arena.coded(name)
            places = places_of_ones(table, CENSUS.widest).astype(np.uint16)
            wide = widths(table.domain, folds(table.domain, CENSUS.widest))
            np.savez_compressed(FOLDER / f"{_file(arena.name, name)}.npz", places=places, widths=wide)


def settle() -> None:
    """Every recipe's mean distance over 60 triples of the public table, from a network trained on it."""
    for (arena, epsilon), settled in RECIPES.items():
        places, wide = _read(arena, PUBLIC[arena])
        random = np.random.default_rng(7)
        chosen = random.integers(0, len(places), ROWS[arena])
        places = places[chosen]
        base = replace(CENSUS, batch=settled.batch, generator_rate=1e-5)
        for change in TRIED:
            recipe = replace(base, **change)
            layers = _trained(places, wide, recipe, arena, epsilon)
            print(arena, epsilon, dict(change), f"{_distance(layers, places, wide):.3f}", flush=True)


def train() -> None:
    """A network for each held-out table and epsilon, by the recipes above."""
    for (arena, epsilon), recipe in RECIPES.items():
        for table in HELD_OUT[arena]:
            layers = _trained(*_read(arena, table), recipe, arena, epsilon)
            np.savez(FOLDER / f"{_file(arena, table)}-{epsilon:g}.npz", **layers)
            print(f"trained: {arena}, {table}, epsilon {epsilon:g}", flush=True)


def _trained(
    places: npt.NDArray[np.int64], wide: list[int], recipe: WGAN, arena: str, epsilon: float
) -> Layers:
    import torch

    rate = recipe.batch / len(places)
    multiplier = multiplier_for(epsilon, DELTA[arena], rate, recipe.steps)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Training(places, wide, recipe, rate, multiplier, SEED, device).run()


def _distance(layers: Layers, places: npt.NDArray[np.int64], wide: list[int]) -> float:
    """The mean total variation over 60 triples of columns between records and what a network draws."""
    random = np.random.default_rng(1)
    starts = np.cumsum([0, *wide[:-1]])
    drawn = np.concatenate([_drawn(layers, wide, random) for _ in range(12)])
    errors = []
    for triple in (random.choice(len(wide), 3, replace=False) for _ in range(60)):
        shape = [wide[column] for column in triple]
        real = _frequencies((places - starts)[:, triple], shape)
        errors.append(0.5 * np.abs(real - _frequencies(drawn[:, triple], shape)).sum())
    return float(np.mean(errors))


def _drawn(layers: Layers, wide: list[int], random: np.random.Generator) -> npt.NDArray[np.int64]:
    noise = random.standard_normal((5000, layers["inner"].shape[1]), dtype=np.float32)
    hidden = np.maximum(noise @ layers["inner"].T + layers["inner_bias"], 0)
    outputs = hidden @ layers["outer"].T + layers["outer_bias"]
    outputs -= np.log(random.standard_exponential(outputs.shape, dtype=np.float32))
    parts = np.split(outputs, np.cumsum(wide)[:-1], axis=1)
    return np.stack([part.argmax(axis=1) for part in parts], axis=1)


def _frequencies(codes: npt.NDArray[np.int64], shape: list[int]) -> npt.NDArray[np.float64]:
    flat = np.ravel_multi_index(tuple(codes.T), tuple(shape))
    return np.bincount(flat, minlength=int(np.prod(shape))) / len(codes)


def _read(arena: str, table: str) -> tuple[npt.NDArray[np.int64], list[int]]:
    with np.load(FOLDER / f"{_file(arena, table)}.npz") as arrays:
        return arrays["places"].astype(np.int64), [int(width) for width in arrays["widths"]]


def _file(arena: str, table: str) -> str:
    return f"{arena}_{table}".replace(" ", "_")


if __name__ == "__main__":
    words = {"tables": write_tables, "settle": settle, "train": train}
    if len(sys.argv) != 2 or sys.argv[1] not in words:
        sys.exit(f"usage: python -m benchmarks.contest.networks {' | '.join(words)}")
    words[sys.argv[1]]()
