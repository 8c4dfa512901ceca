"""Every public name as a type checker sees it: read by mypy and pyright, never executed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, assert_type

import understudy as us


def from_a_table_to_a_release(people: object) -> None:
    drafted = us.draft_schema(people, name="people")
    assert_type(drafted, us.Schema)
    forecast = us.plan(drafted, epsilon=1.0, delta=1e-9, mechanism="mst", rows=1000)
    assert_type(forecast, us.Forecast)
    assert_type(forecast.fits, bool)
    release = us.fit(
        people, drafted, epsilon=1.0, delta=1e-9, mechanism=us.MST(), ledger=us.Ledger("ledger.db")
    )
    assert_type(release, us.Release)
    assert_type(release.rows, int)
    assert_type(release.schema, us.Schema)
    assert_type(release.field, us.Generator)
    assert_type(release.verify(), us.Verdict)
    assert_type(release.expected_error(), us.ExpectedErrors)
    assert_type(release.expected_error("sex", "age"), us.Estimate)
    assert_type(release.query("mean", "age", where="sex = 'F'"), us.Estimate)
    assert_type(release.query(by="sex"), us.QueryAnswers)
    assert_type(release.regress("age", on=["income", ("sex", "F")]), us.Regression)
    assert_type(release.marginal(["sex", "age"]), us.Marginal)
    assert_type(release.sample_chunks(10), Iterator[Any])
    release.report("report.html")
    release.save("people.release")
    assert_type(us.load("people.release", key=us.new_key("holder.key")), us.Release)
    warnings.simplefilter("error", us.MisfitWarning)
    us.synth(people, rows=10, epsilon=1.0, delta=1e-9, mechanism="independent")
    found = us.evaluate(people, release.sample(), drafted, targets=["sex"])
    assert_type(found, us.Comparison)
    found.report("confidential.html")
    assert_type(us.audit("mst", epsilon=1.0, delta=1e-9, runs=100), us.Audit)
    assert_type(us.import_schema({"fields": []}, "frictionless"), us.Schema)
    assert_type(us.export_schema(drafted, "csvw"), dict[str, Any])
    assert_type(us.export_release(release, "card"), dict[str, Any])
    assert_type(us.__version__, str)


def a_schema_in_python() -> us.Schema:
    columns: dict[str, us.Column] = {
        "sex": us.Category(("F", "M")),
        "age": us.Integer(0, 99),
        "income": us.Number(0.0, 1e6),
        "born": us.Date(),
        "seen": us.Datetime(),
        "rises": us.Time(),
        "member": us.Boolean(),
        "key": us.Id(pattern=r"PT-\d{6}"),
        "name": us.Fake("name"),
    }
    rules = [
        us.Order("born <= seen"),
        us.Derived("age = years(born, 2026-01-01)"),
        us.Determines("member", "sex", {True: "F"}),
        us.Implies("age < 15", "income is missing"),
        us.Never("sex = 'M' and age > 90"),
        us.MissingTogether(("born", "seen")),
    ]
    schema = us.Schema(columns, name="people", constraints=rules)
    assert_type(schema.domain(), us.Domain)
    return schema


def questions_to_a_curator(engine: us.Counter, table: us.Table) -> us.Field:
    assert_type(us.table({"sex": ["F"]}, a_schema_in_python()), us.Counter)
    curator = us.Curator(engine, us.Budget(1.0, 1e-9), neighbours=us.Neighbours())
    measured = curator.measure([("sex", "age")], budget=curator.budget)
    assert_type(measured, list[us.Measurement])
    assert_type(table.domain, us.Domain)
    field = us.estimate(curator.domain, measured)
    assert_type(field, us.Field)
    assert_type(field.marginal("sex"), us.Marginal)
    return field


@dataclass(frozen=True)
class Singles:
    """A mechanism of somebody's own."""

    @property
    def name(self) -> str:
        return "singles"

    def plan(self, domain: us.Domain) -> tuple[us.Group, ...]:
        return (us.Group("s", "measure", Fraction(1), weights=(1.0,) * len(domain), role=us.Role.ONE_WAY),)

    def cliques(self, domain: us.Domain) -> list[tuple[str, ...]]:
        return []

    def __call__(self, curator: us.Curator, domain: us.Domain, budget: Any) -> us.Fit:
        losses = us.allot(curator, self.plan(domain), budget)
        log = curator.measure([(name,) for name in domain], budget=losses["s"])
        return us.Fit(tuple(log), us.estimate(domain, log), us.Compression.none(domain))


def mechanisms(public: us.Counter) -> Sequence[us.Mechanism]:
    assert_type(us.Gaussian(1.0).sigma, float)
    assert_type(us.Choice(1.0).epsilon, float)
    assert_type(us.Laplace(1.0).epsilon, float)
    kind = us.MechanismKind(
        "singles", Singles, "alone", (us.Setting("level", "level", "integer", "how deep"),)
    )
    assert_type(kind.make(), us.Mechanism)
    return [
        us.Adaptive(),
        us.AIM(us.Workload.of("2-way"), target="age"),
        us.MST(),
        us.NIST_MST(public),
        us.Fixed([("sex", "age")]),
        us.Independent(),
        Singles(),
    ]


def what_is_refused() -> str:
    try:
        us.load("nothing")
    except us.UnderstudyError as error:
        return error.hint
    return ""
