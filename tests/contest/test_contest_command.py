"""The contest's command on a toy: cells are played once, kept, and told truthfully."""

from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from understudy.domain import Integer, Schema
from understudy.evaluation import Roles
from understudy.marginals import Measurement
from understudy.privacy import Budget, Curator, Seeded
from understudy_contest import nist2018

arenas = pytest.importorskip("benchmarks.contest.arenas", reason="benchmarks/ is not beside the tests")
from benchmarks.contest import page, paper, targets, trees  # noqa: E402
from benchmarks.contest.__main__ import cells  # noqa: E402
from benchmarks.contest.cells import Cell, Outcome, Store, code_digest, play  # noqa: E402
from benchmarks.contest.ranking import ranking_svg  # noqa: E402
from benchmarks.contest.submitted import plain_mirror_descent  # noqa: E402
from benchmarks.contest.systems import DEFAULT, SUBMITTED, SYSTEMS, submitted  # noqa: E402

SIZES = {"SEX": 2, "CITY": 3, "WAGE": 6, "AGE": 5, "RACE": 4}


def toy() -> arenas.Arena:
    def read(part: str) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(len(part))
        wealth = rng.random(4000)
        noise = {name: rng.random(4000) for name in SIZES}
        return {n: ((wealth + noise[n]) / 2 * size).astype(np.int64) for n, size in SIZES.items()}

    columns = {n: Integer(min=0, max=size - 1, bins=size, missing=False) for n, size in SIZES.items()}
    schema = Schema(columns, name="toy")
    return arenas.Arena(
        name="toy",
        title="A toy",
        schema_of=lambda part: schema,
        transforms=(),
        triple=("SEX", "CITY", "WAGE"),
        also_forced=(),
        exempt=("CITY",),
        one_way_weights={"WAGE": 2.0},
        roles=Roles(wage="WAGE", wage_missing=6, male=0, female=1),
        largest={name: size - 1 for name, size in SIZES.items()},
        delta=1e-7,
        public="public",
        held_out=("one", "other"),
        read=read,
    )


@pytest.fixture(scope="module", name="arena")
def _arena() -> arenas.Arena:
    return toy()


def test_the_same_cell_played_twice_gives_the_same_errors(arena: arenas.Arena) -> None:
    cell = Cell("toy", "one", "MST", 1.0, 0)
    assert play(arena, cell).errors == play(arena, cell).errors
    assert play(arena, replace(cell, run=1)).errors != play(arena, cell).errors


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != SUBMITTED])
def test_every_system_plays_and_more_epsilon_helps_it(arena: arenas.Arena, system: str) -> None:
    errors = [play(arena, Cell("toy", "other", system, e, 0)).errors[3] for e in (0.3, 8.0)]
    assert 0 <= errors[1] < errors[0] + 0.05 <= 1.05


def test_what_was_finished_before_an_interruption_is_not_played_again(tmp_path: Path) -> None:
    store, cell = Store(tmp_path / "cells"), Cell("toy", "one", "MST", 0.3, 0)
    assert store.get(cell) is None
    outcome = Outcome(0.1, 0.2, 0.3, 1.0, 2.0, 3.0, (("SEX", "CITY"),))
    store.put(cell, outcome)
    assert store.of([cell, replace(cell, run=1)]) == {cell: outcome}
    assert outcome.errors[3] == pytest.approx(0.2)


def results(arena: arenas.Arena, overall: dict[str, float]) -> page.Results:
    outcomes = {
        Cell("toy", table, system, epsilon, 0): Outcome(
            value, value, value, 60.0, 1.0, 2.0, (("SEX", "AGE"),)
        )
        for table in arena.held_out
        for system, value in overall.items()
        for epsilon in paper.EPSILONS
    }
    private = {cell: outcome for cell, outcome in outcomes.items() if cell.system == "MST"}
    return page.Results(
        arena, outcomes, trees.tree_table(arena, private), "toy.svg", "rank.svg", tuple(SIZES)
    )


def test_the_page_says_when_a_target_is_missed_and_when_a_rival_was_not_run(arena: arenas.Arena) -> None:
    good = results(arena, {"NIST-MST": 0.1, "MST": 0.105, "DPSyn": 0.2, "PrivBayes": 0.3, "Gardn999": 0.4})
    assert targets.section(good).count("- met: the paper's order") == 3
    some = results(arena, {"NIST-MST": 0.1, "MST": 0.105, "PrivBayes": 0.3})
    assert targets.section(some).count("- open: the paper's order") == 3
    bad = results(arena, {"NIST-MST": 0.1, "MST": 0.2, "DPSyn": 0.15, "PrivBayes": 0.3})
    said = targets.section(bad)
    assert said.count("**not met**: the paper's order") == 3
    assert "**not met**: NIST-MST and MST within 0.01" in said
    assert "| 0.3 | UCLANESL | not run |" in page.page([good])


def test_the_defaults_rows_go_into_an_older_page_and_leave_its_checks(arena: arenas.Arena) -> None:
    older = page.page([results(arena, {"NIST-MST": 0.1, "MST": 0.105})])
    assert DEFAULT not in older.partition("Errors run from 0")[2]
    added = page.with_default(older, [results(arena, {DEFAULT: 0.05})])
    assert f"| 1 | {DEFAULT} | 0.050 | 0.050 | 0.050 | 0.050 |" in added
    kept = [line for line in added.splitlines() if f"| {DEFAULT} |" not in line]
    assert kept == older.splitlines()
    assert page.with_default(added, [results(arena, {DEFAULT: 0.05})]) == added
    whole = page.page([results(arena, {"NIST-MST": 0.1, "MST": 0.105, DEFAULT: 0.05})])
    assert [line for line in whole.splitlines() if f"| {DEFAULT} |" in line] == [
        line for line in added.splitlines() if f"| {DEFAULT} |" in line
    ]


def test_means_errors_of_means_and_gains_are_those_of_all_runs(arena: arenas.Arena) -> None:
    found = results(arena, {"NIST-MST": 0.1, "MST": 0.2, SUBMITTED: 0.3})
    again = {
        replace(cell, run=1): replace(outcome, triples=outcome.triples + 0.3, fit_s=30.0)
        for cell, outcome in found.outcomes.items()
        if cell.system == "NIST-MST"
    }
    both = replace(found, outcomes={**found.outcomes, **again})
    assert both.overall("NIST-MST", 1.0) == pytest.approx(0.15)
    assert both.shown("NIST-MST", 1.0) == ["0.250", "0.100", "0.100", "0.150", "0.050"]
    assert both.shown("MST", 1.0)[-1] == ""  # one run tells nothing of its spread
    assert both.seconds(("NIST-MST",)) == pytest.approx(6 * (45 + 1 + 2))
    said = page.page([both])
    assert (
        "| toy | 1 | 0.300 to 0.250 | 0.300 to 0.100 | 0.300 to 0.100 | 0.300 to 0.150 | 60 to 45 |" in said
    )
    assert "played 2 time(s), but DPSyn, PrivBayes, Gardn999, UCLANESL not;" in said


def test_no_cell_is_played_twice_and_as_often_as_asked(arena: arenas.Arena) -> None:
    every = cells(arena, ["MST", SUBMITTED], 4)
    assert len(set(every)) == len(every) == 6 * (4 + 4)
    usual = cells(arena, ["MST", SUBMITTED], None)
    assert {run for *_, run in map(astuple, usual)} == set(range(10))
    assert len([cell for cell in usual if cell.system == SUBMITTED]) == 6


def test_a_cell_of_other_code_is_not_taken_for_one_of_this(monkeypatch, tmp_path: Path) -> None:
    before = code_digest()
    (tmp_path / "new.py").write_text("x = 1\n")
    monkeypatch.setattr("benchmarks.contest.cells.PACKAGE", tmp_path)
    assert code_digest() != before


def test_the_ranking_shows_a_dot_for_what_was_played_and_a_ring_for_the_paper() -> None:
    drawn = ranking_svg(lambda system, epsilon: 0.2 if system == "MST" else None)
    assert drawn.count('fill="#0b6e99"') == 3 + 1  # and the legend's
    assert drawn.count('stroke-width="2"') == 18 + 1


def test_a_tree_is_worth_no_more_than_the_best_and_no_less_than_chance(arena: arenas.Arena) -> None:
    found = trees.tree_table(arena, {})
    for table in arena.held_out:
        assert found["random"][table] < found["public"][table] <= found["best"][table] + 1e-12


def test_the_picture_shows_tree_and_forced_edges_in_different_strokes(arena: arenas.Arena) -> None:
    drawn = trees.picture(arena)
    assert drawn.startswith("<svg")
    assert "spanning tree" in drawn
    assert "forced" in drawn


def test_plain_mirror_descent_nears_the_converged_estimate_and_does_not_reach_it_at_once(
    arena: arenas.Arena,
) -> None:
    table = arena.coded("one")
    pair = table.count([("AGE", "RACE")])[0]
    ones = [Measurement(m.clique, m.counts, 1.0) for m in table.count([(name,) for name in SIZES])]
    log = [*ones, Measurement(pair.clique, pair.counts, 1.0)]
    far, near = (
        np.abs(
            plain_mirror_descent(table.domain, log, ones, steps).marginal(pair.clique).counts - pair.counts
        )
        for steps in (2, 200)
    )
    assert near.sum() < 0.2 * far.sum()
    assert far.sum() > 1.0


def test_the_entry_as_submitted_spends_within_the_budget_it_claims(arena: arenas.Arena) -> None:
    mechanism = submitted(arena, 1.0)
    budget = Budget(1.0, nist2018.DELTA)
    curator = Curator(arena.coded("one"), budget, source=Seeded(3))
    fit = replace(mechanism, steps=5)(curator, curator.domain, budget)
    assert set(fit.field.domain) == set(SIZES)
    assert 0.7 < curator.spent.epsilon(budget.delta) <= 1.0
