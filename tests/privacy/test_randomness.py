"""Randomness that someone could predict or replay would undo all noise made of it."""

from __future__ import annotations

import multiprocessing
import random

import numpy as np
from given_words import GivenWords

import patience
from understudy.privacy.noise.discrete_noise import discrete_gaussian
from understudy.privacy.noise.exponential_mechanism import choose
from understudy.privacy.noise.randomness import OperatingSystem, Seeded, extend


def seed_everything() -> None:
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 (the global generator is what a careless caller would seed)


def test_seeding_every_global_generator_changes_nothing():
    source = OperatingSystem()
    runs = []
    for _ in range(2):
        seed_everything()
        drawn = discrete_gaussian(100.0, 64, source).tolist()
        picks = [choose(np.zeros(1000, dtype=np.int64), 1.0, 1, source) for _ in range(32)]
        runs.append((drawn, picks))
    assert runs[0][0] != runs[1][0]
    assert runs[0][1] != runs[1][1]


def test_drawing_leaves_the_global_generators_as_they_were():
    seed_everything()
    before = (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    discrete_gaussian(1000.0, 1000, OperatingSystem())
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def _draw_in_child(source, queue) -> None:
    queue.put(source.words(8).tolist())


def test_a_forked_process_never_repeats_its_parents_words():
    context = multiprocessing.get_context("fork")
    source = OperatingSystem()
    source.words(3)
    queue = context.Queue()
    children = [context.Process(target=_draw_in_child, args=(source, queue)) for _ in range(2)]
    for child in children:
        child.start()
    drawn = [queue.get(timeout=patience.SECONDS) for _ in children]
    for child in children:
        child.join()
    assert len({tuple(words) for words in [*drawn, source.words(8).tolist()]}) == 3


def test_only_the_operating_system_is_private():
    assert OperatingSystem().private is True
    assert Seeded(1).private is False


def test_words_fill_all_64_bits_evenly():
    for source in (OperatingSystem(), Seeded(0)):
        words = source.words(100_000)
        assert words.dtype == np.uint64
        ones = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).mean(axis=0)
        assert abs(ones - 0.5).max() < 0.01


def test_a_seed_gives_the_same_words_again():
    assert np.array_equal(Seeded(5).words(10), Seeded(5).words(10))


def test_a_number_seen_more_closely_keeps_the_bits_already_seen():
    assert extend(0b101, 64, GivenWords([7])) == (0b101 << 64) | 7
    assert extend(0b101, 3, GivenWords([0b110 << 61])) == 0b101110
    assert extend(1, 65, GivenWords([2**64 - 1, 0])) == ((2**65 - 1) << 1)
