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
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import understudy as us
from understudy.data import Table
from understudy.domain.columns.category import Category
from understudy.domain.columns.integer import Integer
from understudy.domain.columns.number import Number
from understudy.domain.schema import Schema
from understudy.errors import BudgetError, LedgerError
from understudy.mechanisms import MST, Independent
from understudy.pipeline.sources.in_memory import InMemory
from understudy.privacy import Ledger, Seeded
from understudy.privacy.curator.curator_session import CuratorSession

HOME = Path(us.__file__).parent
SCHEMA = Schema({"a": Integer(min=0, max=9), "b": Category(("x", "y"), missing=True)}, name="people")
OPEN = Schema({"a": Integer(), "v": Number(), "b": Category(discover=True)}, name="people")
SETTINGS: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "mechanism": Independent()}


def people(records: int) -> pa.Table:
    numbers = np.arange(records)
    return pa.table({"a": numbers % 7 + 2, "v": numbers % 50 / 2, "b": np.where(numbers % 3, "x", "y")})


def fitted(folder: Path, data: Any, schema: Schema | None = SCHEMA, **settings: Any) -> us.Release:
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
        runs = [fitted(folder, people(300), job=str(number)) for number in range(2)]
        noises = [np.concatenate([m.values for m in run.measurements]).tolist() for run in runs]
    assert noises[0] != noises[1], "a variable of the environment decides the noise"
    assert not asked, f"a run asks the environment for {asked}"
    assert all(run.private for run in runs)


def sources() -> dict[str, str]:
    """The text of every module of the package."""
    return {str(path.relative_to(HOME)): path.read_text() for path in sorted(HOME.rglob("*.py"))}


# Where the environment is read at all: for places of files, a worker's interpreter, and whether a fault may say more.
READERS = {
    "privacy/ledger/ledger.py",
    "data/scratch.py",
    "pipeline/sources/spark.py",
    "cli/__init__.py",
    "memory_left.py",  # which asks Arrow for the system's allocator, where addresses are few
    "cli/commands/doctor/ways_in.py",  # which says whether there is a Java
    "studio/work_process.py",  # which asks for one thread, as the command line does
}
# Where seeded noise may be named: where it is made and offered, and by the commands' option --insecure-seed.
SEEDERS = {"privacy/noise/randomness.py", "privacy/__init__.py", "cli/running.py"}


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
            assert not names & {"Seeded", "GivenWords"}, f"{path} may seed the noise"
        if path.startswith("privacy/") and path != "privacy/noise/randomness.py":
            assert not names & {"default_rng", "urandom", "SystemRandom"}, f"{path} draws by itself"


# -- the number of records -------------------------------------------------------------------------------


def _said(folder: Path, records: int, name: str) -> list[str]:
    """All that a run says beside its noisy answers: certificate, schema, the ledger's account without times."""
    place = folder / f"{name}-{records}"
    place.mkdir()
    release = fitted(place, people(records), job="one")
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
    release = fitted(folder, people(records), OPEN, mechanism=MST())
    account = Ledger(folder / "ledger.sqlite").account("people").to_dict()
    for said in (json.dumps(release.certificate), json.dumps(account), release.schema.to_toml()):
        assert not re.search(rf"(?<![\w.]){records}(?!\w)", said), (
            "the exact number of records is written down"
        )


def check_the_rows_of_a_release_are_noisy(folder: Path) -> None:
    """How many records a release is thought to have is as uncertain as its noise."""
    rows = {fitted(folder, people(500), epsilon=0.2).rows for _ in range(6)}
    assert rows != {500}, "a release gives its exact number of records away"


# -- what is learned -------------------------------------------------------------------------------------


@contextmanager
def _only_behind_the_door() -> Iterator[list[str]]:
    """Whatever counts records is told off, unless the curator is answering a question that was charged."""
    inside: list[str] = []
    counted: list[str] = []
    kept = CuratorSession.ask, Table.count, Table.count_cells, InMemory.count_values

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

    CuratorSession.ask = ask  # type: ignore[method-assign]
    Table.count, Table.count_cells, InMemory.count_values = map(watched, kept[1:])  # type: ignore[method-assign]
    try:
        yield counted
    finally:
        CuratorSession.ask, Table.count, Table.count_cells, InMemory.count_values = kept  # type: ignore[method-assign]


def check_records_are_counted_behind_the_door_alone(folder: Path) -> None:
    """In a run that learns values, bounds and bins, every count is made for a question that was charged."""
    with _only_behind_the_door() as counted:
        release = fitted(folder, people(2000), OPEN, mechanism=MST())
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
        release = fitted(folder, table, OPEN, epsilon=1e-4, source=Seeded(3))
        schemas.add(release.schema.to_toml())
    assert len(schemas) == 1, "what is learned gives the records away, whatever the noise"


def check_what_is_learned_moves_with_the_noise(folder: Path) -> None:
    """The same table, its noise drawn anew, teaches other bounds or bins now and then."""
    table = pa.table({"v": np.random.default_rng(0).gamma(2.0, 900.0, 700)})
    schema = Schema({"v": Number()}, name="people")
    learned = {fitted(folder, table, schema, epsilon=0.3).schema.to_toml() for _ in range(5)}
    assert len(learned) > 1, "what is learned is exact"


def check_types_of_text_are_learned_with_noise(folder: Path) -> None:
    """With one noise far above the votes of their cells, files of numbers, dates and words teach the same types."""
    path, schemas = folder / "people.csv", set()
    for cells in (["12", "7"], ["1999-01-02", "2001-03-04"], ["red", "green"]):
        path.write_text("\n".join(["v", *cells * 20]) + "\n")
        schemas.add(fitted(folder, path, None, epsilon=1e-4, source=Seeded(3)).schema.to_toml())
    assert len(schemas) == 1, "the cells decide the types, whatever the noise"


# -- jobs ------------------------------------------------------------------------------------------------


def check_another_run_is_another_job(folder: Path) -> None:
    """Runs that differ in budget, mechanism, schema or label are paid for one by one; the same one, once."""
    table = people(100)
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
            fitted(folder, table, **({"schema": SCHEMA, "job": "one"} | settings))
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
            fitted(folder, people(100), job=str(number))
        except BudgetError:
            continue
        done += 1
    assert done == 2, "more was released than the limit allows"
