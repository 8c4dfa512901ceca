"""A check that no bug can fail protects nobody: each bug below is planted in the product, and caught."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import product_checks as checks
import pytest
from planting import Suite, run

from understudy.data.engines import table as data_table
from understudy.marginals.interactions import Interactions
from understudy.privacy.accounting import budget, calibration, losses, spending
from understudy.privacy.accounting.budget import Neighbours
from understudy.privacy.accounting.losses import Gaussian
from understudy.privacy.curator import (
    curator_session,
    discovery,
    misfit,
    noisy_distances,
    noisy_marginals,
    private_choice,
    question_checks,
)
from understudy.privacy.curator.curator import Curator
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.noisy_marginals import MarginalsQuestion
from understudy.privacy.ledger import ledger
from understudy.privacy.noise import cumulative_table as noise_table
from understudy.privacy.noise import exponential_mechanism, randomness

GAUSSIAN = noisy_marginals.discrete_gaussian
SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


# -- noise ---------------------------------------------------------------------------------------------


@caught_by(checks.check_released_noise_follows_its_stated_scale)
def half_of_the_stated_noise(patch):
    def half(scale, size, source):
        return GAUSSIAN(scale / 2, size, source)

    patch.setattr(noisy_marginals, "discrete_gaussian", half)


@caught_by(checks.check_released_noise_follows_its_stated_scale)
def noise_a_little_short(patch):
    def short(scale, size, source):
        return GAUSSIAN(scale * 0.985, size, source)

    patch.setattr(noisy_marginals, "discrete_gaussian", short)


@caught_by(checks.check_released_noise_follows_its_stated_scale)
def noise_only_where_there_are_records(patch):
    def noisy(self, counts, source, price):
        return [
            exact + (exact > 0) * GAUSSIAN(scale, exact.size, source)
            for exact, scale in zip(counts.tables(self.batch), price.scales, strict=True)
        ]

    patch.setattr(MarginalsQuestion, "_noisy", noisy)


@caught_by(checks.check_released_noise_follows_its_stated_scale)
def zero_counted_twice(patch):
    weights = noise_table._weights

    def twice(law):
        lower, upper, tail = weights(law)
        return [2 * lower[0], *lower[1:]], [2 * upper[0], *upper[1:]], tail

    patch.setattr(noise_table, "_weights", twice)


@caught_by(checks.check_released_noise_follows_its_stated_scale)
def noise_that_is_never_negative(patch):
    def positive(scale, size, source):
        return np.abs(GAUSSIAN(scale, size, source))

    patch.setattr(noisy_marginals, "discrete_gaussian", positive)


@caught_by(checks.check_interactions_have_the_noise_of_what_one_unit_moves)
def interactions_that_a_record_moves_by_less(patch):
    patch.setattr(Interactions, "squared_move", property(lambda query: query.cells * (query.cells // 4)))


@caught_by(checks.check_interactions_have_the_noise_of_what_one_unit_moves)
def interactions_of_a_replaced_record_as_of_an_added_one(patch):
    patch.setattr(
        noisy_marginals, "reach", lambda query, neighbours: neighbours.records * math.sqrt(query.squared_move)
    )


@caught_by(checks.check_interactions_have_the_noise_of_what_one_unit_moves)
def interactions_of_several_records_as_of_one(patch):
    patch.setattr(noisy_marginals, "reach", lambda query, neighbours: math.sqrt(query.squared_move))


@caught_by(checks.check_distances_have_the_noise_of_all_moving_at_once)
def half_of_the_noise_of_distances(patch):
    def half(scale, size, source):
        return GAUSSIAN(scale / 2, size, source)

    patch.setattr(noisy_distances, "discrete_gaussian", half)


@caught_by(checks.check_distances_have_the_noise_of_all_moving_at_once)
def distances_as_if_a_record_were_in_one_of_them(patch):
    patch.setattr(noisy_distances, "normalised", lambda weights: (1.0,) * len(weights))


@caught_by(checks.check_distances_have_the_noise_of_all_moving_at_once)
def distances_that_a_replaced_record_moves_by_one(patch):
    patch.setattr(noisy_distances, "distance_reach", lambda cliques, l1: noisy_distances.PARTS * cliques)


@caught_by(checks.check_released_counts_are_integers)
def float_noise(patch):
    def normal(scale, size, source):
        return np.random.default_rng().normal(0, scale, size)

    def unpack(answer, sizes):
        return np.split(np.frombuffer(answer), np.cumsum(sizes)[:-1])

    patch.setattr(noisy_marginals, "discrete_gaussian", normal)
    patch.setattr(noisy_marginals, "pack", lambda arrays: np.concatenate(arrays).tobytes())
    patch.setattr(noisy_marginals, "unpack", unpack)


@caught_by(checks.check_released_tails_are_whole)
def tails_cut_at_four_scales(patch):
    def cut(scale, size, source):
        return np.clip(GAUSSIAN(scale, size, source), -int(4 * scale), int(4 * scale))

    patch.setattr(noisy_marginals, "discrete_gaussian", cut)


@caught_by(checks.check_released_tails_are_whole)
def a_table_that_ends_too_soon(patch):
    weights = noise_table._weights

    def short(law):
        lower, upper, tail = weights(law)
        kept = max(1, len(lower) * 9 // 40)
        return lower[:kept], upper[:kept], tail

    patch.setattr(noise_table, "_weights", short)


@caught_by(checks.check_totals_are_noisy)
def exact_number_of_records_used(patch):
    def balanced(scale, size, source):
        noise = GAUSSIAN(scale, size, source)
        noise[0] -= noise.sum()
        return noise

    patch.setattr(noisy_marginals, "discrete_gaussian", balanced)


@caught_by(checks.check_no_noise_is_used_twice)
def noise_reused(patch):
    kept: dict[Any, np.ndarray] = {}

    def once(scale, size, source):
        return kept.setdefault((scale, size), GAUSSIAN(scale, size, source))

    patch.setattr(noisy_marginals, "discrete_gaussian", once)


@caught_by(checks.check_no_seed_reaches_the_noise)
def randomness_from_a_global_generator(patch):
    def words(self, count):
        return np.frombuffer(np.random.bytes(8 * count), dtype=np.uint64)  # noqa: NPY002

    patch.setattr(randomness.OperatingSystem, "words", words)


# -- calibration and sensitivity -----------------------------------------------------------------------


@caught_by(checks.check_audit_proves_no_more_than_the_claim)
def half_sigma_stated_and_drawn(patch):
    scales = Gaussian.scales.fget
    patch.setattr(Gaussian, "scales", property(lambda self: tuple(scale / 2 for scale in scales(self))))


@caught_by(checks.check_audit_of_weighted_batches)
def weights_not_normalised(patch):
    def raw(weights):
        return tuple(float(weight) for weight in weights)

    for module in (losses, calibration, question_checks):
        patch.setattr(module, "normalised", raw)


@caught_by(checks.check_audit_of_replaced_records)
def replaced_records_treated_as_added(patch):
    patch.setattr(Neighbours, "l2", property(lambda self: float(self.records)))


@caught_by(checks.check_audit_of_units_with_several_records)
def units_treated_as_records(patch):
    patch.setattr(Neighbours, "l2", property(lambda self: 1.0))


@caught_by(checks.check_audit_proves_no_more_than_the_claim)
def budget_spent_thrice(patch):
    commit = spending.Allowance.commit

    def generous(self, groups):
        patched = budget.Budget(3 * self.left.epsilon, self.left.delta)
        after, found = commit(spending.replace(self, budget=patched), groups)
        return spending.replace(after, budget=self.budget), found

    patch.setattr(spending.Allowance, "commit", generous)


@caught_by(checks.check_units_contribute_no_more_than_declared)
def units_not_bounded(patch):
    patch.setattr(data_table, "bound_records", lambda units, contents, most: np.ones(len(units), dtype=bool))


@caught_by(checks.check_neighbours_stay_as_close_as_declared)
def domain_read_from_the_records(patch):
    def cropped(self):
        columns = self._engine.columns
        return self._engine.domain.resize(
            {name: int(max(codes, default=0)) + 1 for name, codes in columns.items()}
        )

    def counted(self, batch):
        return [
            marginal.counts[tuple(slice(self.domain[name]) for name in marginal.clique)].reshape(-1)
            for marginal in self._engine.count(batch)
        ]

    patch.setattr(Curator, "domain", property(cropped))
    patch.setattr(ExactCounts, "tables", counted)


# -- choice --------------------------------------------------------------------------------------------


@caught_by(checks.check_choices_follow_half_the_exponent)
def choice_without_its_one_half(patch):
    rate = exponential_mechanism._rate
    patch.setattr(exponential_mechanism, "_rate", lambda epsilon, sensitivity: 2 * rate(epsilon, sensitivity))


@caught_by(checks.check_choices_follow_half_the_exponent)
def choice_blind_to_its_neighbours(patch):
    patch.setattr(Neighbours, "l1", property(lambda self: 1))


@caught_by(checks.check_choices_follow_half_the_exponent)
def choice_of_the_best(patch):
    patch.setattr(
        private_choice, "choose", lambda scores, epsilon, sensitivity, source: int(np.argmax(scores))
    )


@caught_by(checks.check_scores_are_exact_integers_of_sensitivity_one)
def estimates_not_rounded(patch):
    def unrounded(self, clique):
        return np.asarray(self._estimates(clique), dtype=np.float64).reshape(-1)

    patch.setattr(misfit.Rounded, "_round", unrounded)


@caught_by(checks.check_scores_are_exact_integers_of_sensitivity_one)
def scores_of_squared_error(patch):
    patch.setattr(private_choice, "misfit", lambda counts, expected: int(((counts - expected) ** 2).sum()))


# -- discovery, ledger, certificate --------------------------------------------------------------------


@caught_by(checks.check_rare_values_are_not_named)
def values_named_without_a_threshold(patch):
    patch.setattr(discovery, "laplace_threshold", lambda scale, delta, neighbours: 1)


@caught_by(checks.check_the_charge_is_on_disk_before_the_count)
def charge_after_the_draw(patch):
    opened = ledger.Ledger.open

    class Late:
        """A page that pays for its job only when it has an answer to store."""

        def __init__(self, *job, private):
            self.open = lambda: opened(*job, private=private)

        def charge(self, number, question):
            self.question = question

        def stored(self, number):
            return False

        def store(self, number, answer):
            page = self.open()
            page.charge(number, self.question)
            return page.store(number, answer)

    patch.setattr(ledger.Ledger, "open", lambda *job, private=True: Late(*job, private=private))


@caught_by(checks.check_overspending_is_refused)
def limits_not_kept(patch):
    patch.setattr(ledger, "_afford", lambda account, asked: None)


@caught_by(checks.check_a_job_done_twice_draws_once)
def stored_answers_ignored(patch):
    charge = ledger.LedgerTranscript.charge

    def forgetful(self, number, question):
        charge(self, number, question)

    patch.setattr(ledger.LedgerTranscript, "charge", forgetful)
    patch.setattr(ledger.LedgerTranscript, "store", lambda self, number, answer: answer)


@caught_by(checks.check_seeded_noise_is_stamped)
def seeded_noise_not_stamped(patch):
    certify = curator_session.certify

    def trusting(allowance, charges, private):
        return certify(allowance, charges, private=True)

    patch.setattr(curator_session, "certify", trusting)


@caught_by(checks.check_the_certificate_adds_up)
def a_budget_that_never_ends(patch):
    patch.setattr(spending.Allowance, "left", property(lambda self: self.budget))


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_bugs_are_planted_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 29
    assert not SUITE.idle()
