"""The bugs that a whole run could have, planted one by one; each is caught."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pipeline_checks as checks
import pytest
from planting import Suite, run

from understudy.pipeline import learning, release, synthesizer
from understudy.pipeline.sources import run_job
from understudy.pipeline.sources.in_memory import InMemory
from understudy.privacy import Seeded
from understudy.privacy.curator.curator import Curator
from understudy.privacy.curator.discovery import DiscoveryQuestion
from understudy.privacy.curator.noisy_marginals import MarginalsQuestion
from understudy.privacy.ledger import accounts
from understudy.privacy.noise import randomness

SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


# -- randomness ------------------------------------------------------------------------------------------


@caught_by(checks.check_no_variable_of_the_environment_reaches_the_noise)
def seed_from_the_environment(patch):
    def words(self, count):
        seed = os.environ.get("UNDERSTUDY_DEBUG_SEED")
        drawn = os.urandom(8 * count) if seed is None else np.random.default_rng(int(seed)).bytes(8 * count)
        return np.frombuffer(drawn, dtype=np.uint64)

    patch.setattr(randomness.OperatingSystem, "words", words)


@caught_by(checks.check_no_variable_of_the_environment_reaches_the_noise)
def seeded_source_where_a_variable_is_set(patch):
    def source():
        return Seeded(1) if "PYTEST_NOISE" in os.environ else randomness.OperatingSystem()

    patch.setattr(synthesizer, "OperatingSystem", source)


@caught_by(checks.check_no_variable_of_the_environment_reaches_the_noise)
def a_variable_is_only_looked_at(patch):
    words = randomness.OperatingSystem.words

    def looking(self, count):
        os.getenv("UNDERSTUDY_TRACE")
        return words(self, count)

    patch.setattr(randomness.OperatingSystem, "words", looking)


def _with_source(patch, path, text):
    known = checks.sources()
    patch.setattr(checks, "sources", lambda: known | {path: known[path] + text})


@caught_by(checks.check_the_environment_and_seeds_are_named_where_they_must_be_alone)
def seed_read_when_a_module_is_imported(patch):
    _with_source(patch, "privacy/noise/randomness.py", "\n_SEED = os.getenv('UNDERSTUDY_SEED')\n")


@caught_by(checks.check_the_environment_and_seeds_are_named_where_they_must_be_alone)
def seeded_noise_in_a_mechanism(patch):
    _with_source(patch, "mechanisms/mst.py", "\nfrom understudy.privacy.noise.randomness import Seeded\n")


@caught_by(checks.check_the_environment_and_seeds_are_named_where_they_must_be_alone)
def generator_of_its_own_in_the_noise(patch):
    _with_source(patch, "privacy/noise/discrete_noise.py", "\n_rng = np.random.default_rng()\n")


# -- the number of records -------------------------------------------------------------------------------


@caught_by(checks.check_nothing_that_is_said_depends_on_the_number_of_records)
def exact_number_of_records_in_the_certificate(patch):
    over, certificate = Curator.over, Curator.certificate

    def counted(self, engine):
        found = over(self, engine)
        self._session.records = len(engine)
        return found

    def telling(self):
        return certificate(self) | {"records": self._session.records}

    patch.setattr(Curator, "over", counted)
    patch.setattr(Curator, "certificate", telling)


@caught_by(checks.check_nothing_that_is_said_depends_on_the_number_of_records)
def size_of_the_table_in_the_certificate(patch):
    """Not the number itself: something that gives it away."""
    open_ = synthesizer.open_records
    warn = synthesizer.warnings
    sizes = []

    def opened(data, reading):
        found = open_(data, reading)
        sizes.append(found.table.nbytes // 1000)
        return found

    patch.setattr(synthesizer, "open_records", opened)
    patch.setattr(synthesizer, "warnings", lambda *given, **more: [*warn(*given, **more), f"{sizes[-1]} kB"])


@caught_by(checks.check_nothing_that_is_said_depends_on_the_number_of_records)
def exact_number_of_records_in_the_ledger(patch):
    add = run_job.Job
    check = synthesizer.check_columns
    seen = []

    def checked(found, schema):
        seen.append(found.table.num_rows)
        return check(found, schema)

    patch.setattr(synthesizer, "check_columns", checked)
    patch.setattr(run_job, "Job", lambda name, print_, title: add(name, print_, f"{title} of {seen[-1]}"))


@caught_by(checks.check_no_text_holds_the_number_of_records)
def exact_number_of_records_in_the_learned_schema(patch):
    learn = learning.learn

    def telling(schema, curator, encode, *given, **more):
        learned = learn(schema, curator, encode, *given, **more)
        return replace(learned, rows=len(encode(learned)))

    patch.setattr(learning, "learn", telling)


@caught_by(checks.check_the_rows_of_a_release_are_noisy)
def rows_of_a_release_counted_exactly(patch):
    encode = InMemory.encode
    exact = []

    def counted(self, schema):
        exact.append(self.table.num_rows)
        return encode(self, schema)

    patch.setattr(InMemory, "encode", counted)
    patch.setattr(release.Release, "rows", property(lambda self: exact[-1]))


# -- what is learned -------------------------------------------------------------------------------------


def _exactly(curator, engine, loss):
    return {
        name: learning.NoisyCounts(engine.count([(name,)])[0].counts.astype(float), 10.0)
        for name in engine.domain
    }


@caught_by(checks.check_records_are_counted_behind_the_door_alone)
def bounds_and_bins_learned_from_exact_counts(patch):
    patch.setattr(learning, "_measure", _exactly)


@caught_by(checks.check_what_is_learned_is_drowned_where_noise_is_large)
def bounds_learned_from_exact_counts_however_small(patch):
    patch.setattr(learning, "_measure", _exactly)


@caught_by(checks.check_what_is_learned_moves_with_the_noise)
def bounds_and_bins_learned_without_noise(patch):
    """Charged, asked, and answered by the exact counts."""
    noisy = MarginalsQuestion._noisy

    def bare(self, counts, source, price):
        exact = counts.tables(self.batch)
        return exact if exact[0].size > 40 else noisy(self, counts, source, price)

    patch.setattr(MarginalsQuestion, "_noisy", bare)


@caught_by(checks.check_what_is_learned_is_drowned_where_noise_is_large)
def bounds_read_from_the_records(patch):
    learn = learning.learn

    def looking(schema, curator, encode, *given, **more):
        records_ = curator._engine.records.table
        found = {
            name: replace(column, min=int(min(records_[name].to_pylist())))
            for name, column in schema.columns.items()
            if name == "a"
        }
        return learn(schema.with_columns(found), curator, encode, *given, **more)

    patch.setattr(learning, "learn", looking)


@caught_by(checks.check_what_is_learned_is_drowned_where_noise_is_large)
def values_named_whatever_their_noise(patch):
    def named(self, counts, source, price):
        return sorted(counts.values(self.column))

    patch.setattr(DiscoveryQuestion, "_named", named)


@caught_by(checks.check_types_of_text_are_learned_with_noise)
def types_learned_from_exact_votes(patch):
    patch.setattr(learning, "_measure", _exactly)


# -- jobs ------------------------------------------------------------------------------------------------


@caught_by(checks.check_another_run_is_another_job)
def fingerprint_without_the_mechanism(patch):
    digest = run_job._digest
    patch.setattr(run_job, "_digest", lambda words: digest({**words, "mechanism": None}))


@caught_by(checks.check_another_run_is_another_job)
def every_run_a_new_job(patch):
    patch.setattr(run_job, "_digest", lambda words: os.urandom(8).hex())


@caught_by(checks.check_a_limit_holds_for_the_public_door)
def jobs_of_a_table_not_added_up(patch):
    def last(self):
        jobs = [(accounts.exact(job.epsilon), accounts.exact(job.delta)) for job in self.jobs.values()]
        return (jobs or [(accounts.Fraction(0), accounts.Fraction(0))])[-1]

    patch.setattr(accounts.Account, "spent", property(last))


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_bugs_are_planted_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 20
    assert not SUITE.idle()
