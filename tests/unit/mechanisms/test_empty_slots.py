"""A slot that noise alone fills never appears in synthetic records; one that records fill does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import understudy as us
from understudy.domain import CodeLayout, Domain
from understudy.marginals import Measurement
from understudy.mechanisms.empty_slots import empty_slots
from understudy.privacy import Seeded

ROWS = 600
RNG = np.random.default_rng(3)
TABLE = {
    "sex": RNG.choice(["F", "M"], ROWS).tolist(),
    "age": RNG.integers(0, 20, ROWS).tolist(),
    "paid": [None if draw < 0.4 else draw for draw in RNG.random(ROWS).tolist()],
    "city": RNG.choice(["a", "b", "c"], ROWS).tolist(),
}
SCHEMA = us.Schema(
    {
        "sex": us.Category(("F", "M")),
        "age": us.Integer(0, 19, outside="other"),
        "paid": us.Number(0, 1, bins=5),
        "city": us.Category(("a", "b", "c"), outside="other", missing=False),
    },
    name="people",
)


def mechanisms() -> list[us.Mechanism]:
    from understudy_contest import PrivBayes, PrivSyn

    fixed = us.Fixed([("sex", "paid"), ("sex", "age")])
    bins = {("sex", "age"): {"age": [code // 5 for code in range(22)]}}
    public = us.NIST_MST(us.table(TABLE, SCHEMA), forced=[("sex", "age")], bins=bins)
    exempt = us.MST(exempt=["sex", "age", "paid", "city"])
    return [us.MST(), us.Independent(), fixed, public, exempt, PrivBayes(), PrivSyn()]


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda mechanism: mechanism.name)
def test_only_slots_that_records_fill_appear(mechanism: us.Mechanism, tmp_path: Path) -> None:
    for seed in (1, 2):  # one table in a hundred shows a slot that noise alone filled: that of 0 does
        release = us.fit(
            TABLE,
            SCHEMA,
            epsilon=2,
            delta=1e-6,
            mechanism=mechanism,
            ledger=tmp_path / "ledger",
            source=Seeded(seed),
        )
        assert release.verify().holds
        release.save(tmp_path / "r")
        drawn = us.load(tmp_path / "r").sample(2_000, seed=seed)
        assert {name: drawn[name].null_count > 0 for name in drawn.column_names} == {
            "sex": False,
            "age": False,
            "paid": True,
            "city": False,
        }
        assert set(drawn["city"].to_pylist()) <= {"a", "b", "c"}
        assert not release.marginal("age").counts[20:].any()
        assert drawn["paid"].null_count / 2_000 == pytest.approx(0.4, abs=0.15)


def test_a_slot_is_judged_by_every_measurement_that_has_its_column() -> None:
    domain = Domain({"a": 3, "b": 2}, {"a": CodeLayout(slots=1)})
    alone = Measurement("a", [100, 50, 28], 10.0)  # 2.8 standard deviations
    assert empty_slots(domain, [alone]) == {"a": [2]}
    paired = Measurement(("b", "a"), [[50, 25, 14], [50, 25, 14]], 10.0)
    assert empty_slots(domain, [alone, paired]) == {}
    assert empty_slots(domain, [Measurement("b", [1, 2], 1.0)]) == {}  # of which nothing was measured


def test_noise_lets_an_empty_slot_appear_in_one_table_of_a_hundred_at_most() -> None:
    domain = Domain(dict.fromkeys(map(str, range(40)), 3), {str(i): CodeLayout(slots=2) for i in range(40)})
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        log = [Measurement(name, rng.normal([1e4, 0, 0], 5), 5.0) for name in domain]
        wrong += sum(map(len, empty_slots(domain, log).values())) < 80
    assert wrong <= 6
