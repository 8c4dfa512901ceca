"""What generated records owe the field: counts within one, no bias, no coupling, exact completion."""

import itertools

import numpy as np
import pytest
from field_maker import brute_marginal, fields, make_field
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.model import Field, build_tree
from understudy.model.queries.generation_order import families
from understudy.model.sampling import synthetic_data
from understudy.model.sampling.rounding import matrix_rounding, remainder_rounding

METHODS = ["synthetic", "paper", "iid"]
STAR = Domain({"hub": 3, "a": 2, "b": 4, "c": 3, "d": 5})


def star(seed=3, zeros=0.0, total=500.0):
    return make_field(STAR, [("hub", name) for name in "abcd"], seed=seed, zeros=zeros, total=total)


@given(fields(), st.integers(0, 300), st.sampled_from(["synthetic", "paper"]))
@settings(max_examples=many(200))
def test_every_count_is_within_one_of_its_expectation_in_its_group(made, n, method):
    field, joint = made
    sample = field.sample(n, seed=n, method=method)
    assert len(sample) == n
    for family in families(field.tree):
        clique = (*family.parents, family.column)
        table = brute_marginal(joint, field.domain, clique)
        groups = table.sum(axis=-1, keepdims=True)
        conditional = np.divide(table, groups, out=np.zeros_like(table), where=groups > 0)
        counts = sample.counts(clique).counts
        expected = counts.sum(axis=-1, keepdims=True) * conditional
        assert np.abs(counts - expected).max() < 1 + 1e-9


@pytest.mark.parametrize("method", METHODS)
@given(made=fields(zeros=0.4), n=st.integers(0, 200))
@settings(max_examples=many(75))
def test_a_structural_zero_is_never_generated(method, made, n):
    field, joint = made
    sample = field.sample(n, seed=1, method=method)
    cells = tuple(sample[name].astype(int) for name in field.domain)
    assert (joint[cells] > 0).all()
    for name, codes in sample.items():
        assert codes.dtype == np.min_scalar_type(field.domain[name] - 1)
        assert not codes.flags.writeable


@pytest.mark.parametrize("method", METHODS)
def test_generated_counts_are_unbiased_for_measured_and_unmeasured_pairs(method):
    field, joint = star()
    runs, n = 600, 37
    pairs = list(itertools.combinations(STAR.names, 2))
    counts = {pair: [] for pair in pairs}
    for seed in range(runs):
        sample = field.sample(n, seed=seed, method=method)
        for pair in pairs:
            counts[pair].append(sample.counts(pair).counts)
    scores = []
    for pair in pairs:
        expected = n * brute_marginal(joint, STAR, pair)
        error = np.mean(counts[pair], axis=0) - expected
        spread = np.std(counts[pair], axis=0) / np.sqrt(runs)
        scores.extend((error / np.maximum(spread, 1e-2 / np.sqrt(runs))).reshape(-1))
    assert np.abs(scores).max() < 5
    assert np.std(scores) < 1.3


@pytest.mark.parametrize("method", ["synthetic", "paper"])
def test_siblings_are_no_further_from_the_field_than_independent_draws(method):
    # Two shipped libraries generate siblings in one order within a group: measured pairs look perfect, and
    # unmeasured ones are worse than independent columns.
    field, _ = star()
    siblings = list(itertools.combinations("abcd", 2))

    def error(how):
        return np.mean(
            [
                np.abs(
                    field.sample(500, seed=seed, method=how).counts(pair).counts - field.marginal(pair).counts
                ).sum()
                for seed in range(60)
                for pair in siblings
            ]
        )

    assert error(method) < 1.02 * error("iid")


def test_the_default_keeps_measured_pairs_at_least_as_close_as_the_papers_form():
    field, _ = make_field(
        Domain({"a": 20, "b": 15, "c": 12, "d": 9}),
        [("a", "b"), ("b", "c"), ("c", "d")],
        seed=1,
        total=2000.0,
    )

    def error(method):
        return np.mean(
            [
                np.abs(
                    field.sample(2000, seed=seed, method=method).counts(c).counts - field.marginal(c).counts
                ).sum()
                for seed in range(20)
                for c in field.cliques
            ]
        )

    assert error("synthetic") < error("paper") < error("iid") / 3


def weights_and_sizes(seed, groups=30, width=17):
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.4, size=(groups, width))
    weights[rng.random(weights.shape) < 0.3] = 0
    weights[:, 0] += 1e-9
    return weights, rng.integers(0, 40, groups), rng


@pytest.mark.parametrize("rounding", [matrix_rounding, remainder_rounding])
def test_rounding_goes_down_or_up_and_hits_every_groups_size(rounding):
    weights, sizes, rng = weights_and_sizes(0)
    expected = sizes[:, None] * weights / weights.sum(axis=1, keepdims=True)
    runs = 3000
    mean = np.zeros_like(expected)
    for _ in range(runs):
        counts = rounding(weights, sizes, rng.integers(2**64, dtype=np.uint64))
        assert (counts.sum(axis=1) == sizes).all()
        assert np.abs(counts - expected).max() < 1
        assert (counts[weights == 0] == 0).all()
        mean += counts / runs
    rest = expected - np.floor(expected)
    seen = rest * (1 - rest) > 1e-3
    score = (mean - expected)[seen] / np.sqrt((rest * (1 - rest))[seen] / runs)
    assert np.abs(score).max() < 5
    assert 0.85 < score.std() < 1.15


def test_matrix_rounding_keeps_whole_columns_and_runs_of_groups_within_one():
    weights, sizes, rng = weights_and_sizes(1, groups=200)
    expected = sizes[:, None] * weights / weights.sum(axis=1, keepdims=True)
    for _ in range(50):
        error = matrix_rounding(weights, sizes, rng.integers(2**64, dtype=np.uint64)) - expected
        assert np.abs(error.cumsum(axis=0)).max() < 1.05
        assert np.abs(error.cumsum(axis=1)).max() < 1.05


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_repeats_a_sample_and_threads_do_not_change_it(method, monkeypatch):
    field, _ = star()
    one = field.sample(400, seed=9, method=method)
    monkeypatch.setattr(synthetic_data, "THREADED_CODES", 0)
    two = field.sample(400, seed=9, method=method)
    other = field.sample(400, seed=10, method=method)
    assert all((one[name] == two[name]).all() for name in STAR)
    assert any((one[name] != other[name]).any() for name in STAR)
    assert any((field.sample(400)[name] != field.sample(400)[name]).any() for name in STAR)


def test_chunks_add_up_and_stay_nearer_to_the_field_than_independent_draws():
    field, joint = star()
    chunks = list(field.sample_chunks(10_050, 1000, seed=2))
    assert [len(chunk) for chunk in chunks] == [1000] * 10 + [50]
    clique = ("hub", "d")
    counts = sum(chunk.counts(clique).counts for chunk in chunks)
    expected = 10_050 * brute_marginal(joint, STAR, clique)
    assert np.abs(counts - expected).max() < 4 * np.sqrt(11)
    assert list(field.sample_chunks(0, 10)) == []
    assert [len(chunk) for chunk in field.sample_chunks(None, 300)] == [300, 200]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_records_and_odd_domains_are_fine(n):
    assert len(star()[0].sample(n)) == n
    one = make_field(Domain({"only": 1}), [("only",)], seed=0)[0]
    assert one.sample(n)["only"].tolist() == [0] * n
    bare = Domain({})
    assert len(Field(build_tree(bare, []), [1.0], 3.0).sample(n)) == n


def test_bad_requests_are_refused():
    field, _ = star()
    wide = Domain({"a": 10**5, "b": 10**5})
    flat = Field(build_tree(wide, []), [np.ones(10**5)] * 2, 5.0)
    with pytest.raises(SizeError, match="cells"):
        flat.sample(5).counts(("a", "b"))
    for n in (-1, 2.5, "ten", True, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="n "):
            field.sample(n)
    with pytest.raises(SizeError, match="sample_chunks"):
        field.sample(2**33)
    with pytest.raises(ParameterError, match="method"):
        field.sample(3, method="magic")
    with pytest.raises(ParameterError, match="seed"):
        field.sample(3, seed=-4)
    with pytest.raises(ParameterError, match="chunk"):
        field.sample_chunks(10, 0)


# --- completion of partial records --------------------------------------------------------------------------


@given(fields(), st.data())
@settings(max_examples=many(150))
def test_completed_records_keep_what_was_given_and_are_possible(made, data):
    field, joint = made
    names = field.domain.names
    known = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    whole = field.sample(40, seed=3)
    gaps = np.random.default_rng(0).random((len(known), 40)) < data.draw(st.sampled_from([0.0, 0.3]))
    given_codes = {
        name: np.where(gap, -1, whole[name].astype(int)) for name, gap in zip(known, gaps, strict=True)
    }
    done = field.sample(given=given_codes, seed=4)
    assert len(done) == 40
    for name, codes in given_codes.items():
        assert (done[name][codes >= 0] == codes[codes >= 0]).all()
    assert (joint[tuple(done[name].astype(int) for name in names)] > 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_completion_follows_the_exact_conditional_through_unseen_columns(method):
    # c is known, hub is not: a learns about c only through the hub, which evidence must reach.
    field, _ = star()
    runs = 400
    counts = np.zeros((STAR["hub"], STAR["a"]))
    for seed in range(runs):
        counts += (
            field.sample(10, given={"c": 2, "d": 4}, seed=seed, method=method).counts(("hub", "a")).counts
        )
    expected = runs * 10 * field.conditional(("hub", "a"), {"c": 2, "d": 4}).values
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected.max())
    prior = runs * 10 * field.marginal(("hub", "a")).counts / field.total
    assert np.abs(counts - prior).sum() > 5 * np.abs(counts - expected).sum()


def test_completion_is_stratified_like_any_sample():
    field, _ = star()
    rng = np.random.default_rng(0)
    c = rng.integers(0, 3, 600)
    done = field.sample(given={"c": c}, seed=1)
    for code in range(3):
        inside = done["c"] == code
        counts = np.bincount(done["hub"][inside], minlength=3)
        expected = inside.sum() * field.conditional("hub", {"c": code}).values
        assert np.abs(counts - expected).max() < 1


def test_a_table_too_large_to_propagate_at_once_is_completed_in_parts(monkeypatch):
    from understudy.model.queries import evidence

    field, _ = star()
    whole = field.sample(300, seed=5)
    known = {"a": whole["a"], "d": whole["d"]}
    monkeypatch.setattr(evidence, "HELD_CELLS", 64)
    done = field.sample(given=known, seed=6)
    assert (done["d"] == whole["d"]).all()
    assert np.abs(done.counts(("hub", "d")).counts - whole.counts(("hub", "d")).counts).max() < 40
    logs = field.log_likelihood(known)
    monkeypatch.undo()
    assert np.allclose(logs, field.log_likelihood(known))


def test_impossible_and_misshapen_partial_records_are_refused():
    tree = build_tree(Domain({"a": 2, "b": 2}), [("a", "b")])
    field = Field(tree, [np.array([[0.5, 0.0], [0.25, 0.25]])], 10.0)
    assert field.sample(given={"b": [1, 1]})["a"].tolist() == [1, 1]
    with pytest.raises(ParameterError, match="1 of 2 partial records have probability zero"):
        field.sample(given={"a": [0, 1], "b": [1, 1]})
    with pytest.raises(ParameterError, match="fit together"):
        field.sample(given={"a": [0, 1], "b": [1, 1, 0]})
    with pytest.raises(ParameterError, match="fit together"):
        field.sample(3, given={"a": [0, 1]})
    for given_codes in ({"z": 0}, {"a": 2}, {"a": -2}, {"a": [0.5]}, {"a": ["x"]}, {"a": [[0, 1]]}):
        with pytest.raises(DomainError):
            field.sample(given=given_codes)
    with pytest.raises(ParameterError, match="not a mapping"):
        field.sample(given=[0, 1])
    assert len(field.sample(given={"a": []})) == 0
    assert len(field.sample(5, given={})) == 5
    assert len(field.sample(given={"a": np.ma.array([0, 1], mask=[True, False])})) == 2


def test_a_large_clique_keeps_its_parts_close_though_it_is_rounded_in_blocks(monkeypatch):
    from understudy.model.sampling import synthetic_column

    monkeypatch.setattr(synthetic_column, "BLOCK_CELLS", 100)
    field, joint = make_field(Domain({"a": 6, "b": 5, "c": 7}), [("a", "b", "c")], seed=2)
    counts = field.sample(900, seed=0).counts(("a", "b", "c")).counts
    assert np.abs(counts - 900 * joint).sum() < 30 * 7
    assert np.abs(counts.sum(axis=(0, 1)) - 900 * joint.sum(axis=(0, 1))).max() < 8


def test_wide_columns_get_wide_codes():
    domain = Domain({"a": 70_000, "b": 300})
    tree = build_tree(domain, [])
    field = Field(tree, [np.ones(domain.size(clique)) for clique in tree.cliques], 5.0)
    sample = field.sample(1000, seed=0)
    assert (sample["a"].dtype, sample["b"].dtype) == (np.uint32, np.uint16)
    assert sample["a"].max() > 65_536
    assert len(np.unique(sample["a"])) == 1000
