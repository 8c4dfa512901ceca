"""A release states its own errors, and the intervals hold."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import understudy as us
from understudy.cli import understudy as cli
from understudy.errors import ParameterError, ReleaseError, SizeError
from understudy.mechanisms import Fit
from understudy.pipeline.accuracy import error_check
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.pipeline.run_plan import plan_of
from understudy.privacy import Seeded
from understudy.privacy.curator import noisy_distances

SCHEMA = us.Schema(
    {
        "sex": us.Category(("F", "M")),
        "age": us.Integer(0, 29),
        "town": us.Category(("Ely", "Wells", "Truro", "Ripon")),
        "old": us.Boolean(),
    },
    name="people",
)
BUDGET: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}


def people(rows: int = 1500) -> dict[str, Any]:
    draw = np.random.default_rng(0)
    age = np.minimum(draw.geometric(0.1, rows), 29)
    town = np.where(age > 9, "Ely", draw.choice(["Wells", "Truro", "Ripon"], rows))
    return {"sex": draw.choice(["F", "M"], rows), "age": age, "town": town, "old": age > 9}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> us.Release:
    ledger = tmp_path_factory.mktemp("errors") / "ledger.db"
    return us.fit(people(), SCHEMA, **BUDGET, mechanism="independent", ledger=ledger)


def replays(release: us.Release, runs: int) -> Any:
    """How often intervals hold the truth, of pairs and of means, in so many replays of the check on one release."""
    records = us.table(people(), SCHEMA)
    found = Fit(release.measurements, release.field, release.compression)
    plan = [us.Group("rest", "measure", 1 - error_check.SHARE), *error_check.groups(records.domain)]
    pairs, triples = error_check.checked(records.domain)
    true = {
        clique: float(np.abs(counted.counts - release.marginal(clique).counts).sum())
        / (2 * release.field.total)
        for clique, counted in zip([*pairs, *triples], records.count([*pairs, *triples]), strict=True)
    }
    held, means = [], []
    for seed in range(runs):
        curator = us.Curator(records, us.Budget(2.0, 1e-6), source=Seeded(seed))
        errors = error_check.ask(curator, found, curator.commit(plan))
        assert errors is not None
        told = replace(release, errors=errors)
        for pair in pairs:
            stated = told.expected_error(*pair)
            held.append(stated.low <= true[pair] <= stated.high)
        both = told.expected_error()
        for mean, cliques in ((both.pairs, pairs), (both.triples, triples)):
            means.append(mean.low <= np.mean([true[clique] for clique in cliques]) <= mean.high)
    return np.mean(held), np.mean(means)


def test_intervals_hold_the_truth_as_often_as_they_say(made: us.Release) -> None:
    held, means = replays(made, 150)
    assert 0.925 <= held <= 0.975
    assert 0.91 <= means <= 0.99


def test_a_mutant_with_half_the_noise_is_caught(made: us.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = noisy_distances.discrete_gaussian
    monkeypatch.setattr(noisy_distances, "discrete_gaussian", lambda s, n, source: draw(s / 2, n, source))
    held, _ = replays(made, 40)
    assert held > 0.975, "intervals for twice the noise hold too often"


def test_a_mutant_that_states_half_the_noise_is_caught(
    made: us.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = noisy_distances.DistancesQuestion.unpack

    def half(self: Any, answer: bytes, price: Any) -> Any:
        found = unpack(self, answer, price)
        return replace(found, stddev=found.stddev / 2)

    monkeypatch.setattr(noisy_distances.DistancesQuestion, "unpack", half)
    held, _ = replays(made, 40)
    assert held < 0.9


def test_dependence_that_a_model_leaves_out_is_told(made: us.Release) -> None:
    assert made.expected_error("age", "old").value > 0.1 > made.expected_error("sex", "old").value
    stated = made.expected_error()
    assert 0 < stated.pairs.low < stated.pairs.value < stated.pairs.high < stated.triples.value
    assert str(stated).startswith("pairs are off by ") and "95% interval" in str(stated)
    assert "share of records" in stated._repr_html_() and "Checked: pairs are off" in made._repr_html_()
    wide, narrow = (made.expected_error("age", "old", level=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_a_release_keeps_its_errors_in_its_file_and_verifies_them(made: us.Release, tmp_path: Path) -> None:
    made.save(tmp_path / "r")
    loaded = us.load(tmp_path / "r")
    assert loaded.expected_error() == made.expected_error() and loaded.verify().holds
    assert loaded.spent[-1] == {"stage": "check", "questions": 1, "share": 0.03, "epsilon": 0.06}
    errors = made.errors
    assert errors is not None
    for forged in (
        replace(errors, stddev=errors.stddev / 2),
        replace(errors, stddev=errors.stddev * 2),
        replace(errors, pairs=errors.pairs[::-1]),
        replace(errors, triples=()),
    ):
        verdict = replace(made, errors=forged).verify()
        assert not verdict.holds and "errors that no charge pays for" in verdict.why


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": []},
        {"pairs": [["sex", "sex"]]},
        {"triples": [["sex"]]},
        {"distances": [1]},
        {"distances": ["x"] * 7},
        {"scales": [0.0] * 7},
        {"scales": [float("nan")] * 7},
        {"pairs": None},
    ],
)
def test_errors_that_cannot_be_read_are_refused(made: us.Release, change: dict[str, Any]) -> None:
    assert made.errors is not None
    with pytest.raises((ReleaseError, ValueError, TypeError)):
        StatedErrors.from_dict(made.errors.to_dict() | change)


def test_a_release_without_errors_says_so(tmp_path: Path) -> None:
    one = us.fit(
        {"sex": ["F", "M"] * 50}, us.Schema({"sex": SCHEMA.columns["sex"]}), **BUDGET, ledger=tmp_path / "l"
    )
    off = us.fit(people(200), SCHEMA, **BUDGET, check=False, ledger=tmp_path / "l")
    for release in (one, off):
        assert release.errors is None and "check" not in [stage["stage"] for stage in release.spent]
        with pytest.raises(ReleaseError, match="does not state its errors"):
            release.expected_error()
    assert [group.name for group in plan_of(SCHEMA, us.MST(), check=False)] == [
        "one-way",
        "select",
        "two-way",
    ]
    assert "check" not in [g.name for g in us.plan(SCHEMA, **BUDGET, check=False).groups]


def test_what_was_not_asked_about_is_not_told(made: us.Release) -> None:
    assert made.errors is not None
    fewer = replace(made, errors=replace(made.errors, pairs=made.errors.pairs[:1]))
    with pytest.raises(ParameterError, match="1 pairs of columns were"):
        fewer.expected_error("town", "old")
    for columns in (("sex",), ("sex", "age", "town")):
        with pytest.raises(ParameterError, match="two columns"):
            made.expected_error(*columns)
    for level in (0, 1, 2.0, True, "x"):
        with pytest.raises(ParameterError, match="level"):
            made.expected_error(level=level)  # type: ignore[arg-type]


def test_which_pairs_are_checked_follows_from_sizes_alone() -> None:
    assert error_check.checked(us.Domain({"a": 5})) == ((), ())
    few = us.Domain({name: 3 for name in "abcd"})
    assert error_check.checked(few) == tuple(tuple(itertools.combinations("abcd", k)) for k in (2, 3))
    wide = us.Domain({f"c{i}": 2 + i % 40 for i in range(300)})
    pairs, triples = error_check.checked(wide)
    assert (
        len(set(pairs)) == 500 and len(set(triples)) == 200 and (pairs, triples) == error_check.checked(wide)
    )
    large = us.Domain({"a": 5000, "b": 5000, "c": 4})
    assert error_check.checked(large) == ((("a", "c"), ("b", "c")), ())
    assert not error_check.groups(us.Domain({"a": 5000, "b": 5000}))


def test_a_marginal_that_the_model_cannot_hold_is_counted_in_records_drawn_from_it(made: us.Release) -> None:
    class Large:
        domain, total, sample = made.field.domain, made.field.total, made.field.sample

        def marginal(self, clique: Any) -> Any:
            raise SizeError("too large.")

    found = Fit(made.measurements, Large(), made.compression)  # type: ignore[arg-type]
    drawn = error_check.FitEstimates(found, SCHEMA.domain())(("age", "old"))
    assert np.abs(drawn - made.marginal(("age", "old")).counts).sum() < 0.02 * made.field.total


def test_every_engine_gives_the_same_answer(tmp_path: Path) -> None:
    table, file = pa.table(people(400)), tmp_path / "people.parquet"
    pq.write_table(table, file)
    told = []
    for data in (table, f"parquet:{file}", f"duckdb:?query=SELECT * FROM read_parquet('{file}')"):
        ledger = tmp_path / f"ledger{len(told)}"
        release = us.fit(data, SCHEMA, **BUDGET, mechanism="independent", source=Seeded(5), ledger=ledger)
        assert release.errors is not None
        told.append(release.errors.to_dict())
    assert told[0] == told[1] == told[2]


def test_the_command_line_says_it_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(people(400)), "people.parquet")
    Path("people.toml").write_text(SCHEMA.to_toml())

    def run(*words: str) -> str:
        result = CliRunner().invoke(cli, [*words], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return (
            result.stdout if "--json" in words else result.output
        )  # where it is slow, stages are told beside it

    fit = (
        "fit",
        "people.parquet",
        "--schema",
        "people.toml",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--ledger",
        "l",
    )
    said = run(*fit, "-o", "r")
    assert "pairs are off by " in said and "triples by " in said
    assert "how far off 10 sets of columns are" in run("ledger", "people", "--ledger", "l")
    assert "pairs are off by " in run("report", "r", "-o", "r.html")
    page = Path("r.html").read_text()
    assert "Pairs that are likely off most" in page and "age and old" in page
    assert "holds" in run("verify", "r")
    off = json.loads(run(*fit, "--no-check", "-o", "off", "--json"))
    assert off["expected_errors"] is None and "check" not in [stage["stage"] for stage in off["spent"]]
    run("report", "off", "-o", "off.html")
    assert "Pairs that are likely off most" not in Path("off.html").read_text()
    plan = ("plan", "people.toml", "--epsilon", "1", "--delta", "1e-6", "--json")
    assert len(json.loads(run(*plan))["groups"]) == len(json.loads(run(*plan, "--no-check"))["groups"]) + 1


def test_a_mechanism_that_asks_for_distances_itself_is_told_from_the_check(tmp_path: Path) -> None:
    public, said = us.table(people(600), SCHEMA), list[str]()
    release = us.fit(
        people(600),
        SCHEMA,
        **BUDGET,
        mechanism=us.Adaptive(public=public),
        ledger=tmp_path / "l",
        stage=said.append,
    )
    shares = {stage["stage"]: stage for stage in release.spent}
    assert shares["check"]["questions"] == 1 and shares["check"]["share"] == pytest.approx(0.03, abs=0.005)
    assert shares["distance"]["questions"] == 2 and release.verify().holds
    assert said[-1] == "asking how far off 10 sets of columns would be"
