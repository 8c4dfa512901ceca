"""What exchanged records owe the field: every pair nearer to it, rare combinations as frequent as they should be."""

import itertools

import numpy as np
from field_maker import fields, make_field
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.model import estimate
from understudy.pipeline.drawing.followed_pairs import MOST_LOOKED_UP, MOST_ROWS, followed, follows
from understudy.transforms.compress import Compression

STAR = Domain({"hub": 3, "a": 6, "b": 4, "c": 3, "d": 5})
PAIRS = list(itertools.combinations(STAR.names, 2))


def star():
    return make_field(STAR, [("hub", name) for name in "abcd"], seed=3, total=500.0)[0]


def drawn(field, rows, seed):
    samples = [field.sample(rows, seed=2 * seed + part) for part in range(2)]
    return {name: np.concatenate([sample[name] for sample in samples]) for name in field.domain}


def kept(field, rows, seed, compression=None):
    codes = drawn(field, rows, seed)
    none = Compression.none(dict(field.domain.items())) if compression is None else compression
    places = followed(codes, rows, field, none, np.random.default_rng(seed))
    return {name: column[places] for name, column in codes.items()}, places


def counted(codes, clique):
    cells = np.zeros([STAR[name] for name in clique])
    np.add.at(cells, tuple(codes[name].astype(int) for name in clique), 1)
    return cells


@given(fields(zeros=0.3), st.integers(2, 200))
@settings(max_examples=many(100))
def test_kept_records_are_drawn_ones_and_none_is_kept_twice(made, rows):
    field, _ = made
    if len(field.domain) < 2:
        return
    codes, places = kept(field, rows, 5)
    assert len(set(places.tolist())) == rows and places.min() >= 0 and places.max() < 2 * rows
    assert all(len(column) == rows for column in codes.values())


def test_pairs_of_different_cliques_come_nearer_to_the_field():
    field, rows = star(), 800
    plain, near = [], []
    for seed in range(10):
        before = {name: np.asarray(column)[:rows] for name, column in drawn(field, rows, seed).items()}
        after, _ = kept(field, rows, seed)
        for pair in PAIRS:
            expected = field.marginal(pair).counts * rows / field.total
            plain.append(((counted(before, pair) - expected) ** 2).sum())
            near.append(((counted(after, pair) - expected) ** 2).sum())
    assert np.mean(near) < 0.35 * np.mean(plain)


def test_rare_combinations_are_as_frequent_as_the_field_says():
    field, rows, runs = star(), 30, 400
    triples = list(itertools.combinations(STAR.names, 3))
    expected = {clique: field.marginal(clique).counts * rows / field.total for clique in triples}
    seen = {clique: np.zeros(table.shape) for clique, table in expected.items()}
    for seed in range(runs):
        codes, _ = kept(field, rows, seed)
        for clique in triples:
            seen[clique] += counted(codes, clique)
    for least, most in ((0.0, 0.1), (0.1, 0.3), (0.3, 1.0)):
        here = {c: (table > least) & (table <= most) for c, table in expected.items()}
        held = sum(seen[c][here[c]].sum() for c in triples) / runs
        should = sum(expected[c][here[c]].sum() for c in triples)
        assert abs(held / should - 1) < 0.08, (least, held / should)


def test_merged_codes_are_followed_in_the_codes_that_they_stand_for():
    field, rows = star(), 600
    sizes = {name: size + (2 if name == "a" else 0) for name, size in STAR.items()}
    maps = {name: np.minimum(np.arange(size), STAR[name] - 1) for name, size in sizes.items()}
    shares = {"a": np.array([1, 1, 1, 1, 1, 0.2, 0.5, 0.3])}
    compression = Compression(maps, shares)
    rng = np.random.default_rng(2)
    whole = compression.reverse(drawn(field, rows, 1), rng, spread="counts")
    places = followed(whole, rows, field, compression, rng)
    spread = np.bincount(whole["a"][places], minlength=8)
    expected = np.asarray(field.marginal("a").counts)[maps["a"]] * shares["a"] * rows / field.total
    assert np.abs(spread - expected).max() < 5


def test_many_records_are_left_as_they_were_drawn():
    field = star()
    assert follows(field, 1000)
    assert not follows(field, MOST_ROWS + 1)
    wide = estimate(Domain({f"c{i}": 2 for i in range(40)}), [], total=9.0)
    assert follows(wide, 10_000) and not follows(wide, int(MOST_LOOKED_UP / 40**2) * 2)
    assert not follows(field, 1) and not follows(field, 0)
