"""PrivBayes, PrivSyn and field groups: what each is made of, and that its releases are releases like any other."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from understudy.data import Table
from understudy.domain import Category, Domain, Schema
from understudy.errors import ParameterError, ReleaseError
from understudy.marginals import Measurement
from understudy.mechanisms import MST, Mechanism
from understudy.mechanisms.registry import generator_from, mechanism_kind
from understudy.mechanisms.repeated_measurement import measure_repeated
from understudy.pipeline import Release, fit
from understudy.privacy import Budget, Curator, Group, Seeded, recompute
from understudy_contest import FieldGroups, PrivBayes, PrivSyn
from understudy_contest.bayesian_network import BayesianNetwork
from understudy_contest.consistency import consistent, without_negatives
from understudy_contest.field_groups import found_groups
from understudy_contest.gradual_update import GradualUpdate
from understudy_contest.group_histograms import GroupHistograms
from understudy_contest.privbayes import ParentSets

BUDGET = Budget(2.0, 1e-9)


def chain(rows: int = 20_000, seed: int = 0) -> Table:
    """a -> b -> c, and d alone."""
    random = np.random.default_rng(seed)

    def blurred(codes: np.ndarray) -> np.ndarray:
        return np.where(random.random(rows) < 0.85, codes, random.integers(0, 4, rows))

    a = random.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    b = blurred(a)
    codes = {"a": a, "b": b, "c": blurred(b), "d": random.integers(0, 3, rows)}
    return Table(Domain({"a": 4, "b": 4, "c": 4, "d": 3}), codes)


def error(table: Table, mechanism: Mechanism, clique: tuple[str, ...], seed: int = 1) -> float:
    """The total variation distance between true and synthetic records."""
    found = mechanism(Curator(table, BUDGET, source=Seeded(seed)), table.domain, BUDGET)
    drawn = found.field.sample(len(table), seed=seed).counts(clique).counts / len(table)
    (true,) = table.count([clique])
    return float(np.abs(drawn - true.counts / len(table)).sum() / 2)


@pytest.mark.parametrize(
    ("mechanism", "pair", "worst"),
    [
        (PrivBayes(), ("a", "b"), 0.03),
        (PrivBayes(degree=1, noise="gaussian"), ("b", "c"), 0.03),
        (PrivSyn(pairs=2), ("a", "b"), 0.03),
        (PrivSyn(), ("b", "c"), 0.03),
        (FieldGroups([("a", "b", "c")]), ("a", "c"), 0.03),
    ],
)
def test_what_depends_in_the_records_depends_in_the_synthetic_ones(
    mechanism: Mechanism, pair: tuple[str, str], worst: float
) -> None:
    assert error(chain(), mechanism, pair) < worst


@pytest.mark.parametrize(
    "mechanism", [PrivBayes(), PrivSyn(pairs=2), FieldGroups([("a", "b")])], ids=lambda m: m.name
)
def test_a_rivals_release_is_saved_loaded_verified_and_sampled(mechanism: Mechanism, tmp_path: Path) -> None:
    table = chain(2000)
    schema = Schema(
        {n: Category([f"{n}{i}" for i in range(s)], missing=False) for n, s in table.domain.items()}
    )
    words = pa.table({n: pa.array([f"{n}{code}" for code in codes]) for n, codes in table.columns.items()})
    release = fit(
        words, schema, epsilon=1.0, delta=1e-9, mechanism=mechanism, ledger=tmp_path / "ledger", name="chain"
    )
    assert release.private and release.verify().holds
    assert {charge["stage"] for charge in release.certificate["charges"]} <= {
        "one-way", "network", "tables", "select", "two-way", "groups", "check"
    }  # fmt: skip
    release.save(tmp_path / "r.release")
    again = Release.load(tmp_path / "r.release")
    assert again.sample(50, seed=3).equals(release.sample(50, seed=3))
    assert again.sample(50, seed=3).num_rows == 50
    assert again.marginal(("a", "b")).counts.shape == release.domain.shape(("a", "b"))


@pytest.mark.parametrize("limit", [300, 500, 5000])
def test_columns_that_turn_out_larger_or_smaller_than_planned_cost_no_failure(
    limit: int, tmp_path: Path
) -> None:
    """A learned column is planned as one of 64 codes: with 10 or 200 of them other pairs are small enough."""
    random = np.random.default_rng(0)
    learned = {"few": 8, "many": 200}
    words = {
        name: [f"{name}{code}" for code in random.integers(0, size, 9000)] for name, size in learned.items()
    }
    records = pa.table(words | {"sex": random.choice(["M", "F"], 9000), "wide": random.integers(0, 50, 9000)})
    columns: dict[str, Category] = {name: Category(discover=True) for name in learned}
    schema = Schema(
        columns | {"sex": Category(("M", "F")), "wide": Category(tuple(range(50)))}, name="people"
    )
    recipes = [PrivSyn(pairs, limit_cells=limit, threshold=0.0) for pairs in (0, 2, 190)]
    for number, mechanism in enumerate([*recipes, MST(limit_cells=limit, threshold=0.0)]):
        release = fit(
            records,
            schema,
            epsilon=5.0,
            delta=1e-6,
            mechanism=mechanism,
            ledger=tmp_path / f"{number}.db",
        )
        assert release.verify().holds and release.sample(20).num_rows == 20


def test_a_clique_measured_several_times_is_known_as_well_as_its_whole_budget_allows() -> None:
    curator = Curator(chain(2000), BUDGET, source=Seeded(3))
    plan = [Group("pairs", "measure", Fraction(1), weights=(2.0, 1.0, 1.0, 1.0, 1.0))]
    loss = curator.commit(plan)["pairs"]
    asked = [("a", "b"), ("c", "d"), ("b", "a"), ("c", "d"), ("d",)]
    found = measure_repeated(curator, asked, loss)
    assert [m.clique for m in found] == [("a", "b"), ("c", "d"), ("d",)]
    scale = loss.sigma * np.sqrt(8)  # of a weight of one
    assert [float(m.stddev) / scale for m in found] == pytest.approx([5**-0.5, 2**-0.5, 1], rel=1e-6)
    for measured, true in zip(found, chain(2000).count([m.clique for m in found]), strict=True):
        assert np.abs(measured.values - true.counts.reshape(-1)).max() < 6 * float(measured.stddev)
    assert recompute(curator.certificate()) <= BUDGET.epsilon


def test_a_release_of_an_unknown_or_damaged_generator_is_refused() -> None:
    network = BayesianNetwork(Domain({"a": 2}), [("a",)], [[1.0, 3.0]], 10.0)
    header, arrays = network.to_arrays()
    for damaged in (
        header | {"format": "something else"},
        header | {"version": 2},
        header | {"total": float("nan")},
        header | {"families": [["b"]]},
        {},
    ):
        with pytest.raises(ReleaseError):
            generator_from(damaged, arrays)
    for weights in ([1.0, -3.0], [np.nan, 1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ReleaseError):
            generator_from(header, {"family_0": np.array(weights)})


def test_parents_come_before_their_children_and_families_stay_small() -> None:
    domain = Domain({name: 4 for name in "abcdef"})
    pool = ParentSets(domain, 2, 64.0, 100)
    pool.add("a", ["b", "c"])
    assert pool.families("b") == [("b", "a")]
    pool.add("b", ["c"])
    assert pool.families("c") == [("c", "a", "b")]
    tight = ParentSets(domain, 2, 3.0, 100)
    tight.add("a", ["b"])
    assert tight.families("b") == [("b",)]
    few = ParentSets(domain, 3, 1e9, 2)
    for placed, rest in (("a", "f"), ("b", "f"), ("c", "f"), ("d", "f")):
        few.add(placed, rest)
    assert 1 <= len(few.families("f")) <= 2


def test_a_networks_order_must_hold() -> None:
    domain = Domain({"a": 2, "b": 2})
    for families in ([("a", "b"), ("b",)], [("a",)], [("a",), ("a",)]):
        with pytest.raises(ParameterError):
            BayesianNetwork(domain, families, [np.ones(4)] * len(families), 1.0)


def test_marginals_made_consistent_agree_have_no_negative_cell_and_are_nearer_the_truth() -> None:
    domain = Domain({"a": 3, "b": 4, "c": 2})
    random = np.random.default_rng(0)
    raw = made = 0.0
    for _ in range(30):
        truth = random.dirichlet(np.ones(24)).reshape(3, 4, 2) * 1000
        true = {("a", "b"): truth.sum(axis=2), ("b", "c"): truth.sum(axis=0), ("c", "a"): truth.sum(axis=1).T}
        log = [
            Measurement(clique, (table + random.normal(0, 20, table.shape)).reshape(-1), 20.0)
            for clique, table in true.items()
        ]
        tables = consistent(domain, log, 1000.0)
        assert set(tables) == {("a", "b"), ("b", "c"), ("a", "c")}
        for table in tables.values():
            assert (table >= 0).all() and table.sum() == pytest.approx(1000.0, rel=1e-6)
        np.testing.assert_allclose(tables["a", "b"].sum(axis=0), tables["b", "c"].sum(axis=1), atol=5)
        raw += float(np.abs(log[0].values - true["a", "b"].reshape(-1)).sum())
        made += float(np.abs(tables["a", "b"] - true["a", "b"]).sum())
    assert made < 0.9 * raw


@pytest.mark.parametrize("values", [[5.0, -3.0, 1.0], [-1.0, -2.0, -3.0], [0.0, 0.0, 0.0], [1e9, -1e9, 2.0]])
def test_negative_counts_are_cut_without_changing_the_total(values: list[float]) -> None:
    cut = without_negatives(np.array(values), 12.0)
    assert (cut >= 0).all() and cut.sum() == pytest.approx(12.0)


def test_records_follow_marginals_that_agree() -> None:
    table = chain(5000)
    cliques = [("a",), ("b",), ("c",), ("d",), ("a", "b"), ("b", "c")]
    truth = {m.clique: m.counts.astype(float) for m in table.count(cliques)}
    made = GradualUpdate(table.domain, truth, 5000.0, 100)
    drawn = made.sample(5000, seed=0)
    for clique, counts in truth.items():
        assert np.abs(drawn.counts(clique).counts - counts).sum() / 2 < 0.02 * 5000
    # ... and what was not asked for, that a and c go together, follows from the copies
    (far,) = table.count([("a", "c")])
    assert np.abs(drawn.counts(("a", "c")).counts - far.counts).sum() / 2 < 0.08 * 5000
    assert len(made.sample(0, seed=0)) == 0 and len(made.sample(1, seed=0)) == 1


def test_groups_are_found_where_columns_say_much_of_each_other() -> None:
    found = found_groups(chain(), limit_cells=64, least=0.1)
    assert sorted(map(sorted, found)) == [["a", "b", "c"], ["d"]]
    assert all(len(group) <= 2 for group in found_groups(chain(), limit_cells=16, least=0.1))


def test_groups_that_the_cut_off_would_empty_are_not_made() -> None:
    together = FieldGroups(public=chain(), limit_cells=64, scale=1.0).all_groups(chain().domain)
    assert sorted(map(sorted, together)) == [["a", "b", "c"], ["d"]]
    apart = FieldGroups(public=chain(), limit_cells=64, scale=1e6).all_groups(chain().domain)
    assert sorted(map(sorted, apart)) == [["a"], ["b"], ["c"], ["d"]]


def test_an_empty_group_is_drawn_evenly() -> None:
    none = np.zeros(0)
    drawn = GroupHistograms(Domain({"a": 4}), [("a",)], [(none, none)], 10.0).sample(8000, seed=0)
    assert np.bincount(drawn["a"]).min() > 1800


def test_groups_that_overlap_or_are_missing_are_refused() -> None:
    with pytest.raises(ParameterError, match="two groups"):
        FieldGroups([("a", "b"), ("b", "c")]).plan(chain(10).domain)
    with pytest.raises(ParameterError, match="public"):
        FieldGroups()
    with pytest.raises(ParameterError, match="takes none"):
        mechanism_kind("privbayes").make(clique=[("a", "b")])
    assert mechanism_kind("privsyn").make(clique=[("a", "b")]).name == "privsyn"
    assert mechanism_kind("field-groups").make(clique=[("a", "b")]).name == "field-groups"


def test_impossible_settings_of_rivals_are_refused() -> None:
    for make in (
        lambda: PrivBayes(noise="cauchy"),
        lambda: PrivBayes(theta=0),
        lambda: PrivSyn(pairs=-1),
        lambda: PrivSyn(laplace={("a",): 1.5}),
        lambda: PrivSyn(one_way=0),
        lambda: FieldGroups([("a",)], factor=0),
    ):
        with pytest.raises(ParameterError):
            make()
