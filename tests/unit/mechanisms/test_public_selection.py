"""What is selected on public records is settled before private ones are touched, and stays as it was planned."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import ParameterError
from understudy.mechanisms import NIST_MST
from understudy.mechanisms.public.public_selection import Selection
from understudy.privacy import Budget, Curator, Seeded
from understudy.privacy.curator.question_checks import MOST_CELLS
from understudy_contest import nist2018

BUDGET = Budget(8.0, 1e-9)


def leaning(domain: Domain, rows: int = 3000, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2**20, rows)
    keep = {name: rng.random(rows) < 0.8 for name in domain}
    return Table(
        domain,
        {n: np.where(keep[n], base, rng.integers(0, 2**20, rows)) % size for n, size in domain.items()},
    )


CHOSEN = Selection(
    tree=(("a", "b"), ("b", "c"), ("c", "d")), forced=(("a", "b", "d"),), extra=(("a", "c"), ("b", "a", "c"))
)


def test_on_a_smaller_domain_nothing_is_replaced() -> None:
    assert CHOSEN.within(Domain(dict.fromkeys("abcd", 3)), 100) == CHOSEN.cliques


def test_a_clique_grown_too_large_becomes_its_largest_part_and_none_is_lost() -> None:
    wide = Domain({"a": 10, "b": 4, "c": 5, "d": 30})
    cut = CHOSEN.within(wide, 200)
    assert len(cut) == len(CHOSEN.cliques)
    assert all(wide.size(clique) < 200 for clique in cut)
    assert cut[:3] == CHOSEN.tree
    assert cut[3] == ("b", "d")  # of (a, b, d): the pair (a, d) has 300 cells
    # The extra triple has 200 cells: its pair would close a triangle that the model must hold whole.
    assert cut[4:] == (("b", "a"), ("b", "c"))


def test_even_a_column_over_the_limit_is_measured_alone_rather_than_dropped() -> None:
    cut = CHOSEN.within(Domain(dict.fromkeys("abcd", 50)), 10)
    assert len(cut) == len(CHOSEN.cliques)
    assert all(len(clique) == 1 for clique in cut)


def test_the_planned_batch_is_the_batch_that_is_asked() -> None:
    domain = Domain({"a": 6, "b": 5, "c": 4, "d": 3})
    mechanism = NIST_MST(leaning(domain, seed=1), forced=[("a", "d")], weights={("d", "a"): 3.0})
    selected = mechanism.plan(domain)[1]
    assert selected.weights is not None
    assert len(selected.weights) == len(mechanism.selection.cliques)
    place = next(i for i, c in enumerate(mechanism.selection.cliques) if set(c) == {"a", "d"})
    assert selected.weights[place] == pytest.approx(3 * min(selected.weights))
    curator = Curator(leaning(domain), BUDGET, source=Seeded(1))
    mechanism(curator, domain, BUDGET)
    assert curator.spent.epsilon(BUDGET.delta) <= BUDGET.epsilon


def test_a_public_table_may_have_other_codes_but_not_other_columns() -> None:
    public = leaning(Domain({"city": 9, "b": 4, "c": 4}))
    private = leaning(Domain({"city": 3, "b": 4, "c": 4}))
    fit = NIST_MST(public)(Curator(private, BUDGET, source=Seeded(2)), private.domain, BUDGET)
    assert fit.field.domain["city"] <= 3
    with pytest.raises(ParameterError, match="columns"):
        NIST_MST(public).plan(Domain({"town": 9, "b": 4, "c": 4}))


@pytest.mark.parametrize(("epsilon", "weight"), [(0.3, 8.0), (1.0, 6.0), (3.9, 6.0), (4.0, 4.0), (8.0, 4.0)])
def test_the_contests_triple_weighs_what_the_paper_says(epsilon: float, weight: float) -> None:
    domain = Domain({"SEX": 2, "CITY": 4, "INCWAGE_A": 52, "INCWAGE_B": 8})
    assert nist2018.nist_mst(leaning(domain), epsilon).weights[nist2018.TRIPLE] == weight


@pytest.mark.parametrize("limit_cells", [10**4, 1000, 300, 10])
def test_private_domains_may_be_larger_than_public_ones(limit_cells: int) -> None:
    """What was selected on small columns is too large on the private ones: its parts coincide."""
    public = leaning(Domain(dict.fromkeys("abcd", 4)), seed=3)
    private = leaning(Domain({"a": 40, "b": 40, "c": 40, "d": 4}), 20_000)
    mechanism = NIST_MST(public, limit_cells=limit_cells, triple_threshold=0.0, forced=[("a", "c", "d")])
    curator = Curator(private, BUDGET, source=Seeded(4))
    fit = mechanism(curator, private.domain, BUDGET)
    assert curator.spent.epsilon(BUDGET.delta) <= BUDGET.epsilon
    assert all(fit.field.domain.size(m.clique) < limit_cells for m in fit.measurements if len(m.clique) > 1)
    assert len(curator.charges) == (1 if limit_cells == 10 else 2)


def test_a_batch_of_cliques_that_are_too_large_together_is_cut() -> None:
    names = [f"c{i}" for i in range(12)]
    chosen = Selection(tuple(pairwise(names)), (), ())
    wide = Domain(dict.fromkeys(names, 3000))
    cut = chosen.within(wide, 10**7)
    assert len(cut) == len(chosen.cliques) and sum(map(wide.size, cut)) <= MOST_CELLS


def test_learned_private_domains_larger_than_public_ones_cost_what_was_planned(tmp_path) -> None:
    """The columns' values are learned, so that nobody knows beforehand how large they are."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, 150, 20_000)
    columns = {name: (base * k + rng.integers(0, 2, len(base))) % 150 for k, name in enumerate("abc", 1)}
    records = pa.table({name: [f"v{code}" for code in codes] for name, codes in columns.items()})
    text = "".join(f'[columns.{name}]\ntype = "category"\ndiscover = true\n' for name in "abc")
    public = leaning(Domain(dict.fromkeys("abc", 4)), seed=3)
    mechanism = NIST_MST(public, limit_cells=2000, triple_threshold=0.0)
    release = us.fit(
        records,
        us.Schema.from_toml(text),
        epsilon=8.0,
        delta=1e-6,
        mechanism=mechanism,
        ledger=tmp_path / "l.db",
    )
    assert release.schema.domain()["a"] > 100 and release.verify().holds


def test_bins_of_other_codes_are_refused_before_anything_is_charged() -> None:
    domain = Domain({"a": 6, "b": 5})
    mechanism = NIST_MST(leaning(domain), bins={("a", "b"): {"a": (0, 0, 1)}})
    curator = Curator(leaning(domain), BUDGET, source=Seeded(1))
    with pytest.raises(ParameterError, match="bins"):
        mechanism(curator, domain, BUDGET)
    assert not curator.charges
    fit = mechanism(curator, domain, curator.commit(mechanism.plan(domain)))
    assert all(m.query is None for m in fit.measurements)
