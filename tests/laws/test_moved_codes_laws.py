"""What moved codes owe a field: pairs beside its tree are followed, those within it kept, nothing impossible made."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from field_maker import brute_marginal, fields, make_field
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.errors import ParameterError, ReleaseError
from understudy.model import Field, build_tree
from understudy.model.sampling import moved_codes

STAR = Domain({"hub": 3, "a": 6, "b": 4, "c": 3, "d": 5})
PAIRS = list(itertools.combinations(STAR.names, 2))
WITHIN = [pair for pair in PAIRS if "hub" in pair]


BESIDE = [("a", "b"), ("b", "d")]
# What records really do, of which a star can have the pairs with its hub alone.
_, JOINT = make_field(STAR, [*WITHIN, *BESIDE], seed=11, total=3000.0)


def star():
    tree = build_tree(STAR, WITHIN)
    return Field(tree, [brute_marginal(JOINT, STAR, clique) for clique in tree.cliques], 3000.0)


def known(*pairs):
    """The star with what records really do in some pairs beside it."""
    return star().with_beside({pair: brute_marginal(JOINT, STAR, pair) for pair in pairs})


def apart(sample, field, pair):
    counted = np.asarray(sample.counts(pair).counts, float)
    expected = np.asarray(field.marginal(pair).counts)
    return np.abs(counted / counted.sum() - expected / expected.sum()).sum() / 2


def test_a_pair_beside_the_tree_is_answered_by_its_own_table_either_way_round():
    field, table = star(), brute_marginal(JOINT, STAR, ("a", "b")) * 3000
    both = field.with_beside({("a", "b"): 7 * table})
    assert np.allclose(both.marginal(("a", "b")).counts, table)
    assert np.allclose(both.marginal(("b", "a")).counts, table.T)
    for pair in PAIRS:
        if pair != ("a", "b"):
            assert np.array_equal(both.marginal(pair).counts, field.marginal(pair).counts)
    assert not field.beside


@pytest.mark.parametrize("clique", [("a", "b", "c"), ("d", "c", "b"), ("b", "hub", "a", "d")])
def test_what_is_said_of_more_columns_agrees_with_the_pairs_beside_the_tree(clique):
    field, both = star(), known(*BESIDE)
    before, after = (np.asarray(f.marginal(clique).counts) / f.total for f in (field, both))
    assert after.sum() == pytest.approx(1)
    for pair in itertools.combinations(range(len(clique)), 2):
        others = tuple(axis for axis in range(len(clique)) if axis not in pair)
        names = tuple(clique[axis] for axis in pair)
        wanted = np.asarray(both.marginal(names).counts) / both.total
        assert np.abs(after.sum(axis=others) - wanted).sum() < 0.02
    truth = brute_marginal(JOINT, STAR, clique)
    assert np.abs(after - truth).sum() < 0.5 * np.abs(before - truth).sum()


def test_what_records_do_in_three_columns_is_nearer_to_what_is_said_with_the_pairs_than_without():
    field, both = star(), known(*BESIDE)
    made = both.sample(100_000, seed=3)
    for clique in itertools.combinations(STAR.names, 3):
        held = np.asarray(made.counts(clique).counts) / 100_000
        far, near = (
            np.abs(held - np.asarray(f.marginal(clique).counts) / f.total).sum() for f in (field, both)
        )
        assert near < 0.5 * far or near < 0.02


@given(fields(zeros=0.4), st.integers(0, 2**32))
@settings(max_examples=many(50))
def test_what_is_said_of_more_columns_is_never_what_the_tree_rules_out(made, seed):
    field, joint = made
    if len(field.domain) < 3:
        return
    rng = np.random.default_rng(seed)
    pairs = [p for p in itertools.combinations(field.domain.names, 2) if rng.random() < 0.5]
    both = field.with_beside({p: rng.gamma(1.0, size=field.domain.shape(p)) + 1e-6 for p in pairs})
    counts = np.asarray(both.marginal(field.domain.names).counts)
    assert np.isfinite(counts).all() and (counts[~(joint > 0)] == 0).all()
    assert counts.sum() == pytest.approx(field.total)


def test_records_follow_pairs_beside_the_tree_and_keep_those_within_it():
    field, both = star(), known(*BESIDE)
    before, after = field.sample(3000, seed=1), both.sample(3000, seed=1)
    for pair in BESIDE:
        assert apart(before, both, pair) > 0.08
        assert apart(after, both, pair) < 0.02
    for pair in WITHIN:
        assert apart(after, field, pair) < 0.02


def test_the_same_seed_moves_the_same_codes_and_every_block_follows_by_itself(monkeypatch):
    both = known(("a", "b"))
    one, two = both.sample(900, seed=4), both.sample(900, seed=4)
    assert all(np.array_equal(one[name], two[name]) for name in STAR)
    assert all(one[name].dtype == star().sample(9, seed=0)[name].dtype for name in STAR)
    monkeypatch.setattr(moved_codes, "BLOCK", 400)
    parts = both.sample(3000, seed=4)
    assert len(parts) == 3000 and apart(parts, both, ("a", "b")) < 0.03


def test_chunks_follow_too():
    both = known(("a", "b"))
    for part in both.sample_chunks(2000, 1000, seed=2):
        assert apart(part, both, ("a", "b")) < 0.03


@given(fields(zeros=0.4), st.integers(0, 200), st.integers(0, 2**32))
@settings(max_examples=many(75))
def test_nothing_that_the_tree_rules_out_is_made(made, n, seed):
    field, joint = made
    rng = np.random.default_rng(seed)
    pairs = [p for p in itertools.combinations(field.domain.names, 2) if rng.random() < 0.5]
    both = field.with_beside({p: rng.gamma(1.0, size=field.domain.shape(p)) + 1e-6 for p in pairs})
    sample = both.sample(n, seed=1)
    assert len(sample) == n
    assert (joint[tuple(sample[name].astype(int) for name in field.domain)] > 0).all()


@pytest.mark.parametrize("rows", [60, 1000])
def test_rare_combinations_come_nearer_to_how_frequent_they_should_be(rows):
    """Of few records those that the tree takes for frequent still come somewhat too often, of many they do not."""
    pair, runs = ("a", "b"), 6000 // rows + 30
    both, plain = known(pair), star()
    expected = np.asarray(both.marginal(pair).counts) * rows / both.total
    found = []
    for field in (plain, both):
        seen = [np.asarray(field.sample(rows, seed=seed).counts(pair).counts, float) for seed in range(runs)]
        found.append(sum(seen) / runs)
    for least, most in ((0.0, 0.002), (0.002, 0.01), (0.03, 0.1), (0.1, 1.0)):
        here = (expected > least * rows) & (expected <= most * rows)
        assert here.any()
        before, after = (abs(held[here].sum() / expected[here].sum() - 1) for held in found)
        assert after < 0.4 * before, (least, before, after)
        assert least < 0.002 or rows < 1000 or after < 0.1, (least, before, after)


def test_what_is_kept_to_move_codes_goes_with_its_field():
    field = known(*BESIDE)
    field.sample(100, seed=1)
    gone = weakref.ref(field)
    del field
    gc.collect()
    assert gone() is None


def test_a_column_that_would_take_too_long_is_left_as_it_is(monkeypatch):
    field, both = star(), known(("a", "b"))
    monkeypatch.setattr(moved_codes, "MOST_LOOKED_UP", 1)
    plain, left = field.sample(500, seed=3), both.sample(500, seed=3)
    assert all(np.array_equal(plain[name], left[name]) for name in STAR)


def test_what_stands_beside_the_tree_survives_its_file(tmp_path):
    field, both = star(), known(("b", "d"), ("a", "b"))
    both.save(tmp_path / "field")
    again = Field.load(tmp_path / "field")
    assert list(again.beside) == list(both.beside)
    assert all(np.array_equal(again.beside[pair], both.beside[pair]) for pair in both.beside)
    assert np.array_equal(again.sample(300, seed=1)["a"], both.sample(300, seed=1)["a"])
    assert field.to_arrays()[0]["version"] == 1 and both.to_arrays()[0]["version"] == 2


@pytest.mark.parametrize(
    "pairs",
    [
        [["a"]],
        [["a", "b", "c"]],
        [["b", "a"]],
        [["a", "b"], ["a", "b"]],
        [["a", "nobody"]],
        [["a", "a"]],
        "ab",
        7,
        None,
    ],
)
def test_a_damaged_file_is_refused(pairs):
    header, arrays = known(("a", "b")).to_arrays()
    arrays["beside_1"] = arrays["beside_0"]
    with pytest.raises(ReleaseError):
        Field.from_arrays({**header, "beside": pairs}, arrays)


def test_damaged_tables_are_refused():
    header, arrays = known(("a", "b")).to_arrays()
    table = arrays["beside_0"]
    for wrong in (table[:-1], -table, table * np.nan, table * 0, table.astype(np.int64)):
        with pytest.raises(ReleaseError):
            Field.from_arrays(header, {**arrays, "beside_0": wrong})
    with pytest.raises(ReleaseError):
        Field.from_arrays(header, {name: array for name, array in arrays.items() if name != "beside_0"})


@pytest.mark.parametrize("pair", [("a",), ("b", "a"), ("a", "b", "c")])
def test_only_pairs_in_the_order_of_columns_stand_beside_a_tree(pair):
    field = star()
    with pytest.raises(ParameterError):
        field.with_beside({pair: np.ones([STAR[name] for name in pair])})
