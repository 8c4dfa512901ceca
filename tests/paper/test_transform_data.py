"""The paper's "Transform data", its reverse, and "Convert INCWAGE_B to DIGITS", as printed there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from understudy.domain import Domain, Integer, Schema
from understudy.errors import ParameterError, SchemaError
from understudy.transforms import Floor, Split, transform_from_dict

INCWAGE = Split("INCWAGE", ("INCWAGE_A", "INCWAGE_B"))
VALUEH = Floor("VALUEH")
MODULI = [100, 20, 50, 25, 10, 5, 2, 1]


def table(**columns: list[int | None]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def printed_a(wage: int) -> int:
    if wage <= 5000:
        return wage // 100
    return 50 if wage < 9999998 else 51


def printed_b(wage: int) -> int:
    return next(place for place, modulus in enumerate(MODULI) if wage % modulus == 0)


def printed_digits(k: int) -> set[int]:
    left = set(range(100))
    for i in range(k + 1):
        here = {digits for digits in left if digits % MODULI[i] == 0}
        left -= here
    return here


def test_incwage_is_split_as_printed() -> None:
    wages = [*range(5200), 123_456, 9_999_997, 9_999_998]
    there = INCWAGE.forward(table(SEX=[0] * len(wages), INCWAGE=wages))
    assert there.column_names == ["SEX", "INCWAGE_A", "INCWAGE_B"]
    assert there["INCWAGE_A"].to_pylist() == [printed_a(wage) for wage in wages]
    assert there["INCWAGE_B"].to_pylist() == [printed_b(wage) for wage in wages]


def test_the_digits_of_each_period_are_those_printed_and_equally_likely() -> None:
    assert [set(part.tolist()) for part in INCWAGE.digits] == [printed_digits(k) for k in range(8)]
    assert [len(part) for part in INCWAGE.digits] == [1, 4, 1, 2, 4, 8, 40, 40]
    back = INCWAGE.reverse(table(INCWAGE_A=[7] * 40_000, INCWAGE_B=[7] * 40_000), np.random.default_rng(0))
    drawn = np.bincount(back["INCWAGE"].to_numpy() - 700, minlength=100)
    assert set(np.flatnonzero(drawn)) == printed_digits(7)
    assert drawn[drawn > 0] == pytest.approx(1000, abs=200)


def test_a_wage_comes_back_with_its_hundred_and_its_period() -> None:
    wages = [*range(5001), 9_999_998, None]
    back = INCWAGE.reverse(INCWAGE.forward(table(INCWAGE=wages)), np.random.default_rng(1))[
        "INCWAGE"
    ].to_pylist()
    assert back[-2:] == [9_999_998, None]
    assert [wage // 100 for wage in back[:5001]] == [wage // 100 for wage in range(5001)]
    assert [printed_b(wage) for wage in back[:5001]] == [printed_b(wage) for wage in range(5001)]


def test_the_cap_is_exact_when_asked_for_as_in_the_contest() -> None:
    top = table(INCWAGE_A=[50] * 50, INCWAGE_B=[7] * 50)
    exact = Split("INCWAGE", ("INCWAGE_A", "INCWAGE_B"), exact_top=True)
    assert set(exact.reverse(top)["INCWAGE"].to_pylist()) == {5000}
    assert set(INCWAGE.reverse(top)["INCWAGE"].to_pylist()) <= {5000 + digits for digits in printed_digits(7)}


def test_valueh_is_divided_by_five_as_printed() -> None:
    values = [0, 4, 5, 24_999, 25_000, 25_001, 9_999_997, 9_999_998, 9_999_999, None]
    there = VALUEH.forward(table(VALUEH=values))
    assert there["VALUEH"].to_pylist() == [0, 0, 1, 4999, 5000, 5000, 5000, 5001, 5002, None]
    back = VALUEH.reverse(there)["VALUEH"].to_pylist()
    assert back == [0, 0, 5, 24_995, 25_000, 25_000, 25_000, 9_999_998, 9_999_999, None]


def test_the_derived_columns_have_the_sizes_of_the_papers_domain_table() -> None:
    wide = Integer(0, 9_999_999, missing=False)
    schema = Schema({"SEX": Integer(0, 1, missing=False), "INCWAGE": wide, "VALUEH": wide})
    derived = VALUEH.describe(INCWAGE.describe(schema))
    assert derived.domain() == Domain({"SEX": 2, "INCWAGE_A": 52, "INCWAGE_B": 8, "VALUEH": 5003})


def test_a_rule_survives_a_release_file() -> None:
    for rule in (INCWAGE, VALUEH, Split("a", ("b", "c"), divisor=10, cap=50, special=(), moduli=(10, 5, 1))):
        assert transform_from_dict(rule.to_dict()) == rule
    for damaged in ({}, {"kind": "eval"}, {"kind": "floor"}, {"kind": "floor", "column": "a", "x": 1}):
        with pytest.raises(ParameterError):
            transform_from_dict(damaged)


def test_misfits_and_texts_are_split_without_raising() -> None:
    texts = pa.table({"INCWAGE": ["120", "N", None, "-5", "1e400", "99999999999999999999", "9999998"]})
    there = INCWAGE.forward(texts)
    assert there["INCWAGE_A"].to_pylist() == [1, None, None, 0, 50, 50, 51]
    assert INCWAGE.reverse(there)["INCWAGE"].null_count == 2


def test_impossible_rules_are_refused_with_their_parameter() -> None:
    for rule in (
        lambda: Split("a", ("b", "b")),
        lambda: Split("a", ("b", "c"), moduli=(100, 20)),
        lambda: Split("a", ("b", "c"), moduli=(1, 2)),
        lambda: Split("a", ("b", "c"), special=(3,)),
        lambda: Floor("a", divisor=0),
        lambda: Floor("a", divisor=10, cap=5),
        lambda: Floor("a", special=(26_000, 26_000)),
        lambda: Floor("a", divisor=1, cap=10**8, special=()),
        lambda: Floor(""),
    ):
        with pytest.raises(ParameterError):
            rule()
    with pytest.raises(SchemaError, match="'INCWAGE' is not in the table"):
        INCWAGE.forward(table(WAGE=[1]))
    with pytest.raises(SchemaError, match="'INCWAGE_A' is in the table already"):
        INCWAGE.forward(table(INCWAGE=[1], INCWAGE_A=[1]))
