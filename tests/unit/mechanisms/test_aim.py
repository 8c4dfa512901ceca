"""AIM measures what its workload asks, halves its noise by what it sees, and spends no more than it was given."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import understudy as us
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import DomainError, ParameterError
from understudy.mechanisms.registry import describe
from understudy.pipeline.certificate import spent_by_stage, staged
from understudy.pipeline.charged import check_charged
from understudy.privacy import Seeded, recompute

NAMES = "abcdef"


def parity(rows: int = 20_000) -> Table:
    """Fair bits of which every third is the parity of the two before it: pairs are independent, triples are not."""
    rng = np.random.default_rng(0)
    a, b, d, e = rng.integers(0, 2, (4, rows))
    codes = {"a": a, "b": b, "c": a ^ b, "d": d, "e": e, "f": d ^ e}
    return Table(Domain(dict.fromkeys(NAMES, 2)), codes)


def fitted(table: Table, mechanism: us.AIM, epsilon: float = 1.0) -> tuple[us.Curator, us.Fit]:
    curator = us.Curator(table, us.Budget(epsilon, 1e-9), source=Seeded(3))
    return curator, mechanism(curator, table.domain, curator.budget)


def measured(fit: us.Fit) -> set[frozenset[str]]:
    return {frozenset(m.clique) for m in fit.measurements if len(m.clique) > 1}


def test_triples_are_found_where_no_pair_tells_of_them() -> None:
    curator, fit = fitted(parity(), us.AIM())
    assert {frozenset("abc"), frozenset("def")} <= measured(fit)
    (real,) = parity().count([("a", "b", "c")])
    made = fit.field.marginal(("a", "b", "c")).counts
    assert np.abs(made - real.counts).sum() / (2 * real.counts.sum()) < 0.02
    assert 0.99 < recompute(curator.certificate()) <= 1.0


def test_only_parts_of_the_workload_are_measured() -> None:
    _, fit = fitted(parity(), us.AIM([("a", "b", "c"), ("d", "e")]))
    allowed = {
        frozenset(part) for s in ("abc", "de") for k in (2, 3) for part in itertools.combinations(s, k)
    }
    assert frozenset("abc") in measured(fit) and measured(fit) <= allowed


def test_a_target_is_in_every_set_that_matters() -> None:
    matters = us.AIM(target="f").workload.closure(parity().domain)
    with_target = max(w for clique, w in matters.items() if len(clique) == 3 and "f" in clique)
    without = max(w for clique, w in matters.items() if len(clique) == 2 and "f" not in clique)
    assert with_target > without
    _, fit = fitted(parity(), us.AIM(target="f"))
    assert frozenset("def") in measured(fit) and frozenset("abc") not in measured(fit)


def test_noise_is_halved_where_a_measurement_hardly_moved_the_model() -> None:
    curator, _ = fitted(parity(2_000), us.AIM("2-way"))
    scales = [
        charge["scales"][0]
        for charge in curator.certificate()["charges"][1:]
        if charge["question"] == "measure"
    ]
    assert len(scales) < 16 * 6  # there is nothing in the pairs: soon there is little noise, and the end
    halved = [first / second for first, second in itertools.pairwise(scales[:-1])]
    assert halved and all(ratio == pytest.approx(1) or ratio == pytest.approx(2) for ratio in halved)


@pytest.mark.parametrize("rows", [0, 50, 5_000])
def test_every_measurement_was_paid_for_and_every_charge_has_its_stage(rows: int) -> None:
    mechanism, table = us.AIM("2-way"), parity(rows)
    for epsilon in (0.05, 3.0):
        curator, fit = fitted(table, mechanism, epsilon)
        said = staged(curator.certificate(), mechanism.plan(table.domain), {})
        check_charged(said, fit.measurements, fit.field, fit.compression)
        assert [stage["stage"] for stage in spent_by_stage(said)] == ["one-way", "rounds"]
        assert recompute(json.loads(json.dumps(said))) <= epsilon


def test_the_model_stays_as_small_as_it_is_told_to() -> None:
    _, fit = fitted(parity(), us.AIM(cell_limit=20), epsilon=10.0)
    assert fit.field.tree.cells <= 20


def test_codes_are_merged_only_where_that_is_asked_for() -> None:
    codes = {"a": np.zeros(500, np.int64), "b": np.arange(500) % 2}
    table = Table(Domain({"a": 40, "b": 2}), codes)
    assert fitted(table, us.AIM())[1].field.domain["a"] == 40
    assert fitted(table, us.AIM(threshold=3.0))[1].field.domain["a"] < 20


def test_what_it_was_told_is_in_the_certificate_as_plain_values() -> None:
    said = describe(us.AIM({("a", "b"): 2}, target="c"))
    assert json.loads(json.dumps(said))["workload"] == {"listed": [[["a", "b"], 2.0]], "target": "c"}


@pytest.mark.parametrize(
    "settings", [{"cell_limit": 0}, {"cell_limit": True}, {"threshold": -1.0}, {"workload": 0}]
)
def test_numbers_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        us.AIM(**settings)  # type: ignore[arg-type]


def test_a_column_that_is_not_there_is_refused_before_anything_is_spent() -> None:
    curator = us.Curator(parity(10), us.Budget(1.0, 1e-9), source=Seeded(3))
    for mechanism in (us.AIM([("a", "height")]), us.AIM(target="height")):
        with pytest.raises(DomainError, match="height"):
            mechanism(curator, parity(10).domain, curator.budget)
    assert not curator.charges
