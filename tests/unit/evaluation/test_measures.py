"""Measures beyond the contest's, each with baselines beside it."""

import json
import math

import numpy as np
import pytest

from understudy.errors import ParameterError
from understudy.evaluation import (
    Correlation,
    Evaluation,
    KMarginal,
    Learning,
    Propensity,
    TotalVariation,
    evaluate_codes,
)
from understudy.evaluation.baselines import bootstrap, independent, uniform
from understudy.evaluation.fidelity import sample_cliques
from understudy.evaluation.learners.propensity import logistic
from understudy.evaluation.learners.regression_tree import grow

SMALL = {"A": np.array([0, 0, 1, 1]), "B": np.array([0, 1, 0, 1]), "C": np.array([0, 0, 0, 1])}


@pytest.fixture(scope="module")
def real():
    randomness = np.random.default_rng(3)
    a = randomness.integers(0, 5, 6000)
    b = np.where(randomness.random(6000) < 0.8, a, randomness.integers(0, 5, 6000))
    c = (a + b + randomness.integers(0, 3, 6000)) // 2
    d = randomness.integers(0, 300, 6000) + 40 * a
    return {"a": a, "b": b, "c": c, "d": d}


def values(measure, mine, theirs, seed=0):
    return measure.values(mine, theirs, np.random.default_rng(seed))


def test_total_variation_of_any_width_worked_by_hand():
    other = {"A": np.array([0, 0, 0, 1]), "B": np.array([0, 1, 0, 1]), "C": np.array([0, 0, 0, 1])}
    # one-way: A moves from (1/2, 1/2) to (3/4, 1/4): 1/4; B and C stay
    found = values(TotalVariation(1), SMALL, other)
    assert found == {
        "1-way total variation": pytest.approx(1 / 12),
        "1-way total variation, worst": pytest.approx(1 / 4),
    }
    # two-way: one record of four moves in AB and in AC: 1/4 each; BC stays
    assert values(TotalVariation(2), SMALL, other)["2-way total variation"] == pytest.approx(1 / 6)
    assert values(TotalVariation(3), SMALL, other)["3-way total variation"] == pytest.approx(1 / 4)


def test_nists_score_runs_from_1000_for_equal_tables_to_0_for_tables_that_never_meet():
    assert values(KMarginal(), SMALL, SMALL) == {"NIST 3-marginal score": 1000.0}
    away = {name: column + 7 for name, column in SMALL.items()}
    assert values(KMarginal(), SMALL, away) == {"NIST 3-marginal score": 0.0}
    half = {name: np.where([True, True, False, False], column, column + 7) for name, column in SMALL.items()}
    # two records of four match nothing: sum |difference| = 1/2 + 1/2, score = 1000 * (1 - 1/2)
    assert values(KMarginal(), SMALL, half) == {"NIST 3-marginal score": pytest.approx(500.0)}


def test_every_marginal_holds_the_column_asked_for():
    moved = {**SMALL, "A": 1 - SMALL["A"]}
    # with A in every pair: AB and AC; A is turned round, so AB: TV 0 (uniform), AC: |1/2 0; 1/4 1/4| to its flip
    # AC true: (0,0) 1/2, (1,0) 1/4, (1,1) 1/4; flipped: (1,0) 1/2, (0,0) 1/4, (0,1) 1/4: L1 = 1, TV 1/2
    assert values(KMarginal(2, by="A"), SMALL, moved) == {"NIST 2-marginal score": pytest.approx(750.0)}
    with pytest.raises(ParameterError, match="'Z'"):
        values(KMarginal(2, by="Z"), SMALL, SMALL)


@pytest.mark.parametrize(
    ("names", "width", "limit"), [(6, 2, 10), (6, 3, 19), (40, 3, 50), (5, 5, 3), (4, 1, None)]
)
def test_cliques_are_distinct_and_as_many_as_asked_for(names, width, limit):
    columns = [f"c{i}" for i in range(names)]
    found = sample_cliques(columns, width, limit, np.random.default_rng(0))
    total = math.comb(names, width)
    assert len(found) == len(set(found)) == (total if limit is None else min(limit, total))
    assert all(len(set(clique)) == width for clique in found)
    assert found == sample_cliques(columns, width, limit, np.random.default_rng(0))


def test_association_differences_worked_by_hand():
    tied = {"x": np.array([0, 0, 1, 1]), "y": np.array([0, 0, 1, 1])}
    loose = {"x": np.array([0, 0, 1, 1]), "y": np.array([0, 1, 0, 1])}
    # tied: correlation 1, V 1, information ln 2; loose: all 0
    assert values(Correlation("pearson"), tied, loose)["Pearson correlation, difference"] == pytest.approx(1)
    assert values(Correlation("cramer"), tied, loose)["Cramér's V, difference"] == pytest.approx(1)
    found = values(Correlation("information"), tied, loose)["mutual information, difference"]
    assert found == pytest.approx(math.log(2))


def test_a_constant_column_is_associated_with_nothing():
    flat = {"x": np.zeros(5, int), "y": np.arange(5)}
    for kind in ("pearson", "cramer", "information"):
        assert list(values(Correlation(kind), flat, flat).values()) == [0.0]


def test_a_propensity_model_cannot_tell_a_table_from_itself_and_always_tells_disjoint_ones(real):
    assert values(Propensity(), real, real)["pMSE (logistic)"] == pytest.approx(0, abs=1e-9)
    assert values(Propensity("tree"), real, real)["pMSE (tree)"] == pytest.approx(0, abs=1e-9)
    away = {**real, "a": real["a"] + 9}
    # propensities 0 and 1 against a share of 1/2: mean (1/2)^2
    assert values(Propensity(), real, away)["pMSE (logistic)"] == pytest.approx(0.25, abs=1e-3)
    assert values(Propensity("tree"), real, away)["pMSE (tree)"] == pytest.approx(0.25, abs=1e-3)


def test_only_the_tree_sees_broken_dependence_between_columns_with_right_margins(real):
    broken = independent(real, 6000, np.random.default_rng(0))
    fresh = bootstrap(real, 6000, np.random.default_rng(0))
    tree = Propensity("tree")
    assert values(tree, real, broken)["pMSE (tree)"] > 5 * values(tree, real, fresh)["pMSE (tree)"]
    assert values(Propensity(), real, broken)["pMSE (logistic), ratio to expected"] < 4


def test_logistic_regression_recovers_shares_by_group():
    group = np.repeat([0, 1], [40, 60])
    label = np.concatenate([np.repeat([1.0, 0], [10, 30]), np.repeat([1.0, 0], [45, 15])])
    fitted = logistic(np.stack([np.ones(100), group], axis=1), label)
    assert fitted[0] == pytest.approx(0.25, abs=1e-3)
    assert fitted[-1] == pytest.approx(0.75, abs=1e-3)


def test_a_tree_learns_a_checkerboard_that_no_single_split_shows():
    randomness = np.random.default_rng(0)
    bins = randomness.integers(0, 4, (4000, 3))
    wanted = (bins[:, 0] >= 2) ^ (bins[:, 1] >= 2)
    fitted = grow(bins, wanted.astype(float)[:, None], depth=6, smallest=5).predict(bins)[:, 0]
    assert np.mean((fitted > 0.5) == wanted) > 0.95


def test_learning_tells_good_tables_from_bad_ones(real):
    found = evaluate_codes(
        real,
        independent(real, 5000, np.random.default_rng(1)),
        measures=[Learning("b"), Learning("d", "regression")],
    )
    for learner in ("linear", "tree", "forest"):
        accuracy = found[f"b by {learner}: accuracy"]
        assert accuracy.by_table["real"] > 0.75
        assert accuracy.by_table["bootstrap"] > 0.75
        assert accuracy.synthetic < 0.4
        fit = found[f"d by {learner}: R^2"]
        assert fit.by_table["real"] > 0.2
        assert fit.synthetic < 0.1
    assert set(found.tables) == {"synthetic", "real", "bootstrap", "independent", "uniform"}


def test_classes_that_the_synthetic_table_lacks_are_simply_never_predicted(real):
    poor = {name: column[real["b"] == 0] for name, column in real.items()}
    found = evaluate_codes(real, poor, measures=[Learning("b")])
    assert found["b by tree: mean recall"].synthetic == pytest.approx(0.2)


def test_scikit_learn_is_asked_for_only_by_its_own_learners(real):
    measure = Learning("b", learners=("logistic", "boosting", "neighbours"), rows=600)
    try:
        import sklearn  # noqa: F401
    except ImportError:
        with pytest.raises(ParameterError, match=r"understudy\[evaluate\]"):
            evaluate_codes(real, real, measures=[measure])
    else:
        found = evaluate_codes(real, real, measures=[measure])
        assert found["b by boosting: accuracy"].synthetic > 0.75


def test_baselines_order_as_they_must(real):
    found = evaluate_codes(real, bootstrap(real, 6000, np.random.default_rng(8)))
    for figure in found.figures:
        good, poor, nothing = (figure.by_table[k] for k in ("bootstrap", "independent", "uniform"))
        sign = 1 if figure.better == "lower" else -1
        assert sign * good <= sign * nothing, figure.name
        if "1-way" not in figure.name and "logistic" not in figure.name:
            assert sign * good < sign * poor, figure.name
    assert found["2-way total variation"].synthetic < 2 * found["2-way total variation"].by_table["bootstrap"]


def test_an_evaluation_prints_as_a_table_and_writes_json(real):
    found = evaluate_codes(real, real, measures=[TotalVariation(1), KMarginal()], seed=4)
    assert isinstance(found, Evaluation)
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert "bootstrap" in lines[0]
    content = json.loads(found.to_json())
    assert content["rows"] == {"real": 6000, "synthetic": 6000}
    assert content["measures"][0]["synthetic"] == 0
    assert content["measures"][0]["better"] == "lower"


def test_the_same_seed_gives_the_same_figures(real):
    other = uniform(real, 900, np.random.default_rng(2))
    some = [
        TotalVariation(2, 3),
        Correlation("cramer", 4),
        Propensity("logistic", 400),
        Learning("a", rows=300),
    ]
    first, again, another = (evaluate_codes(real, other, measures=some, seed=s).to_dict() for s in (9, 9, 10))
    assert first == again
    assert first["measures"] != another["measures"]


def test_one_column_or_one_record_can_still_be_evaluated():
    single = {"x": np.array([0, 1, 1, 2])}
    found = evaluate_codes(single, single)
    assert found["1-way total variation"].synthetic == 0
    lone = {"x": np.array([1]), "y": np.array([4])}
    assert evaluate_codes(lone, lone)["2-way total variation"].synthetic == 0


def test_missing_and_foreign_codes_never_raise_and_never_match(real):
    spoilt = {name: np.where(np.arange(6000) % 2 == 0, column, -1) for name, column in real.items()}
    small = [
        TotalVariation(1),
        Correlation(),
        Propensity(rows=500),
        Propensity("tree"),
        Learning("b", rows=500),
    ]
    found = evaluate_codes(real, spoilt, measures=small)
    assert found["1-way total variation"].synthetic >= 0.5


def test_nonsense_is_refused_with_a_way_out(real):
    with pytest.raises(ParameterError, match="association 'x'"):
        Correlation("x")
    with pytest.raises(ParameterError, match="model 'x'"):
        Propensity("x")
    with pytest.raises(ParameterError, match="learner 'x'"):
        Learning("a", learners=("x",))
    with pytest.raises(ParameterError, match="target 'z'"):
        evaluate_codes(real, real, targets=["z"])
    with pytest.raises(ParameterError, match="one text"):
        evaluate_codes(real, real, targets="a")
    with pytest.raises(ParameterError, match="marginals of 5 columns"):
        evaluate_codes(real, real, measures=[TotalVariation(5)])
    with pytest.raises(ParameterError, match="missing, negative"):
        evaluate_codes({"a": [-1, 0]}, {"a": [0, 0]})
    with pytest.raises(ParameterError, match="no measure 'x'"):
        evaluate_codes(real, real, measures=[TotalVariation(1)])["x"]
