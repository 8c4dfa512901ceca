"""What must hold of what is handed on: a forged certificate does not verify, and a release of a test says so.

As `product_checks`; `test_release_mutations` plants the bugs.
"""

from __future__ import annotations

import json
import math
import os
import stat
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import understudy as us
from understudy.domain.columns.integer import Integer
from understudy.domain.schema import Schema
from understudy.errors import ReleaseError
from understudy.pipeline.drawing.samples import NotPrivateWarning
from understudy.privacy import Ledger, Seeded

SCHEMA = Schema({name: Integer(min=0, max=3) for name in "abc"}, name="people")
TABLE = pa.table({"a": [0, 1, 2] * 50, "b": [0, 1, 1] * 50, "c": [3, 2, 1] * 50})


def _release(folder: Path, **settings: Any) -> us.Release:
    return us.fit(TABLE, SCHEMA, epsilon=1.0, delta=1e-6, ledger=folder / "ledger.sqlite", **settings)


@cache
def _known(folder: Path) -> us.Release:
    return _release(folder, mechanism="mst")  # which chooses, however few the records are


# -- forged certificates -----------------------------------------------------------------------------------

Forge = Callable[[dict[str, Any]], None]


def _holds(folder: Path, forge: Forge) -> bool:
    """Whether a release still verifies once its certificate is forged."""
    true = _known(folder)
    assert true.verify().holds
    certificate = json.loads(json.dumps(true.certificate))
    forge(certificate)
    return replace(true, certificate=certificate).verify().holds


def _first(certificate: dict[str, Any], question: str) -> dict[str, Any]:
    return next(charge for charge in certificate["charges"] if charge["question"] == question)


def check_what_is_no_number_does_not_verify(folder: Path) -> None:
    """A comparison with NaN is false both ways round: none may stand where it lets a claim pass."""

    def scale(certificate: dict[str, Any]) -> None:
        _first(certificate, "measure")["scales"][0] = math.nan

    def sigma(certificate: dict[str, Any]) -> None:
        _first(certificate, "measure")["losses"][0]["sigma"] = math.nan

    def budget(certificate: dict[str, Any]) -> None:
        certificate["parts"][0]["epsilon"] = math.nan

    for forge in (scale, sigma, budget):
        try:
            assert not _holds(folder, forge), f"NaN for a {forge.__name__} verifies"
        except ReleaseError:
            continue


def check_less_noise_than_was_charged_does_not_verify(folder: Path) -> None:
    def quieter(certificate: dict[str, Any]) -> None:
        _first(certificate, "measure")["scales"][0] *= 0.5

    assert not _holds(folder, quieter), "half of the noise verifies"


def check_more_noise_than_was_charged_does_not_verify(folder: Path) -> None:
    """Whoever boasts of ten times the noise, in all places that say so, claims a release that this one is not."""

    def louder(certificate: dict[str, Any]) -> None:
        for charge in certificate["charges"]:
            if charge["question"] == "measure":
                charge["scales"] = [10 * scale for scale in charge["scales"]]
                charge["losses"][0]["sigma"] *= 10

    assert not _holds(folder, louder), "ten times the noise that was drawn verifies"


def check_every_measurement_is_paid_for(folder: Path) -> None:
    """Without charges, or with one of them struck out, nothing that was measured verifies."""

    def none(certificate: dict[str, Any]) -> None:
        certificate["charges"] = []

    def fewer(certificate: dict[str, Any]) -> None:
        certificate["charges"].remove(_first(certificate, "measure"))

    def other(certificate: dict[str, Any]) -> None:
        _first(certificate, "measure")["cliques"][0] = ["z"]

    for forge in (none, fewer, other):
        assert not _holds(folder, forge), f"{forge.__name__}: a measurement that no charge pays for verifies"


def check_a_charge_has_the_losses_of_its_question(folder: Path) -> None:
    """A choice that is charged as anything but one choice, at its own epsilon, does not verify."""
    slack = {"kind": "slack", "delta": 1e-20}

    def several(certificate: dict[str, Any]) -> None:
        _first(certificate, "choose")["losses"][0]["count"] = 2

    def another(certificate: dict[str, Any]) -> None:
        _first(certificate, "choose")["losses"][0]["kind"] = "laplace"

    def more(certificate: dict[str, Any]) -> None:
        _first(certificate, "choose")["losses"].append(slack)
        certificate["slack"] += slack["delta"]

    def smaller(certificate: dict[str, Any]) -> None:
        _first(certificate, "choose")["losses"][0]["epsilon"] /= 2

    for forge in (several, another, more, smaller):
        assert not _holds(folder, forge), f"{forge.__name__}: a choice with other losses verifies"


def check_a_claim_below_its_charges_does_not_verify(folder: Path) -> None:
    def smaller(certificate: dict[str, Any]) -> None:
        for place in (certificate, *certificate["parts"]):
            place["epsilon"] = 0.5
        certificate["statement"] = certificate["statement"].replace("epsilon 1.0", "epsilon 0.5")

    assert not _holds(folder, smaller), "a smaller epsilon than was spent verifies"


# -- a release of a test ---------------------------------------------------------------------------------


def check_a_sample_of_seeded_noise_says_so(folder: Path) -> None:
    release = _release(folder, source=Seeded(1))
    release.save(folder / "seeded.release")
    for found in (release, us.load(folder / "seeded.release")):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.sample(5)
        assert any(issubclass(one.category, NotPrivateWarning) for one in said), "NOT PRIVATE goes unsaid"
        assert "NOT PRIVATE" in repr(found)


# -- files -----------------------------------------------------------------------------------------------


def check_a_changed_release_is_refused(folder: Path) -> None:
    path = folder / "people.release"
    _known(folder).save(path)
    whole = path.read_bytes()
    for place in (len(whole) // 3, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            us.load(path)
        except ReleaseError:
            continue
        raise AssertionError("a file of which a bit was changed is loaded")


def check_a_ledger_is_its_owners_alone(folder: Path) -> None:
    """What was asked of whose records is nobody else's business."""
    path = folder / "ours" / "ledger.sqlite"
    before = os.umask(0)
    try:
        Ledger(path).set_limit("people", 1.0, 1e-6)
    finally:
        os.umask(before)
    for place in (path, path.with_name("ledger.sqlite.mark"), path.parent):
        assert not stat.S_IMODE(place.stat().st_mode) & 0o077, f"{place.name} can be read by others"
