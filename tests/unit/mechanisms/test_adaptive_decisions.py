"""What the default will do is said beforehand, what it did and why afterwards; choices cost what they are worth."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import understudy as us
from understudy.domain import Domain
from understudy.mechanisms.adaptive.choice_stages import choice_stages
from understudy.mechanisms.adaptive.one_way_share import _alike, _expected
from understudy.mechanisms.registry import DEFAULT
from understudy.mechanisms.tables.noise_price import noise_price
from understudy.privacy import Seeded


def described(rows: int | None = None) -> us.Schema:
    columns = {name: us.Integer(0, 1, missing=False) for name in "abcdef"}
    return us.Schema(columns, name="leaning", rows=rows)


def leaning(rows: int) -> dict[str, list[int]]:
    """Columns that all lean on one mood."""
    rng = np.random.default_rng(2)
    mood = rng.random(rows)
    return {name: (rng.random(rows) < mood).astype(int).tolist() for name in "abcdef"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    ledger = tmp_path_factory.mktemp("decided") / "ledger"
    return us.fit(
        leaning(6000), described(), epsilon=1.0, delta=1e-9, ledger=ledger, source=Seeded(1), check=True
    )


def test_the_default_adapts_and_says_what_it_did_and_why(released: us.Release) -> None:
    assert DEFAULT == released.mechanism == "adaptive"
    said = " ".join(released.certificate["decisions"])
    assert "noise would hide about" in said and "pairs" in said


def test_every_question_of_a_run_in_rounds_belongs_to_a_stage_of_its_plan(released: us.Release) -> None:
    planned = {group.name for group in us.plan(described(), epsilon=1.0, delta=1e-9).groups}
    stages = {stage["stage"]: stage for stage in released.spent}
    assert set(stages) <= planned
    assert {"look", "measure", "tree", "check"} <= set(stages)
    assert sum(stage["share"] for stage in stages.values()) == pytest.approx(1.0, abs=1e-3)


def test_a_report_tells_what_was_decided(released: us.Release, tmp_path: Path) -> None:
    released.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "noise would hide about" in page


def test_nothing_is_spent_on_choices_where_so_few_rows_are_declared(tmp_path: Path) -> None:
    few = us.plan(described(30), epsilon=0.3, delta=1e-9)
    assert not {"tree", "rounds", "late rounds"} & {group.name for group in few.groups}
    assert "columns alone" in few.intentions[0]
    released = us.fit(
        leaning(30), described(30), epsilon=0.3, delta=1e-9, ledger=tmp_path / "ledger", source=Seeded(1)
    )
    assert "choose" not in {charge["question"] for charge in released.certificate["charges"]}
    assert released.verify().holds
    assert "columns alone" in released.certificate["decisions"][-1]


def test_a_plan_says_what_will_likely_be_done() -> None:
    said = us.plan(described(20_000), epsilon=1.0, delta=1e-9).intentions
    assert "all 15 pairs at once" in said[0] and "20,000 records" in said[-1]
    said = us.plan(described(900), epsilon=0.3, delta=1e-9).intentions
    assert "up to 5 pairs" in said[0] and "900 records" in said[-1]
    assert (
        len(us.plan(described(), epsilon=1.0, delta=1e-9).intentions) == 2
    )  # nothing is known of the records


def alike(columns: int, codes: int = 5) -> Domain:
    """So many columns of so many codes each."""
    return Domain({f"c{i}": codes for i in range(columns)})


def test_wide_tables_have_a_tree_and_two_rounds_and_narrow_ones_late_rounds_too() -> None:
    assert [len(stage.counts) for stage in choice_stages(alike(14), 10, 10**6)] == [1, 2, 7]
    assert [len(stage.counts) for stage in choice_stages(alike(98), 10, 10**6)] == [1, 2]
    assert [len(stage.counts) for stage in choice_stages(alike(14), 1, 10**6)] == [1]
    assert choice_stages(alike(14), 0, 10**6) == ()


@pytest.mark.parametrize("codes", [1, 2, 3, 50])
@pytest.mark.parametrize("columns", [2, 9, 35, 98, 500])
def test_choices_take_a_seventh_of_the_budget_at_most_and_the_first_cost_most(
    columns: int, codes: int
) -> None:
    stages = choice_stages(alike(columns, codes), 10, 10**6)
    assert sum(stage.share for stage in stages) <= Fraction(1, 10 if codes > 3 else 7)
    each = [stage.share / sum(stage.counts) for stage in stages]
    assert each == sorted(each, reverse=True)


def test_codes_that_hold_alike_are_reckoned_together_without_a_loss() -> None:
    rng = np.random.default_rng(0)
    one, other = (5e4 * rng.dirichlet(np.full(size, 0.3)) for size in (40, 25))
    cells = np.multiply.outer(one, other).reshape(-1) / 5e4
    held, times = _expected(_alike(one), _alike(other), 5e4)
    assert times.sum() == cells.size and (held * times).sum() == pytest.approx(cells.sum())
    for scale in (1.0, 30.0, 1000.0):
        assert noise_price(held, scale, times) == pytest.approx(noise_price(cells, scale), rel=0.03)
