"""The bugs that would let a release pass for what it is not, planted one by one; each is caught."""

from __future__ import annotations

import hashlib
import os
from types import SimpleNamespace

import pytest
import release_checks as checks
from planting import Suite, run

from understudy.pipeline import charged, release, release_file
from understudy.privacy.curator import verification
from understudy.privacy.ledger import append_only_log, high_water_mark

SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


@caught_by(checks.check_what_is_no_number_does_not_verify)
def scales_compared_so_that_nan_passes(patch):
    def same(drawn, due):
        if any(scale < least for scale, least in zip(drawn, due, strict=True)):
            raise verification.ReleaseError("less noise than was charged")

    patch.setattr(verification, "_same", same)
    patch.setattr(verification, "positive", lambda name, value: float(value))
    patch.setattr(release, "check_charged", lambda *given: None)


@caught_by(checks.check_what_is_no_number_does_not_verify)
def costs_compared_so_that_nan_passes(patch):
    patch.setattr(verification, "positive", lambda name, value: 1e9 if value != value else float(value))  # noqa: PLR0124
    patch.setattr(verification, "exact", lambda value: verification.Fraction(0))


@caught_by(checks.check_less_noise_than_was_charged_does_not_verify)
def scales_never_compared(patch):
    patch.setattr(verification, "_same", lambda drawn, due: None)
    patch.setattr(release, "check_charged", lambda *given: None)


@caught_by(checks.check_more_noise_than_was_charged_does_not_verify)
def certificate_believed_whatever_the_release_holds(patch):
    patch.setattr(release, "check_charged", lambda *given: None)


@caught_by(checks.check_more_noise_than_was_charged_does_not_verify)
def noise_of_a_measurement_never_compared(patch):
    patch.setattr(charged, "_has_noise", lambda measured, stddev, compression: True)


@caught_by(checks.check_every_measurement_is_paid_for)
def measurements_never_looked_for_among_charges(patch):
    patch.setattr(charged, "_paying", lambda measured, answers, compression: [charged.Answer(0, 1.0, None)])


@caught_by(checks.check_a_charge_has_the_losses_of_its_question)
def losses_of_a_choice_never_compared(patch):
    patch.setitem(verification._QUESTIONS, "choose", lambda charge, losses, neighbours: None)


@caught_by(checks.check_a_claim_below_its_charges_does_not_verify)
def costs_never_compared(patch):
    patch.setattr(verification, "_cost", lambda losses, rule, delta: 0.0)


@caught_by(checks.check_a_sample_of_seeded_noise_says_so)
def seeded_noise_sampled_in_silence(patch):
    patch.setattr(release.Release, "warn_not_private", lambda self: None)


class _Anything(bytes):
    """Bytes that are the same as any other."""

    def __ne__(self, other):
        return False


@caught_by(checks.check_a_changed_release_is_refused)
def digest_of_a_release_never_compared(patch):
    class Trusting:
        def __init__(self, content=b""):
            self.found = hashlib.sha256(content)
            self.update = self.found.update

        def digest(self):
            return _Anything(self.found.digest())

    patch.setattr(release_file, "hashlib", SimpleNamespace(sha256=Trusting))


@caught_by(checks.check_a_ledger_is_its_owners_alone)
def mark_that_everybody_can_read(patch):
    opened = os.open

    def open_to_all(path, flags, mode=0o777):
        return opened(path, flags, 0o666)

    append = high_water_mark.HighWaterMark._append

    def loose(self, line):
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(high_water_mark.os, "open", open_to_all)
            append(self, line)

    patch.setattr(high_water_mark.HighWaterMark, "_append", loose)


@caught_by(checks.check_a_ledger_is_its_owners_alone)
def ledger_that_everybody_can_read(patch):
    make = append_only_log.AppendOnlyLog._make

    def loose(self):
        self.path.touch(0o666)
        make(self)

    patch.setattr(append_only_log.AppendOnlyLog, "_make", loose)


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_bugs_are_planted_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 12
    assert not SUITE.idle()
