"""One suite that every mechanism passes: what it spends, what it returns, and on which tables it works."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.mechanisms import AIM, MST, NIST_MST, Adaptive, Fixed, Independent, Mechanism
from understudy.mechanisms.registry import generator_from, kinds
from understudy.privacy import Budget, Curator, Seeded, recompute
from understudy_contest import FieldGroups, PrivBayes, PrivSyn

BUDGET = Budget(epsilon=1.0, delta=1e-9)
Factory = Callable[[Table], Mechanism]

MECHANISMS: dict[str, Factory] = {
    "independent": lambda public: Independent(),
    "fixed": lambda public: Fixed([public.domain.names[:2]]),
    "mst": lambda public: MST(),
    "adaptive": lambda public: Adaptive(),
    "aim": lambda public: AIM(),
    "aim, for a few sets": lambda public: AIM({public.domain.names[:2]: 2.0, public.domain.names[-2:]: 1.0}),
    "mst, as in the paper": lambda public: MST(shrink=False),
    "mst, forced pair": lambda public: MST({public.domain.names[:2]: 2.0}),
    "mst, stopping early": lambda public: MST(stop_early=True),
    "nist-mst": NIST_MST,
    "adaptive, public": lambda public: Adaptive(public=public),
    "aim, public": lambda public: AIM(public=public),
    "mst, public": lambda public: MST(public=public),
    "independent, public": lambda public: Independent(public=public),
    "fixed, public": lambda public: Fixed([public.domain.names[:2]], public=public),
    "privbayes": lambda public: PrivBayes(),
    "privbayes, gaussian": lambda public: PrivBayes(noise="gaussian", theta=1.0),
    "privsyn, all pairs": lambda public: PrivSyn(),
    "privsyn, some pairs": lambda public: PrivSyn(pairs=2),
    "privsyn, given pair": lambda public: PrivSyn(pairs=0, forced=[public.domain.names[:2]]),
    "field groups, given": lambda public: FieldGroups([public.domain.names[:2]]),
    "field groups, found": lambda public: FieldGroups(public=public),
    "privsyn, laplace": lambda public: PrivSyn(laplace={public.domain.names[:1]: 0.25}),
}


def records(domain: Domain, rows: int, seed: int = 0) -> Table:
    """Records in which every column leans on the one before it."""
    rng = np.random.default_rng(seed)
    codes = {}
    before = rng.integers(0, 2**20, rows)
    for name, size in domain.items():
        before = np.where(rng.random(rows) < 0.7, before, rng.integers(0, 2**20, rows))
        codes[name] = before % size
    return Table(domain, codes)


def domain_of(columns: int) -> Domain:
    return Domain({f"c{i}": 2 + i % 4 for i in range(columns)})


def run(factory: Factory, table: Table, seed: int = 3) -> tuple[Curator, object]:
    curator = Curator(table, BUDGET, source=Seeded(seed))
    return curator, factory(records(table.domain, 500, seed=9))(curator, table.domain, BUDGET)


def test_every_mechanism_of_the_registry_is_in_this_suite() -> None:
    public = records(domain_of(3), 20)
    assert {kind.name for kind in kinds()} <= {make(public).name for make in MECHANISMS.values()}


@pytest.fixture(params=MECHANISMS, name="factory")
def _factory(request: pytest.FixtureRequest) -> Factory:
    return MECHANISMS[request.param]


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
def test_a_table_of_any_width_gives_a_field_over_all_its_columns(factory: Factory, columns: int) -> None:
    table = records(domain_of(columns), 2000)
    _, fit = run(factory, table)
    assert fit.compression.domain(table.domain) == fit.field.domain
    # Thresholded histograms are no measurements: what they hold is in the generator alone.
    assert {name for m in fit.measurements for name in m.clique} in (set(table.domain), set())


def test_the_budget_given_is_the_budget_spent_and_never_more(factory: Factory) -> None:
    curator, _ = run(factory, records(domain_of(6), 2000))
    spent = recompute(curator.certificate())  # as verified: what a filter paid for is added up by zCDP
    assert max(spent, curator.spent.epsilon(BUDGET.delta)) <= BUDGET.epsilon
    # An early stop leaves choices unmade; all else is spent to the last drop.
    plan = factory(records(domain_of(6), 2000)).plan(curator.domain)
    planned = sum(group.count for group in plan if group.kind == "choose")
    asked = sum(charge.to_dict()["question"].startswith("choose") for charge in curator.charges)
    assert spent >= (0.985 if asked == planned else 0.9) * BUDGET.epsilon


def test_the_names_of_columns_do_not_matter(factory: Factory) -> None:
    table = records(domain_of(5), 1500)
    renamed = Table(
        Domain({f"other {i}": size for i, size in enumerate(table.domain.values())}),
        {f"other {i}": codes for i, codes in enumerate(table.columns.values())},
    )
    _, first = run(factory, table)
    _, second = run(factory, renamed)
    for a, b in zip(first.measurements, second.measurements, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
    samples = [fit.field.sample(200, seed=1) for fit in (first, second)]
    for ours, theirs in zip(samples[0].columns.values(), samples[1].columns.values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_generator_taken_apart_and_put_together_draws_the_same_records(factory: Factory) -> None:
    _, fit = run(factory, records(domain_of(4), 1000))
    header, arrays = fit.field.to_arrays()
    again = generator_from(json.loads(json.dumps(header)), arrays)
    assert again.domain == fit.field.domain and again.total == fit.field.total
    first, second = fit.field.sample(300, seed=5), again.sample(300, seed=5)
    for name in fit.field.domain:
        np.testing.assert_array_equal(first[name], second[name])
    assert sum(len(part) for part in again.sample_chunks(300, 128, seed=5)) == 300
    assert again.marginal("c0").total == pytest.approx(fit.field.total)
    assert str(again.summary())


def test_a_column_of_one_value_is_a_column_like_any_other(factory: Factory) -> None:
    _, fit = run(factory, records(Domain({"a": 3, "constant": 1, "b": 2}), 800))
    assert fit.field.domain["constant"] == 1
    assert len(fit.field.sample(50, seed=0)) == 50


def test_an_empty_table_is_fitted_like_any_other(factory: Factory) -> None:
    table = Table(domain_of(4), {name: np.zeros(0, np.uint8) for name in domain_of(4)})
    _, fit = run(factory, table)
    assert len(fit.field.sample(10, seed=0)) == 10


def test_a_mechanism_refuses_a_budget_that_is_not_its_curators(factory: Factory) -> None:
    table = records(domain_of(3), 100)
    with pytest.raises(ValueError, match="curator"):
        factory(table)(Curator(table, BUDGET, source=Seeded(1)), table.domain, Budget(2.0, 1e-9))


def test_mst_finds_the_chain_that_the_records_follow() -> None:
    table = records(Domain({f"c{i}": 4 for i in range(6)}), 20_000)
    _, fit = run(MECHANISMS["mst"], table)
    pairs = {m.clique for m in fit.measurements if len(m.clique) == 2}
    assert pairs == {(f"c{i}", f"c{i + 1}") for i in range(5)}


def test_nist_mst_selects_on_the_public_table_alone() -> None:
    domain = Domain({f"c{i}": 4 for i in range(5)})
    _, fit = run(MECHANISMS["nist-mst"], Table(domain, {n: np.zeros(3000, np.uint8) for n in domain}))
    pairs = {m.clique for m in fit.measurements if len(m.clique) == 2}
    assert {(f"c{i}", f"c{i + 1}") for i in range(4)} <= pairs
