"""Whatever a release file says, verifying it ends soon, takes little memory, and believes only what was paid for.

Real releases are forged in one place at a time and sealed again, so that only their words can give them away. CI
tries a sample of all such forgeries; UNDERSTUDY_FORGERIES=all tries every one.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import understudy as us
from understudy.errors import ReleaseError
from understudy.pipeline import release_file
from understudy.pipeline.certificate import Verdict
from understudy_contest import FieldGroups, PrivBayes, PrivSyn

SCHEMA = """
[table]
name = "t"
[columns.a]
type = "category"
values = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"]
[columns.b]
type = "integer"
min = 0
max = 11
[columns.c]
type = "number"
min = -10
max = 100
bins = 8
[columns.d]
type = "boolean"
"""
LEARNED = """
[table]
unit = "who"
max_records_per_unit = 2
[columns.a]
type = "category"
discover = true
[columns.b]
type = "integer"
[columns.c]
type = "number"
[columns.d]
type = "boolean"
"""
EVERY = os.environ.get("UNDERSTUDY_FORGERIES") == "all"
SAMPLE = 40  # forgeries of each release
SECONDS, BYTES = 20.0, 200 << 20  # of a processor; a forgery that works takes minutes and gigabytes
VALUES = [
    float("nan"),
    float("inf"),
    -1,
    0,
    1,
    1e308,
    1e-308,
    10**9,
    10**18,
    10**30,
    0.5,
    "x",
    None,
    [],
    {},
    True,
]


def people() -> pa.Table:
    rng = np.random.default_rng(0)
    base = rng.integers(0, 8, 800)
    return pa.table(
        {
            "a": [f"v{code}" for code in (base + rng.integers(0, 2, 800)) % 8],
            "b": (base * 3 + rng.integers(0, 2, 800)) % 12,
            "c": base * 10.0 + rng.normal(size=800),
            "d": base % 2 == 0,
            "who": np.arange(800) // 2,
        }
    )


MECHANISMS: dict[str, Callable[[], Any]] = {
    "mst": us.MST,
    "nist-mst": lambda: us.NIST_MST(
        us.table(people().drop(["who"]), us.Schema.from_toml(SCHEMA)), triple_threshold=0.0, limit_cells=90
    ),
    "independent": us.Independent,
    "fixed": lambda: us.Fixed([("a", "b"), ("c", "d")]),
    "privsyn": PrivSyn,
    "privbayes": PrivBayes,
    "field-groups": lambda: FieldGroups([("a", "b")]),
    "learned": us.MST,
}


class Sealed:
    """A release file taken apart into its header and the rest, which can be changed and sealed again."""

    def __init__(self, path: Path) -> None:
        self.path, data = path, path.read_bytes()
        start = len(release_file.MAGIC) + 8
        length = int.from_bytes(data[start - 8 : start], "little")
        self.header = json.loads(data[start : start + length])
        self.arrays = data[start + length : -release_file.DIGEST]

    def load(self, header: Any, arrays: bytes | None = None) -> us.Release:
        said = json.dumps(header).encode()
        rest = self.arrays if arrays is None else arrays
        body = release_file.MAGIC + len(said).to_bytes(8, "little") + said + rest
        target = self.path.with_name("forged.release")
        target.write_bytes(body + hashlib.sha256(body).digest())
        return us.load(target)

    def verify(self, change: Callable[[Any], None]) -> Verdict | None:
        """The verdict on a changed release; None where it is not even opened."""
        header = copy.deepcopy(self.header)
        change(header)
        try:
            return self.load(header).verify()
        except ReleaseError:
            return None


@pytest.fixture(scope="module", params=list(MECHANISMS))
def sealed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    folder = tmp_path_factory.mktemp("hostile")
    learned = request.param == "learned"
    release = us.fit(
        people() if learned else people().drop(["who"]),
        us.Schema.from_toml(LEARNED if learned else SCHEMA),
        epsilon=2.0,
        delta=1e-6,
        mechanism=MECHANISMS[request.param](),
        neighbours="replace" if learned else "add-remove",
        ledger=folder / "ledger.db",
    )
    release.save(folder / "true.release")
    verdict = us.load(folder / "true.release").verify()
    assert verdict.holds and 1.99 < (verdict.epsilon or 0) <= 2.0
    return Sealed(folder / "true.release")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in sorted({0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            yield from places(value[i], (*path, i))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def forgeries(header: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a header with everything that could be put there instead; a function takes it away."""
    for path in places(header):
        value = at(header, path)
        for new in VALUES:
            yield path, new
        yield path, DROPPED
        if isinstance(value, list):
            yield from ((path, new) for new in (value + value, value[:-1], value[::-1]))
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from ((path, new) for new in (value * 10, value / 10, value + 1, -value))
        if path[-1] == "schema":
            for number in re.finditer(r"-?\d+", value):
                for new in ("1e308", "1000000000000", "-5", "nan"):
                    yield path, value[: number.start()] + new + value[number.end() :]


DROPPED = object()


def put(header: Any, path: tuple[Any, ...], new: Any) -> None:
    parent = at(header, path[:-1])
    if new is DROPPED:
        parent.pop(path[-1])
    else:
        parent[path[-1]] = new


def test_no_forgery_takes_long_or_much_or_breaks_anything(sealed: Sealed) -> None:
    every = list(forgeries(sealed.header))
    chosen = every if EVERY else random.Random(7).sample(every, SAMPLE)
    tracemalloc.start()
    try:
        for path, new in chosen:
            tracemalloc.reset_peak()
            before, started = tracemalloc.get_traced_memory()[0], time.process_time()
            sealed.verify(lambda header, path=path, new=new: put(header, path, new))
            assert time.process_time() - started < SECONDS, (path, new)
            assert tracemalloc.get_traced_memory()[1] - before < BYTES, (path, new)
    finally:
        tracemalloc.stop()


def test_a_map_of_codes_to_a_far_code_allocates_nothing(sealed: Sealed) -> None:
    def far(header: Any) -> None:
        header["sections"]["compression"]["maps"]["a"][-1] = 10**9

    tracemalloc.start()
    assert sealed.verify(far) is None
    assert tracemalloc.get_traced_memory()[1] < BYTES
    tracemalloc.stop()


def charges(header: Any) -> list[Any]:
    return header["sections"]["certificate"]["charges"]


def test_a_count_of_a_billion_ends_at_once(sealed: Sealed) -> None:
    def many(header: Any) -> None:
        for charge in charges(header):
            for loss in charge["losses"]:
                if loss["kind"] in ("choice", "laplace"):
                    loss["count"] = 10**9
                    loss["epsilon"] = 1e-9

    started = time.process_time()
    verdict = sealed.verify(many)
    assert time.process_time() - started < SECONDS
    kinds = {loss["kind"] for charge in charges(sealed.header) for loss in charge["losses"]}
    assert not kinds & {"choice", "laplace"} or verdict is None or not verdict.holds


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0, True, "9", None, 10**400, []])
def test_every_number_of_a_certificate_is_one(sealed: Sealed, value: Any) -> None:
    """In memory too, where no file's reader stands before it."""
    release = sealed.load(sealed.header)
    for name in ("epsilon", "delta"):
        with pytest.raises(ReleaseError):
            us.Release(**{**fields(release), "certificate": {**release.certificate, name: value}}).verify()
    for path in places(release.certificate["charges"], ("charges",)):
        if (
            path[-1] in ("sigma", "epsilon", "delta")
            or path[-2:-1] == ("scales",)
            or path[-2:-1] == ("weights",)
        ):
            certificate = copy.deepcopy(dict(release.certificate))
            put(certificate, path, value)
            try:
                verdict = us.Release(**{**fields(release), "certificate": certificate}).verify()
            except ReleaseError:
                continue
            assert not verdict.holds, path


def fields(release: us.Release) -> dict[str, Any]:
    return {name: getattr(release, name) for name in release.__dataclass_fields__}


def test_a_release_without_charges_does_not_hold(sealed: Sealed) -> None:
    verdict = sealed.verify(lambda header: charges(header).clear())
    assert verdict is None or not verdict.holds
    for number in range(len(charges(sealed.header))):
        if charges(sealed.header)[number].get("stage") in (
            "one-way",
            "two-way",
            "tables",
            "groups",
            "measure",
        ):
            verdict = sealed.verify(lambda header, number=number: charges(header).pop(number))
            assert verdict is None or not verdict.holds


def test_noise_forged_ten_times_larger_does_not_hold(sealed: Sealed) -> None:
    """Scales, losses and the claim all forged together: what the release holds gives it away."""
    release = sealed.load(sealed.header)
    if not release.measurements:
        pytest.skip("its noisy counts are in no measurement")

    def boast(header: Any) -> None:
        certificate = header["sections"]["certificate"]
        for said in (certificate, *certificate["parts"]):
            said["epsilon"] /= 10
        certificate.pop("statement")
        for charge in charges(header):
            charge["scales"] = [10 * scale for scale in charge.get("scales", [])]
            for loss in charge["losses"]:
                for name, factor in (("sigma", 10), ("epsilon", 0.1)):
                    if name in loss:
                        loss[name] *= factor
            if "epsilon" in charge:
                charge["epsilon"] = charge["losses"][0]["epsilon"]
            if "threshold" in charge:
                charge["threshold"] *= 10

    verdict = sealed.verify(boast)
    assert verdict is not None and not verdict.holds


def test_a_smaller_claim_does_not_hold(sealed: Sealed) -> None:
    def boast(header: Any) -> None:
        certificate = header["sections"]["certificate"]
        certificate["epsilon"] *= 0.99
        certificate.pop("statement")
        for part in certificate["parts"]:
            part["epsilon"] *= 0.99

    verdict = sealed.verify(boast)
    assert verdict is not None and not verdict.holds and "costs" in verdict.why


def test_a_sentence_that_says_less_than_the_numbers_does_not_hold(sealed: Sealed) -> None:
    def boast(header: Any) -> None:
        said = header["sections"]["certificate"]
        said["statement"] = said["statement"].replace("epsilon 2.0", "epsilon 0.2")

    verdict = sealed.verify(boast)
    assert verdict is not None and not verdict.holds and "statement" in verdict.why


def test_a_measurement_more_than_was_charged_does_not_hold(sealed: Sealed) -> None:
    release = sealed.load(sealed.header)
    if not release.measurements:
        pytest.skip("it holds none")
    first = release.measurements[0]
    finer = us.Measurement(first.clique, first.values, first.stddev / 3, first.query)
    for more in ((*release.measurements, first), (finer, *release.measurements[1:])):
        assert not us.Release(**{**fields(release), "measurements": more}).verify().holds


def test_a_charge_of_a_question_that_is_not_known_does_not_hold(sealed: Sealed) -> None:
    def unknown(header: Any) -> None:
        charges(header).append({**charges(header)[0], "question": "exact counts", "losses": []})

    verdict = sealed.verify(unknown)
    assert verdict is None or not verdict.holds


def test_a_charge_whose_losses_were_taken_away_does_not_hold(sealed: Sealed) -> None:
    for number in range(len(charges(sealed.header))):
        for losses in ([], charges(sealed.header)[number]["losses"][1:]):

            def bare(header: Any, number: int = number, losses: Any = losses) -> None:
                charges(header)[number]["losses"] = losses

            verdict = sealed.verify(bare)
            assert verdict is None or not verdict.holds
