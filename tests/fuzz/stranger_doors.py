"""Doors for what strangers hand on: releases, fields, ledgers, schemas, statements, addresses, conditions, keys."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from mutations import mutated_bytes, mutated_numbers, mutated_text, mutated_value

import understudy as us
from understudy.errors import UnderstudyError
from understudy.mechanisms.workload.written_workload import written_workload
from understudy.model import MarkovField
from understudy.pipeline import release_file
from understudy.pipeline.sources.registry import name_of, places_of, source_of
from understudy.privacy import Job

ROOT = Path(__file__).resolve().parents[2]
EARLIER = ROOT / "tests" / "data"
NEWEST = EARLIER / "version-1.0.0rc1"
PRIVATE = NEWEST / "private.release"


class BrokenPromiseError(Exception):
    """Something was believed that should not be: no error was raised, and what came out is wrong."""


@cache
def releases() -> tuple[Path, ...]:
    """Releases of every version that wrote a form of its own, of every mechanism."""
    return tuple(sorted(EARLIER.glob("version-*/*.release")))


def release_door(random: Random, folder: Path) -> None:
    """A release forged in a few places and sealed again, or damaged; then all that a person does with one."""
    data = random.choice(releases()).read_bytes()
    path = folder / "forged.release"
    kind = random.random()
    if kind < 0.1:
        path.write_bytes(mutated_bytes(random, data))
    else:
        start = len(release_file.MAGIC) + 8
        length = int.from_bytes(data[start - 8 : start], "little")
        said, arrays = data[start : start + length], data[start + length : -release_file.DIGEST]
        if kind < 0.2:
            said = mutated_bytes(random, said)
        elif kind < 0.35:
            arrays = mutated_numbers(random, arrays)
        else:
            header = json.loads(said)
            section = random.choice([*header["sections"], None])
            if section is None:
                header = mutated_value(random, header)
            else:
                header["sections"][section] = mutated_value(random, header["sections"][section])
            said = json.dumps(header).encode()
        body = release_file.MAGIC + len(said).to_bytes(8, "little") + said + arrays
        path.write_bytes(body + hashlib.sha256(body).digest())
    use_release(us.load(path), random, folder)


def use_release(release: us.Release, random: Random, folder: Path) -> None:
    """Each thing that a release can do: one that was opened may still refuse."""
    names = list(release.schema.columns)
    for ask in (
        lambda: repr(release),
        release.verify,
        release._repr_html_,
        lambda: release.sample(5, seed=1),
        lambda: release.marginal(names[:2]),
        lambda: release.query("count", by=names[:1]),
        lambda: release.query("mean", names[-1]),
        lambda: release.regress(names[-1], names[:1]),
        release.expected_error,
        lambda: release.sample(3, seed=1, where=f"{names[0]} = 'b'"),
        lambda: us.export_release(release, random.choice(("croissant", "card"))),
        lambda: release.save(folder / "again.release"),
        lambda: release.report(folder / "page.html"),
    ):
        if random.random() < 0.6:
            try:
                ask()
            except UnderstudyError:
                continue


def field_door(random: Random, folder: Path) -> None:
    """Bytes of a field's own file."""
    path = folder / "made.field"
    if not path.exists():
        field = us.load(PRIVATE).field
        assert isinstance(field, MarkovField)
        field.save(path)
    (folder / "forged.field").write_bytes(mutated_bytes(random, path.read_bytes()))
    found = MarkovField.load(folder / "forged.field")
    found.sample(5)


@cache
def spent(whole: Path, folder: Path) -> dict[str, tuple[Fraction, Fraction]]:
    """What a ledger that nobody touched says was spent under each name."""
    path = _copied(whole, folder / "untouched.db")
    found = us.Ledger(path)
    return {name: found.account(name).spent for name in found.names()}


def _copied(whole: Path, path: Path) -> Path:
    for ending in ("", ".mark", ".notes", "-journal", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    for ending in ("", ".mark"):
        shutil.copyfile(f"{whole}{ending}", f"{path}{ending}")
    return path


def ledger_door(random: Random, folder: Path) -> None:
    """A ledger or its mark with damaged bytes or edited rows: refused, or it knows all that was spent."""
    whole = random.choice(sorted(EARLIER.glob("version-*/ledger")))
    before = spent(whole, folder)
    path = _copied(whole, folder / "forged.db")
    if random.random() < 0.3:
        _edit(random, path)
    else:
        hurt = Path(f"{path}{random.choice(('', '', '.mark'))}")
        hurt.write_bytes(mutated_bytes(random, hurt.read_bytes()))
    if random.random() < 0.1:
        Path(f"{path}{random.choice(('-journal', '-wal'))}").write_bytes(
            random.randbytes(random.randrange(4000))
        )
    found = us.Ledger(path)
    after = {name: found.account(name).spent for name in found.names()}
    if after != before:
        raise BrokenPromiseError("a ledger was believed that says that something else was spent")
    for name in found.names():
        found.account(name).to_dict()
    page = found.open(Job("people", "new"), 0.1, 1e-7)
    page.charge(0, {"question": "choose"})
    page.store(0, b"1")
    page.finish()


def _edit(random: Random, path: Path) -> None:
    """A row changed behind the ledger's back, as who can write to its folder may."""
    connection = sqlite3.connect(path)
    connection.executescript("DROP TRIGGER no_update; DROP TRIGGER no_delete; DROP TRIGGER in_order")
    column = random.choice(
        ("seq", "time", "kind", "name", "job", "body", "content", "previous", "seal", "answer")
    )
    try:
        seq, old = random.choice(connection.execute(f"SELECT seq, {column} FROM entries").fetchall())
        if random.random() < 0.2:
            connection.execute("DELETE FROM entries WHERE seq = ?", (seq,))
        elif column == "answer":
            connection.execute(
                "UPDATE entries SET answer = ? WHERE seq = ?",
                (mutated_bytes(random, b"\1" + (old or b"")), seq),
            )
        elif column == "seq":
            connection.execute(
                "UPDATE entries SET seq = ? WHERE seq = ?", (random.choice((-1, 9, 2**62)), seq)
            )
        else:
            new = mutated_text(random, str(old)).encode("utf-8", "replace").decode()
            connection.execute(f"UPDATE entries SET {column} = ? WHERE seq = ?", (new, seq))
        connection.commit()
    except sqlite3.Error:
        connection.rollback()
    finally:
        connection.close()


@cache
def schemas() -> tuple[str, ...]:
    """Every schema that the documents show."""
    found = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "schema.md").read_text(), re.DOTALL)
    return (*found, "\n".join(found[1:7]))


def schema_door(random: Random, folder: Path) -> None:
    """A schema file with changed words: refused, or the same when it is written and read again."""
    text = mutated_text(random, random.choice(schemas()))
    path = folder / "people.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found = us.Schema.load(path)
    if us.Schema.from_toml(found.to_toml()) != found:
        raise BrokenPromiseError("a schema is another one when it is read again")
    for ask in (
        found.domain,
        found._repr_html_,
        lambda: us.plan(found, rows=1000, epsilon=1, delta=1e-6, mechanism="independent"),
        lambda: us.export_schema(found, random.choice(("frictionless", "csvw"))),
    ):
        try:
            ask()
        except UnderstudyError:
            continue


def statement_door(random: Random, folder: Path) -> None:
    """What another tool says of a table, with changed parts."""
    form = random.choice(("frictionless", "csvw", "sdv"))
    if form == "sdv":
        said: Any = {
            "METADATA_SPEC_VERSION": "V1",
            "tables": {
                "people": {
                    "primary_key": "id",
                    "columns": {
                        "id": {"sdtype": "id", "regex_format": "A-[0-9]{6}"},
                        "age": {"sdtype": "numerical", "computer_representation": "Int64"},
                        "born": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
                        "sex": {"sdtype": "categorical"},
                        "mail": {"sdtype": "email", "pii": True},
                    },
                }
            },
        }
    else:
        said = us.export_schema(us.Schema.from_toml(schemas()[-1]), form)
    path = folder / "said.json"
    text = json.dumps(mutated_value(random, said))
    if random.random() < 0.2:
        text = mutated_text(random, text)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    us.import_schema(path, form if random.random() < 0.5 else None)


ADDRESSES = (
    "postgresql://me:PASSWORD@127.0.0.1:1/town#census.people",
    "postgresql://me@127.0.0.1/town?sslmode=disable&table=people",
    'postgres://127.0.0.1:1,127.0.0.1:2/town?query=SELECT * FROM "people"',
    "duckdb:town.db?table=people",
    "duckdb:?query=SELECT 1 AS a",
    "parquet:people/*.parquet",
    "csv:people.csv",
    "spark:parquet:people/",
    "spark:people",
    "delta:people/",
    "iceberg:people/metadata/00002-x.metadata.json",
    "s3://key:PASSWORD@bucket/people.parquet",
    "mysql://me:PASSWORD@host/town",
    "people/**/[a-z]*.csv",
)


def address_door(random: Random, folder: Path) -> None:
    """Addresses with changed parts: taken apart, named, and where they lie in files, opened. No password is shown."""
    address = mutated_text(random, random.choice(ADDRESSES))
    try:
        for ask in (source_of, name_of, places_of):
            ask(address)
        if address.startswith(("parquet:", "csv:", "duckdb:", "delta:", "iceberg:", "people")):
            us.draft_schema(address)
    except UnderstudyError as refused:
        # A message may name the kind and the table, also where they were changed to that word.
        before, _, after = address.partition("PASSWORD@")
        told = "PASSWORD" in str(refused) and "PASSWORD@" in address
        if told and "PASSWORD" not in before.partition(":")[0] + after:
            raise BrokenPromiseError("a message shows the password of an address") from None
        raise


CONDITIONS = (
    "sex = 'F' and age >= 65",
    "not (sex = 'F' or age < 3) and income is missing",
    "age in (1, 2, 3) and born >= 1970-01-01",
    "income between 10 and 20",
    "name != 'b'",
)


def condition_door(random: Random, folder: Path) -> None:
    """Conditions and workloads that a person types."""
    text = mutated_text(random, random.choice(CONDITIONS))
    release = us.load(NEWEST / "adaptive.release")
    match random.randrange(3):
        case 0:
            release.query("count", where=text)
        case 1:
            release.sample(3, where=text, seed=1)
        case _:
            written_workload(mutated_text(random, "age,income=2\nsex,age\n3-way\n").splitlines())


def key_door(random: Random, folder: Path) -> None:
    """Damaged keys."""
    private, public = folder / "me.key", folder / "me.pub"
    if not private.exists():
        us.new_key(private)
    path = folder / "forged.key"
    chosen = random.choice((private, public))
    path.write_bytes(mutated_bytes(random, chosen.read_bytes()))
    if chosen is private:
        us.load(PRIVATE).save(folder / "signed.release", key=path)
    else:
        us.load(PRIVATE).save(folder / "signed.release", key=private)
        us.load(folder / "signed.release", key=path)
