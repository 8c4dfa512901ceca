"""Write what this version writes, to be kept: releases of every mechanism and with many rules, and their ledger.

    python tests/data/write_version.py           writes tests/data/version-1.0.0rc1, say
    python tests/data/write_version.py beside    writes tests/data/version-1.0.0rc1-beside: with pairs beside a model
    python tests/data/write_version.py promised  writes tests/data/version-1.0.0rc1-promised: with small weights

Run it once, when a version is made that writes a new form; later versions must open what it wrote
(`tests/unit/pipeline/test_earlier_versions.py`), and damaged releases and ledgers are made of it (`tests/fuzz`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import understudy as us
from understudy.privacy.noise.randomness import Seeded
from understudy_contest import FieldGroups, PrivBayes, PrivSyn

SCHEMA = """
[table]
name = "people"
[columns.sex]
type = "category"
values = ["F", "M"]
[columns.age]
type = "integer"
min = 0
max = 99
bins = 10
[columns.income]
type = "number"
min = 0
max = 10000
bins = 8
[columns.city]
type = "category"
discover = true
"""
RULED = """
[table]
name = "people-ruled"
unit = "who"
max_records_per_unit = 2
[columns.who]
type = "id"
pattern = 'PT-\\d{6}'
[columns.came]
type = "date"
min = 2020-01-01
max = 2024-12-31
every = "month"
[columns.left]
type = "date"
min = 2020-01-01
max = 2024-12-31
every = "month"
[columns.city]
type = "category"
values = ["Boston", "Salem", "Keene"]
[columns.income]
type = "number"
format = "1.234,50 €"
[columns.paid]
type = "boolean"
format = ["Y", "N"]
missing = true
[columns.tax]
type = "number"
[[constraints]]
order = "came <= left"
most = "90 days"
[[constraints]]
derive = "tax = 0.2 * income + 5"
[[constraints]]
if = "city = 'Keene'"
then = "paid = false"
count = true
"""


def people() -> pa.Table:
    """Two hundred people that nobody is."""
    rng = np.random.default_rng(1)
    base = rng.integers(0, 5, 200)
    came = np.datetime64("2020-01-01") + rng.integers(0, 1500, 200)
    return pa.table(
        {
            "sex": ["FM"[i % 2] for i in base],
            "age": base * 20 + rng.integers(0, 20, 200),
            "income": np.round(base * 1500 + rng.normal(800, 100, 200), 2),
            "city": [("Boston", "Salem", "Keene")[i % 3] for i in base],
            "who": [f"p{i // 2}" for i in range(200)],
            "came": came.astype("datetime64[D]"),
            "left": (came + rng.integers(0, 60, 200)).astype("datetime64[D]"),
            "paid": (base > 2).tolist(),
            "tax": rng.normal(size=200),
        }
    )


def main() -> None:
    """Write the folder of this version."""
    folder = Path(__file__).parent / f"version-{us.__version__}"
    folder.mkdir()
    table, schema = people(), us.Schema.from_toml(SCHEMA)
    plain = table.select(["sex", "age", "income", "city"])
    mechanisms = {
        "adaptive": us.Adaptive(),
        "aim": us.AIM(us.Workload.of("2-way")),
        "fixed": us.Fixed([("sex", "age"), ("income",), ("city",)]),
        "independent": us.Independent(),
        "mst": us.MST(),
        "nist-mst": us.NIST_MST(
            us.table(
                plain.drop(["city"]).append_column("city", plain["city"]),
                schema.replace_column("city", us.Category(("Boston", "Salem", "Keene"))),
            )
        ),
        "field-groups": FieldGroups([("sex", "age")]),
        "privbayes": PrivBayes(),
        "privsyn": PrivSyn(),
    }
    for number, (name, mechanism) in enumerate(mechanisms.items()):
        made = us.fit(
            plain,
            schema,
            epsilon=2,
            delta=1e-6,
            mechanism=mechanism,
            name=f"people-{name}",
            ledger=folder / "ledger",
            source=Seeded(number),
        )
        made.save(folder / f"{name}.release")
    us.fit(
        table, us.Schema.from_toml(RULED), epsilon=5, delta=1e-6, ledger=folder / "ledger", source=Seeded(99)
    ).save(folder / "ruled.release")
    us.fit(plain, epsilon=1, delta=1e-6, name="people-private", ledger=folder / "ledger").save(
        folder / "private.release"
    )


def beside() -> None:
    """Write the folder of a release whose model has no room for some of its pairs."""
    folder = Path(__file__).parent / f"version-{us.__version__}-beside"
    folder.mkdir()
    plain = people().select(["sex", "age", "income", "city"])
    us.fit(
        plain,
        us.Schema.from_toml(SCHEMA),
        epsilon=20,
        delta=1e-6,
        mechanism=us.Adaptive(cell_limit=60),
        name="people-beside",
        ledger=folder / "ledger",
        source=Seeded(40),
    ).save(folder / "beside.release")


def promised() -> None:
    """Write the folder of a release whose plan promised that no marginal gets much of what was left open."""
    folder = Path(__file__).parent / f"version-{us.__version__}-promised"
    folder.mkdir()
    plain = people().select(["sex", "age", "income", "city"])
    us.fit(
        plain,
        us.Schema.from_toml(SCHEMA),
        epsilon=20,
        delta=1e-6,
        name="people-promised",
        ledger=folder / "ledger",
        source=Seeded(41),
    ).save(folder / "promised.release")


WRITERS = {"beside": beside, "promised": promised}
if __name__ == "__main__":
    WRITERS.get(" ".join(sys.argv[1:]), main)()
