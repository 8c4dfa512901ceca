"""A field answers as brute force over its whole joint distribution would."""

import itertools
import math

import numpy as np
import pytest
from field_maker import brute_marginal, fields, make_field
from hypothesis import given, settings
from hypothesis import strategies as st

from nightly import many
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError, SizeError
from understudy.model import Field, build_tree
from understudy.model.queries import elimination


@given(fields())
@settings(max_examples=many(150))
def test_every_marginal_is_the_joint_distributions(made):
    field, joint = made
    cliques = [c for k in range(4) for c in itertools.permutations(field.domain.names, k)]
    for clique, answer in zip(cliques, field.marginals(cliques), strict=True):
        assert answer.clique == clique
        assert answer.counts.dtype == np.float64
        assert np.allclose(answer.counts, 100 * brute_marginal(joint, field.domain, clique), atol=1e-9)
    assert np.allclose(field.marginal(field.domain.names).counts, 100 * joint, atol=1e-9)


@given(fields(), st.data())
@settings(max_examples=many(150))
def test_whichever_clique_a_question_is_read_from_the_answer_is_the_same(made, data):
    field, joint = made
    names = field.domain.names
    event = {name: 0 for name in data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))}
    rest = [name for name in names if name not in event]
    sure = joint[tuple(event.get(name, slice(None)) for name in names)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_SMALL", 0)  # look for the best clique every time
        evidence = {name: np.array([code]) for name, code in event.items()}
        asked = elimination.Elimination(field.tree, field.tables, evidence)
        for clique in itertools.combinations(rest, min(4, len(rest))):
            factor, log = asked.joint(clique)
            gone = tuple(i for i, name in enumerate(rest) if name not in clique)
            assert np.allclose(factor.values * math.exp(log), sure.sum(axis=gone), atol=1e-9)


def test_three_columns_are_joined_where_that_is_small():
    """Leaves x and y hang on a small column; read from the clique of z, a message would carry both and a gate."""
    domain = Domain({"x": 9, "y": 9, "small": 2, "gate": 12, "z": 5})
    cliques = [("x", "small"), ("y", "small"), ("small", "gate"), ("gate", "z")]
    field, joint = make_field(domain, cliques, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_SMALL", 0)
        asked = elimination.Elimination(field.tree, field.tables, limit_cells=9 * 9 * 5)
        factor, _ = asked.joint(("x", "y", "z"))
    assert np.allclose(factor.values, brute_marginal(joint, domain, ("x", "y", "z")), atol=1e-12)


@given(fields(), st.data())
@settings(max_examples=many(200))
def test_events_and_conditionals_are_the_joint_distributions(made, data):
    field, joint = made
    names = field.domain.names
    event = {
        name: data.draw(st.lists(st.integers(0, field.domain[name] - 1), unique=True))
        for name in data.draw(st.lists(st.sampled_from(names), unique=True))
    }
    inside = joint[np.ix_(*(sorted(event.get(name, range(field.domain[name]))) for name in names))]
    assert field.probability(event) == pytest.approx(inside.sum(), abs=1e-12)
    target = tuple(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3)))
    masked = np.zeros_like(joint)
    masked[np.ix_(*(event.get(name, range(field.domain[name])) for name in names))] = 1
    expected = brute_marginal(joint * masked, field.domain, target)
    if inside.sum() > 0:
        assert np.allclose(field.conditional(target, event).values, expected / expected.sum(), atol=1e-9)
    else:
        with pytest.raises(ParameterError, match="probability zero"):
            field.conditional(target, event)


@given(fields())
@settings(max_examples=many(75))
def test_the_likelihood_of_records_is_their_probability(made):
    field, joint = made
    names = field.domain.names
    whole = np.array(list(np.ndindex(*joint.shape)))
    logs = field.log_likelihood({name: whole[:, i] for i, name in enumerate(names)})
    assert np.allclose(np.exp(logs), joint.reshape(-1), atol=1e-12)
    assert np.isneginf(logs[joint.reshape(-1) == 0]).all()
    some = names[::2]
    marginal = brute_marginal(joint, field.domain, some)
    rows = np.array(list(np.ndindex(*marginal.shape)))
    logs = field.log_likelihood({name: rows[:, i] for i, name in enumerate(some)})
    assert np.allclose(np.exp(logs), marginal.reshape(-1), atol=1e-12)
    positive = joint[joint > 0]
    assert field.entropy() == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-9)


def chain(columns: int, size: int = 3, seed: int = 0) -> Field:
    domain = Domain({f"x{i}": size for i in range(columns)})
    rng = np.random.default_rng(seed)
    tree = build_tree(domain, list(itertools.pairwise(domain.names)))
    one = {name: None for name in domain}
    tables = [np.empty(0)] * len(tree.cliques)
    for i in reversed(range(len(tree.cliques))):
        first = tree.separator(i) or tree.cliques[i][:1]
        start = one[first[0]] if one[first[0]] is not None else rng.dirichlet(np.ones(size))
        table = start[:, None] * rng.dirichlet(np.ones(size), size)
        tables[i] = table if tree.cliques[i][0] == first[0] else table.T
        for axis, name in enumerate(tree.cliques[i]):
            one[name] = tables[i].sum(axis=1 - axis)
    return Field(tree, tables, 1000.0)


def test_the_ends_of_a_chain_of_thousand_columns_are_reached():
    field = chain(1000)
    assert field.marginal(("x999", "x0")).counts.sum() == pytest.approx(1000)
    assert field.log_probability({name: 0 for name in field.domain}) < math.log(
        5e-324
    )  # too small for a float
    logs = field.log_likelihood({name: [0] for name in field.domain})
    assert field.log_probability({name: 0 for name in field.domain}) == pytest.approx(logs[0])


def test_many_pairs_at_once_are_those_asked_one_by_one():
    field = chain(12)
    pairs = list(itertools.combinations(field.domain.names, 2))
    for pair, answer in zip(pairs, field.marginals(pairs), strict=True):
        assert np.allclose(answer.counts, Field(field.tree, field.tables, 1000.0).marginal(pair).counts)


def test_a_marginal_that_would_not_fit_in_memory_is_refused_before_it_is_made():
    with pytest.raises(SizeError, match="cells"):
        chain(60).marginal(tuple(f"x{i}" for i in range(0, 60, 2)))


def test_bad_questions_are_refused_by_name():
    field, _ = make_field(Domain({"a": 2, "b": 3}), [("a", "b")], seed=0)
    for event in (
        {"z": 0},
        {"a": 2},
        {"a": -1},
        {"a": [0, 5]},
        {"a": 0.5},
        {"a": "M"},
        {"a": [[0]]},
        {"a": True},
    ):
        with pytest.raises(DomainError):
            field.probability(event)
    for clique in (("z",), ("a", "a")):
        with pytest.raises(DomainError):
            field.marginal(clique)
    with pytest.raises(ParameterError, match="mapping"):
        field.probability([("a", 0)])
    assert field.probability({"a": []}) == 0
    assert field.probability({"a": np.array([True, False])}) == pytest.approx(field.probability({"a": 0}))
    assert field.probability({}) == 1
    assert field.probability({"b": range(3)}) == pytest.approx(1)


def test_a_field_refuses_tables_that_are_no_distribution():
    tree = build_tree(Domain({"a": 2}), [("a",)])
    for table in ([-1.0, 2.0], [np.nan, 1.0], [0.0, 0.0], [np.inf, 1.0], [1.0]):
        with pytest.raises(ParameterError, match="marginal of"):
            Field(tree, [table], 10.0)
    for total in (-1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="total"):
            Field(tree, [[1.0, 1.0]], total)
    with pytest.raises(ParameterError, match="2 marginals"):
        Field(tree, [[1.0, 1.0]] * 2, 1.0)


def test_the_summary_shows_what_the_field_is_made_of():
    field, _ = make_field(Domain({"a": 2, "b": 3, "c": 2}), [("a", "b")], seed=0)
    summary = field.summary()
    assert (summary.treewidth, summary.cells, summary.components) == (1, 8, 2)
    assert summary.cliques == field.cliques
    for word in ("treewidth", "certificate", "a, b"):
        assert word in str(summary)
