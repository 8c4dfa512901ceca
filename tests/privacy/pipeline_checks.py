"""What must hold of a whole run, from a table to its release: checks through the public door, `understudy.fit`.

As `product_checks`: each raises AssertionError where a promise of privacy is broken, and `test_pipeline_mutations`
plants the bugs.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.csv

import understudy as us
from understudy.data import Table
from understudy.domain.category import Category
from understudy.domain.number import Integer, Number
from understudy.domain.schema import Schema
from understudy.errors import BudgetError, LedgerError
from understudy.mechanisms import MST, Independent
from understudy.pipeline.records import InMemory
from understudy.privacy import Ledger, Seeded
from understudy.privacy.session import Session
from understudy.transforms.split import Floor

HOME = Path(us.__file__).parent
SCHEMA = Schema({"a": Integer(min=0, max=9), "b": Category(("x", "y"), missing=True)}, name="people")
OPEN = Schema({"a": Integer(), "v": Number(), "b": Category(discover=True)}, name="people")
SETTINGS: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "mechanism": Independent()}


def _people(records: int) -> pa.Table:
    numbers = np.arange(records)
    return pa.table({"a": numbers % 7 + 2, "v": numbers % 50 / 2, "b": np.where(numbers % 3, "x", "y")})


def _fit(folder: Path, data: Any, schema: Schema | None = SCHEMA, **settings: Any) -> us.Release:
    return us.fit(data, schema, ledger=folder / "ledger.sqlite", **(SETTINGS | settings))


# -- randomness ------------------------------------------------------------------------------------------


@contextmanager
def _every_variable_is_set() -> Iterator[list[str]]:
    """An environment in which our own code finds every variable set to 7; the names that it looked for."""
    asked: list[str] = []
    environment = type(os.environ)
    find, has = environment.__getitem__, environment.__contains__
    ours = (str(HOME), str(Path(__file__).parent))

    def by_us() -> bool:
        frame: Any = sys._getframe(2)
        while frame.f_code.co_filename.startswith(("<frozen", os.__file__)):
            frame = frame.f_back
        return bool(frame.f_code.co_filename.startswith(ours))

    def found(self: Any, name: str) -> str:
        if not by_us():
            return find(self, name)
        asked.append(name)
        return "7"

    def known(self: Any, name: object) -> bool:
        if not by_us():
            return has(self, name)
        asked.append(str(name))
        return True

    environment.__getitem__, environment.__contains__ = found, known  # type: ignore[method-assign, assignment]
    try:
        yield asked
    finally:
        environment.__getitem__, environment.__contains__ = find, has  # type: ignore[method-assign]


def check_no_variable_of_the_environment_reaches_the_noise(folder: Path) -> None:
    """Whatever the environment holds, under any name, two runs draw two noises, and nothing asks it anything."""
    with _every_variable_is_set() as asked:
        runs = [_fit(folder, _people(300), job=str(number)) for number in range(2)]
        noises = [np.concatenate([m.values for m in run.measurements]).tolist() for run in runs]
    assert noises[0] != noises[1], "a variable of the environment decides the noise"
    assert not asked, f"a run asks the environment for {asked}"
    assert all(run.private for run in runs)


def sources() -> dict[str, str]:
    """The text of every module of the package."""
    return {str(path.relative_to(HOME)): path.read_text() for path in sorted(HOME.rglob("*.py"))}


# Where the environment is read at all: for places of files, and for a worker's interpreter.
READERS = {"privacy/ledger.py", "data/cache.py", "pipeline/on_spark.py"}
# Where seeded noise may be named: where it is made and offered, and by the commands' option --insecure-seed.
SEEDERS = {"privacy/randomness.py", "privacy/__init__.py", "cli/running.py"}


def check_the_environment_and_seeds_are_named_where_they_must_be_alone() -> None:
    for path, text in sources().items():
        names = {
            found
            for node in ast.walk(ast.parse(text))
            for found in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "name", None))
        }
        if path not in READERS:
            assert not names & {"environ", "environb", "getenv", "getenvb"}, f"{path} reads the environment"
        if path not in SEEDERS:
            seeds = (
                {"Seeded"} if path.startswith("auditing/") else {"Seeded", "Replay"}
            )  # an audit replays runs
            assert not names & seeds, f"{path} may seed the noise"
        if path.startswith("privacy/") and path != "privacy/randomness.py":
            assert not names & {"default_rng", "urandom", "SystemRandom"}, f"{path} draws by itself"


# -- the number of records -------------------------------------------------------------------------------


def _said(folder: Path, records: int, name: str) -> list[str]:
    """All that a run says beside its noisy answers: certificate, schema, the ledger's account without times."""
    place = folder / f"{name}-{records}"
    place.mkdir()
    release = _fit(place, _people(records), job="one")
    account = Ledger(place / "ledger.sqlite").account("people").to_dict()
    for job in account["jobs"]:
        del job["opened"], job["finished"]
        for charge in job["charges"]:
            del charge["time"]
    return [json.dumps(said, sort_keys=True) for said in (release.certificate, account)] + [
        release.schema.to_toml()
    ]


def check_nothing_that_is_said_depends_on_the_number_of_records(folder: Path) -> None:
    """Of a mechanism that chooses nothing, certificate, ledger and schema are the same for any records."""
    for one, other in zip(_said(folder, 503, "few"), _said(folder, 4001, "many"), strict=True):
        assert one == other, "the records decide what is said of them"


def check_no_text_holds_the_number_of_records(folder: Path) -> None:
    """Of a mechanism that chooses, learning all there is to learn: 4099 stands in no certificate and no schema."""
    records = 4099
    release = _fit(folder, _people(records), OPEN, mechanism=MST())
    account = Ledger(folder / "ledger.sqlite").account("people").to_dict()
    for said in (json.dumps(release.certificate), json.dumps(account), release.schema.to_toml()):
        assert not re.search(rf"(?<![\w.]){records}(?!\w)", said), (
            "the exact number of records is written down"
        )


def check_the_rows_of_a_release_are_noisy(folder: Path) -> None:
    """How many records a release is thought to have is as uncertain as its noise."""
    rows = {_fit(folder, _people(500), epsilon=0.2).rows for _ in range(6)}
    assert rows != {500}, "a release gives its exact number of records away"


# -- what is learned -------------------------------------------------------------------------------------


@contextmanager
def _only_behind_the_door() -> Iterator[list[str]]:
    """Whatever counts records is told off, unless the curator is answering a question that was charged."""
    inside: list[str] = []
    counted: list[str] = []
    kept = Session.ask, Table.count, Table.count_cells, InMemory.count_values

    def ask(self: Any, allowance: Any, losses: Any, words: Any, answer: Any) -> bytes:
        def behind() -> bytes:
            inside.append(words["question"])
            try:
                return answer()
            finally:
                inside.pop()

        return kept[0](self, allowance, losses, words, behind)

    def watched(count: Any) -> Any:
        def looking(self: Any, *given: Any, **more: Any) -> Any:
            assert inside, "records were counted past the curator"
            counted.append(inside[-1])
            return count(self, *given, **more)

        return looking

    Session.ask = ask  # type: ignore[method-assign]
    Table.count, Table.count_cells, InMemory.count_values = map(watched, kept[1:])  # type: ignore[method-assign]
    try:
        yield counted
    finally:
        Session.ask, Table.count, Table.count_cells, InMemory.count_values = kept  # type: ignore[method-assign]


def check_records_are_counted_behind_the_door_alone(folder: Path) -> None:
    """In a run that learns values, bounds and bins, every count is made for a question that was charged."""
    with _only_behind_the_door() as counted:
        release = _fit(folder, _people(2000), OPEN, mechanism=MST())
    asked = [charge["question"] for charge in release.certificate["charges"]]
    assert set(counted) >= {"discover", "measure", "choose"}
    assert asked.count("discover") == 1
    assert asked.count("measure") >= 3, "bounds or bins were learned without a question"


def check_what_is_learned_is_drowned_where_noise_is_large(folder: Path) -> None:
    """With one noise far above their counts, tables that share no value teach the same bounds, bins and values."""
    schemas = set()
    for low in (3.0, 7e9):
        numbers = low + np.arange(40) * low / 7
        table = pa.table({"a": numbers.astype(np.int64), "v": numbers / 8, "b": [f"at {low}"] * 40})
        release = _fit(folder, table, OPEN, epsilon=1e-4, source=Seeded(3))
        schemas.add(release.schema.to_toml())
    assert len(schemas) == 1, "what is learned gives the records away, whatever the noise"


def check_what_is_learned_moves_with_the_noise(folder: Path) -> None:
    """The same table, its noise drawn anew, teaches other bounds or bins now and then."""
    table = pa.table({"v": np.random.default_rng(0).gamma(2.0, 900.0, 700)})
    schema = Schema({"v": Number()}, name="people")
    learned = {_fit(folder, table, schema, epsilon=0.3).schema.to_toml() for _ in range(5)}
    assert len(learned) > 1, "what is learned is exact"


# -- units -----------------------------------------------------------------------------------------------


def _ways_in(folder: Path, table: pa.Table) -> list[Any]:
    """The table as a frame of Arrow and of pandas, as a file read whole, and as one that is streamed."""
    pyarrow.csv.write_csv(table, folder / "people.csv")
    return [table, table.to_pandas(), folder / "people.csv", f"csv:{folder / 'people.csv'}"]


def check_discovery_is_bounded_by_unit(folder: Path) -> None:
    """A value that one person alone holds, in thousands of records, is not named."""
    values = ["common"] * 900 + ["canary"] * 3000
    table = pa.table({"who": [*range(900), *([900] * 3000)], "b": values})
    schema = Schema({"b": Category(discover=True)}, name="people", unit="who", max_records_per_unit=2)
    for data in _ways_in(folder, table):
        release = _fit(folder, data, schema)
        named = release.schema.to_toml()
        assert "common" in named, "nothing was found at all"
        assert "canary" not in named, "a value of one person was named"


def check_the_order_of_reading_decides_nothing(folder: Path) -> None:
    """Records in another order, as another person's would put them, are the same records to every answer."""
    schema = replace(SCHEMA, unit="who", max_records_per_unit=1)
    rng = np.random.default_rng(0)
    table = pa.table({"who": rng.integers(0, 40, 400), "a": rng.integers(0, 10, 400), "b": ["x", "y"] * 200})
    for way in range(4):
        seen = set()
        for order in (np.arange(400), np.arange(400)[::-1], rng.permutation(400)):
            data = _ways_in(folder, table.take(pa.array(order)))[way]
            release = _fit(folder, data, schema, source=Seeded(5))
            seen.add(tuple(tuple(m.values.reshape(-1)) for m in release.measurements))
        assert len(seen) == 1, "the order in which records are read shows in the answers"


def check_one_unit_moves_counts_by_no_more_than_it_may(folder: Path) -> None:
    """With the same noise, a person of a thousand records moves every answer by no more than the two declared."""
    schema = replace(SCHEMA, unit="who", max_records_per_unit=2)
    others = [number // 3 for number in range(300)]
    codes = [number % 10 for number in range(300)]
    answers: list[list[np.ndarray]] = []
    for more in (0, 1000):
        table = pa.table(
            {
                "who": others + [100] * more,
                "a": codes + [9] * more,
                "b": ["x", "y", "x"] * 100 + ["y"] * more,
            }
        )
        ways = _ways_in(folder, table)
        answers.append(
            [m.values for data in ways for m in _fit(folder, data, schema, source=Seeded(1)).measurements]
        )
    for one, other in zip(*answers, strict=True):
        assert np.abs(one - other).sum() <= 2, "a person moves more records than declared"


# -- one record, anywhere --------------------------------------------------------------------------------

ODD: list[dict[str, Any]] = [
    {"a": 10**18, "b": "y"},
    {"a": -1, "b": "no such value"},
    {"a": None, "b": None},
    {"a": 5, "b": ""},
]


def check_an_odd_record_moves_one_cell_and_nothing_else(folder: Path) -> None:
    """With the same noise, a record that misfits the schema changes one count of each answer by one, and no word."""
    table = _people(200).select(["a", "b"])
    base = _fit(folder, table, source=Seeded(2))
    for record in ODD:
        more = pa.concat_tables([table, pa.Table.from_pylist([record], schema=table.schema)])
        release = _fit(folder, more, source=Seeded(2))
        assert release.schema == base.schema, "a record changes the schema"
        assert release.certificate == base.certificate, "a record changes the certificate"
        for one, other in zip(base.measurements, release.measurements, strict=True):
            assert one.values.shape == other.values.shape, "a record changes the shape of an answer"
            assert np.abs(one.values - other.values).sum() <= 1, "a record moves more than one cell by one"


ODD_CELLS: list[Any] = ["x", b"\xff", [1], 10**400, float("nan"), np.float32(2.5)]


def check_an_odd_cell_of_a_frame_recodes_no_other(folder: Path) -> None:
    """Whatever stands in one cell of a column of Python objects, the others are read as before."""
    schema = Schema({"b": Category(("1", "true", "2.5", "x"))}, name="people")
    columns: list[list[Any]] = [[1.0, True, 2.5, 1] * 50, [1.0] * 200, [True] * 200]
    for column in columns:
        base, *others = (
            _fit(
                folder, pandas.DataFrame({"b": pandas.Series(cells, dtype=object)}), schema, source=Seeded(2)
            )
            for cells in [column, *([*column, odd] for odd in ODD_CELLS)]
        )
        for other in others:
            assert base.schema == other.schema, "a record changes the schema"
            for one, two in zip(base.measurements, other.measurements, strict=True):
                assert np.abs(one.values - two.values).sum() <= 1, "a record recodes others"


def check_an_odd_cell_of_a_file_recodes_no_other(folder: Path) -> None:
    """Whatever stands in one cell of a text file with a schema, transforms or none, the others are read as before."""
    schema = Schema(
        {
            "zip": Category(("00501", "10001", "501", "1e4")),
            "age": Integer(min=0, max=9),
            "pay": Category(("1", "1.0", "2", "x")),
        },
        name="people",
    )
    lines = ["00501,42,1", "10001,77,1.0", "501,15,2"] * 40
    path = folder / "people.csv"
    for transforms, odd in product(((), (Floor("age", 10, 90, ()),)), ("x,x,x", "1e4,,", '"",9e99,2')):
        answers = []
        for extra in ([], [odd]):
            path.write_text("\n".join(["zip,age,pay", *lines, *extra]) + "\n")
            for way in (path, f"csv:{path}"):
                release = _fit(folder, way, schema, source=Seeded(2), transforms=transforms)
                answers.append([m.values for m in release.measurements])
        for one, two in (
            *zip(answers[0], answers[2], strict=True),
            *zip(answers[1], answers[3], strict=True),
        ):
            assert np.abs(one - two).sum() <= 1, "a record recodes others"


def check_discovery_raises_for_no_value(folder: Path) -> None:
    """A value that Python has no date for, or that is larger than a number may be, is passed over or named."""
    schema = Schema({"b": Category(discover=True)}, name="people")
    for kind, common, far in (
        (pa.date32(), 19_000, 2**31 - 1),
        (pa.timestamp("us"), 10**15, 2**63 - 1),
        (pa.timestamp("s", "UTC"), 10**9, -(2**62)),
        (pa.uint64(), 7, 2**64 - 1),
    ):
        plain = pa.uint64() if pa.types.is_unsigned_integer(kind) else pa.int64()
        stored = pa.int32() if pa.types.is_date32(kind) else plain
        column = pa.array([common] * 600 + [far], stored).cast(kind)
        try:
            release = _fit(folder, pa.table({"b": column}), schema)
        except Exception as fault:
            raise AssertionError(f"a run fails by a value of a column of {kind}") from fault
        assert len(release.schema.columns["b"].values) == 1, f"a common value of {kind} was not found"


# -- jobs ------------------------------------------------------------------------------------------------


def check_another_run_is_another_job(folder: Path) -> None:
    """Runs that differ in budget, mechanism, schema or label are paid for one by one; the same one, once."""
    table = _people(100)
    other = replace(SCHEMA, columns={**SCHEMA.columns, "v": Number(min=0, max=25, bins=5)})
    runs: list[dict[str, Any]] = [
        {},
        {"epsilon": 0.5},
        {"delta": 1e-7},
        {"mechanism": MST()},
        {"schema": other},
        {"neighbours": "replace"},
        {"job": "two"},
    ]
    for settings in [*runs, *runs]:
        try:
            _fit(folder, table, **({"schema": SCHEMA, "job": "one"} | settings))
        except LedgerError:
            raise AssertionError("a run is taken for another") from None
    account = Ledger(folder / "ledger.sqlite").account("people")
    assert len(account.jobs) == len(runs), "two runs pass for one, or one for two"
    assert account.spent[0] == sum(float(run.get("epsilon", 1.0)) for run in runs)


def check_a_limit_holds_for_the_public_door(folder: Path) -> None:
    """Runs on one table stop at its limit, whatever they are called."""
    Ledger(folder / "ledger.sqlite").set_limit("people", 2.0, 1e-3)
    done = 0
    for number in range(3):
        try:
            _fit(folder, _people(100), job=str(number))
        except BudgetError:
            continue
        done += 1
    assert done == 2, "more was released than the limit allows"
