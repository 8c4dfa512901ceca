"""What a group is for is said by its role; what it is called is the mechanism's own affair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import understudy as us
from understudy.domain import Category, Domain, Integer, Schema
from understudy.errors import BudgetError
from understudy.mechanisms.mechanism import allot
from understudy.pipeline.forecast import forecast
from understudy.privacy import Budget, Group, Role, Seeded

BUDGET = Budget(1.0, 1e-9)
THIRD = Fraction(1, 3)
INNER = us.MST()


@dataclass(frozen=True)
class Renamed:
    """MST whose groups have other names: no word of them is known to the pipeline."""

    names: tuple[tuple[str, str], ...] = (("one-way", "singles"), ("select", "bins"), ("two-way", "types"))
    threshold = 3.0

    @property
    def name(self) -> str:
        return "renamed"

    def plan(self, domain: Domain) -> tuple[Group, ...]:
        said = dict(self.names)
        return tuple(replace(group, name=said[group.name]) for group in INNER.plan(domain))

    def cliques(self, domain: Domain) -> list[tuple[str, ...]]:
        return INNER.cliques(domain)

    def __call__(self, curator: Any, domain: Domain, budget: Any) -> us.Fit:
        losses = allot(curator, self.plan(domain), budget)
        return INNER(curator, domain, {old: losses[new] for old, new in self.names})


def described(columns: int = 4) -> Schema:
    return Schema({f"c{i}": Category(tuple(range(10))) for i in range(columns)}, name="table")


def test_a_plan_lists_each_marginal_once_whatever_its_group_is_called() -> None:
    cliques = [m.clique for m in forecast(described(), Renamed(), BUDGET, rows=1000).marginals]
    assert len(set(cliques)) == len(cliques) == 4 + 3


@pytest.mark.parametrize("columns", [1, 4])
def test_a_forecast_is_the_same_whatever_groups_are_called(columns: int) -> None:
    schema = described(columns)
    names = (("one-way", "singles"),) if columns == 1 else Renamed().names
    ours, theirs = (forecast(schema, m, BUDGET, rows=500).to_dict() for m in (us.MST(), Renamed(names)))
    for said in (ours, theirs):
        for group in said["groups"]:
            del group["name"]
    assert ours == theirs


def test_stages_and_progress_follow_roles_where_a_group_has_the_name_of_a_step_of_learning(
    tmp_path: Path,
) -> None:
    schema = Schema({"a": Integer(min=0, max=5), "b": Category(("x", "y"))}, name="table")
    rng = np.random.default_rng(0)
    data = {"a": rng.integers(0, 6, 500), "b": rng.choice(["x", "y"], 500)}
    said: list[str] = []
    release = us.fit(
        data,
        schema,
        epsilon=1.0,
        delta=1e-9,
        mechanism=Renamed(),
        ledger=tmp_path / "ledger.db",
        source=Seeded(0),
        stage=said.append,
    )
    assert [charge["stage"] for charge in release.certificate["charges"]] == [
        "singles",
        "bins",
        "types",
        "check",
    ]
    assert "measuring 2 one-way marginals" in said and "choosing pair 1 of 1" in said
    assert not any(line.startswith("learning") for line in said)


def test_a_role_left_out_follows_from_the_kind() -> None:
    kinds = {kind: Group("g", kind, THIRD).role for kind in ("measure", "choose", "laplace")}
    assert kinds == {"measure": Role.MARGINALS, "choose": Role.CANDIDATES, "laplace": Role.HISTOGRAMS}


@pytest.mark.parametrize(
    ("kind", "role"),
    [("measure", Role.PAIRS), ("laplace", Role.NETWORK), ("choose", Role.ONE_WAY), ("measure", "one-way")],
)
def test_a_role_that_no_such_question_has_is_refused(kind: str, role: Any) -> None:
    with pytest.raises(BudgetError, match="role"):
        Group("g", kind, THIRD, role=role)


def test_a_role_changes_no_noise() -> None:
    plain, one_way = (Group("g", "measure", THIRD, weights=(1.0, 2.0), role=r) for r in (None, Role.ONE_WAY))
    assert plain.loss(0.1) == one_way.loss(0.1)
