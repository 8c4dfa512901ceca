"""Coefficients that a release states come with intervals that hold the least squares of the real records."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import understudy as us
from understudy.errors import ParameterError, SizeError
from understudy.marginals import Measurement
from understudy.mechanisms.empty_slots import unseen
from understudy.pipeline.accuracy.least_squares.perturbed_solution import solution_bounds
from understudy.pipeline.accuracy.least_squares.regression import INTERCEPT, UNTOLD, Regression, regress
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.privacy import Seeded
from understudy.transforms.compress import Compression

Codes = npt.NDArray[np.int64]
SCHEMA = us.Schema(
    {
        "sex": us.Category(("F", "M"), missing=False),
        "age": us.Integer(0, 9, missing=False),
        "town": us.Category(("Ely", "Wells", "Truro"), missing=False),
        "pay": us.Integer(0, 11, missing=False),
    },
    name="people",
)
NAMES = SCHEMA.domain().names
ON = ["age", "sex", "town"]


def people(rows: int = 20_000, seed: int = 0) -> Codes:
    """Records as codes, which are their values: pay depends on age, sex and town."""
    draw = np.random.default_rng(seed)
    age, sex, town = draw.integers(0, 10, rows), draw.integers(0, 2, rows), draw.integers(0, 3, rows)
    pay = np.clip(np.round(2 + 0.5 * age + sex - 0.7 * (town == 1) + draw.normal(0, 1.5, rows)), 0, 11)
    return np.column_stack([sex, age, town, pay]).astype(np.int64)


def least_squares(codes: Codes, terms: list[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
    matrix = np.column_stack([np.ones(len(codes)), *terms]).astype(np.float64)
    return np.asarray(np.linalg.lstsq(matrix, codes[:, 3].astype(np.float64), rcond=None)[0])


def indicators(codes: Codes, found: Regression) -> list[npt.NDArray[Any]]:
    """The terms of a regression, by their names."""
    columns: list[npt.NDArray[Any]] = []
    for name, _ in found.terms[1:]:
        column, _, value = name.partition(" = ")
        at = codes[:, NAMES.index(column)]
        columns.append(at == SCHEMA[column].labels().index(value) if value else at)
    return columns


@dataclass
class Asked:
    """A release by its parts: records that measurements and a check are of, and a model of other records."""

    records: Codes
    modelled: Codes
    measurements: tuple[Measurement, ...] = ()
    errors: StatedErrors | None = None
    schema: us.Schema = SCHEMA
    compression: Compression = field(default_factory=lambda: Compression.none(SCHEMA.domain()))

    @property
    def domain(self) -> us.Domain:
        return self.schema.domain()

    @property
    def field(self) -> Any:
        return SimpleNamespace(total=float(len(self.modelled)))

    def marginal(self, columns: Any) -> us.Marginal:
        clique = (columns,) if isinstance(columns, str) else tuple(columns)
        return us.Marginal(clique, counts(self.modelled, clique, self.domain))

    def measured(self, draw: np.random.Generator, noise: float, *cliques: tuple[str, ...]) -> Asked:
        log = []
        for clique in cliques:
            exact = counts(self.records, clique, self.domain)
            log.append(Measurement(clique, exact.ravel() + draw.normal(0, noise, exact.size), noise))
        return replace(self, measurements=(*self.measurements, *log))

    def checked(self, draw: np.random.Generator, noise: float, *pairs: tuple[str, str]) -> Asked:
        gaps = [counts(self.records, p, self.domain) - counts(self.modelled, p, self.domain) for p in pairs]
        answers = np.array([np.abs(gap).sum() for gap in gaps]) + draw.normal(0, noise, len(pairs))
        return replace(self, errors=StatedErrors(pairs, (), answers, np.full(len(pairs), noise)))


def counts(codes: Codes, clique: tuple[str, ...], domain: us.Domain) -> npt.NDArray[np.float64]:
    found = np.zeros([domain[name] for name in clique])
    np.add.at(found, tuple(codes[:, NAMES.index(name)] for name in clique), 1.0)
    return found


ALONE = [(name,) for name in NAMES]
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]


def holds(found: Regression, exact: npt.NDArray[np.float64]) -> bool:
    return all(e.low <= x <= e.high for (_, e), x in zip(found, exact.tolist(), strict=True))


def test_without_noise_coefficients_are_those_of_numpy() -> None:
    codes = people()
    release = Asked(codes, codes).measured(np.random.default_rng(0), 1e-7, *ALONE, *PAIRS)
    found = regress(release, "pay", ON, 0.95)
    exact = least_squares(codes, indicators(codes, found))
    assert [name for name, _ in found][:2] == [INTERCEPT, "age"] and set(found.against) == {"sex", "town"}
    assert [e.value for _, e in found] == pytest.approx(exact)
    assert [e.low for _, e in found] == pytest.approx(exact, abs=1e-6)
    assert [e.high for _, e in found] == pytest.approx(exact, abs=1e-6)
    one = regress(release, "pay", [("town", "Wells")], 0.95)
    assert one["town = Wells"].value == pytest.approx(least_squares(codes, [codes[:, 2] == 1])[1])


def test_intervals_hold_all_at_once_in_replays() -> None:
    codes, draw = people(), np.random.default_rng(1)
    noisy = Asked(codes, people(seed=5))
    found = [regress(noisy.measured(draw, 20.0, *ALONE, *PAIRS), "pay", ON, 0.9) for _ in range(300)]
    assert np.mean([holds(one, least_squares(codes, indicators(codes, one))) for one in found]) >= 0.9
    widths = [one["age"].high - one["age"].low for one in found]
    assert np.median(widths) < 0.5, "an interval that says nothing always holds"
    assert all(e.low <= e.value <= e.high for one in found for _, e in one)


def test_replays_give_away_intervals_that_are_too_narrow() -> None:
    """Where noise is far above what the release says, they fail: the test above is able to see it."""
    codes, draw = people(), np.random.default_rng(2)
    told = []
    for _ in range(100):
        release = Asked(codes, codes).measured(draw, 40.0, *ALONE, *PAIRS)
        stated = tuple(replace(m, stddev=np.asarray(m.stddev) / 8) for m in release.measurements)
        found = regress(replace(release, measurements=stated), "pay", ON, 0.9)
        told.append(holds(found, least_squares(codes, indicators(codes, found))))
    assert np.mean(told) < 0.9


def test_a_pair_that_was_not_measured_is_bounded_by_its_check() -> None:
    codes, draw = people(), np.random.default_rng(3)
    modelled = codes.copy()
    modelled[:150] = people(150, seed=9)  # a model that is off by a little
    held = []
    for _ in range(100):
        release = Asked(codes, modelled).measured(draw, 10.0, *ALONE).checked(draw, 20.0, ("age", "pay"))
        found = regress(release, "pay", "age", 0.9)
        assert "the check of pairs" in found.covers and "noisy counts" in found.covers
        held.append(holds(found, least_squares(codes, [codes[:, 1]])))
        assert found["age"].high - found["age"].low < 0.4
    alone = replace(release, measurements=())
    assert holds(
        regress(alone, "pay", "age", 0.01), least_squares(codes, [codes[:, 1]])
    )  # wide enough at any level
    assert np.mean(held) >= 0.9


def test_what_nothing_is_known_of_is_said() -> None:
    codes, draw = people(), np.random.default_rng(4)
    release = Asked(codes, codes).measured(draw, 10.0, *ALONE)
    found = regress(release, "pay", "age", 0.95)
    assert UNTOLD in found.covers and found["age"].low == -np.inf and found["age"].high == np.inf
    assert found.to_dict()["terms"][1]["low"] is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_terms_that_tell_the_same_are_told_apart_by_nothing() -> None:
    codes, draw = people(), np.random.default_rng(5)
    codes[:, 2] = codes[:, 0]  # whoever is F lives in Ely
    release = Asked(codes, codes).measured(draw, 5.0, *ALONE, *PAIRS)
    found = regress(release, "pay", [("sex", "F"), ("town", "Ely")], 0.95)
    assert all(np.isinf([e.low, e.high]).all() and np.isfinite(e.value) for _, e in found)
    assert np.isfinite(regress(release, "pay", [("sex", "F")], 0.95)["sex = F"].high)


@pytest.mark.parametrize("noise", [3.0, 1e-4])
def test_records_that_a_slot_hides_are_not_counted_and_may_be_there(noise: float) -> None:
    """Of a slot that was taken for empty: intervals are about complete records, and know that it may hold some.

    With hardly any noise of pairs, only what the slot may hold is left to make intervals wide enough.
    """
    codes, draw = people(3_000), np.random.default_rng(6)
    codes[:, 1] = draw.integers(
        0, 10, len(codes)
    )  # age says nothing of pay, so its sums' bounds hardly count
    schema = SCHEMA.replace_column("age", us.Integer(0, 9))  # code 10: missing
    codes[((codes[:, 3] > 7) & (codes[:, 0] == 1)).nonzero()[0][:40], 1] = 10
    shown, complete = codes.copy(), codes[codes[:, 1] < 10]
    shown[codes[:, 1] == 10, 1] = 0
    never, held = {"age": [10]}, []
    for _ in range(100):
        noisy = Asked(codes, complete, schema=schema).measured(draw, 3.0, *ALONE)
        hidden = unseen(schema.domain(), list(noisy.measurements), never)
        compression = Compression.none(schema.domain(), never, hidden)
        pairs = replace(noisy, records=shown, measurements=()).measured(draw, noise, *PAIRS)
        log = tuple(compression.measurement(m) for m in (*noisy.measurements, *pairs.measurements))
        release = replace(noisy, measurements=log, compression=compression)
        found = regress(release, "pay", ["age", ("sex", "M")], 0.9)
        held.append(holds(found, least_squares(complete, [complete[:, 1], complete[:, 0] == 1])))
    assert np.mean(held) >= 0.9 and "have a value in each of sex, age, pay" in found.covers


def test_where_in_its_bin_a_number_lies_counts_as_unknown(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    age = draw.integers(0, 20, 5000)
    pay = np.clip(20 + 2 * age + draw.normal(0, 8, 5000), 0, 99.99)
    schema = us.Schema({"age": us.Integer(0, 19), "pay": us.Number(0, 100, bins=50)}, name="people")
    release = us.fit(
        pd.DataFrame({"age": age, "pay": pay}),
        schema,
        epsilon=5.0,
        delta=1e-6,
        ledger=tmp_path / "l",
        source=Seeded(0),
    )
    found = release.regress("pay", on="age")
    exact = np.polyfit(age, pay, 1)
    assert found["age"].low <= exact[0] <= found["age"].high
    assert found[INTERCEPT].low <= exact[1] <= found[INTERCEPT].high
    assert found["age"].value == pytest.approx(exact[0], rel=0.1) and found["age"].low > 1
    html, text = found._repr_html_(), str(found)
    assert "age" in html and "all at once" in html and "pay, by least squares" in text and len(found) == 2


@pytest.mark.parametrize(
    ("column", "on", "says"),
    [
        ("sex", "age", "holds no numbers"),
        ("pay", "pay", "both sides"),
        ("pay", ["age", "age"], "twice"),
        ("pay", [], "no column"),
        ("pay", "wealth", "one of sex, age, town, pay"),
        ("pay", [("sex", "X")], "one of F, M"),
    ],
)
def test_what_cannot_be_asked_says_the_way_out(column: str, on: Any, says: str) -> None:
    codes = people(100)
    with pytest.raises(ParameterError, match=says):
        regress(Asked(codes, codes), column, on, 0.95)


def test_a_column_with_missing_numbers_or_too_many_values_is_refused() -> None:
    codes = people(100)
    schema = SCHEMA.replace_column("age", us.Integer(0, 9))
    gaps = Asked(codes, codes, schema=schema, compression=Compression.none(schema.domain()))
    with pytest.raises(ParameterError, match=r"'age' has records without a number.*leave it out"):
        regress(gaps, "pay", "age", 0.95)
    assert regress(gaps, "pay", [("age", "3")], 0.95)["age = 3"].level == 0.95
    schema = SCHEMA.replace_column("town", us.Category([f"t{i}" for i in range(60)], missing=False))
    many = Asked(codes, codes, schema=schema, compression=Compression.none(schema.domain()))
    with pytest.raises(SizeError, match=r"60 values.*name the values that matter"):
        regress(many, "pay", "town", 0.95)
    with pytest.raises(ParameterError, match=r"one of \(intercept\)"):
        regress(gaps, "pay", "sex", 0.95)["age"]


def test_no_system_within_reach_has_a_solution_outside_the_bounds() -> None:
    draw, told = np.random.default_rng(0), 0
    for _ in range(200):
        size = int(draw.integers(2, 5))
        middle = draw.normal(size=(size, size)) + 3 * np.eye(size)
        off, right = draw.random((size, size)) * draw.choice([0.01, 0.1, 0.3]), draw.normal(size=size)
        wide, wanted = draw.random(size) * 0.2, draw.normal(size=(2, size))
        low, high = solution_bounds(
            (middle - off, middle + off), (right - wide, right + wide), draw.normal(size=size), wanted
        )
        told += bool(np.isfinite(low).all())
        for _ in range(50):
            signs = draw.choice([-1.0, 1.0], (size, size + 1))
            found = wanted @ np.linalg.solve(middle + signs[:, 1:] * off, right + signs[:, 0] * wide)
            assert (low - 1e-9 <= found).all() and (found <= high + 1e-9).all()
    assert told > 50


def test_bounds_are_exact_where_the_right_side_alone_is_unsure_and_infinite_where_nothing_is_known() -> None:
    matrix, right, eye = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]), np.eye(2)
    wide = np.array([0.1, 0.2])
    low, high = solution_bounds((matrix, matrix), (right - wide, right + wide), np.zeros(2), eye)
    exact, inverse = np.linalg.solve(matrix, right), np.abs(np.linalg.inv(matrix))
    assert low == pytest.approx(exact - inverse @ wide) and high == pytest.approx(exact + inverse @ wide)
    for off in (np.ones((2, 2)) * 2, np.ones((2, 2)) * np.inf):
        low, high = solution_bounds((matrix - off, matrix + off), (right, right), exact, eye)
        assert (low == -np.inf).all() and (high == np.inf).all()
    low, _ = solution_bounds((np.ones((2, 2)), np.ones((2, 2))), (right, right), exact, eye)
    assert (low == -np.inf).all()
