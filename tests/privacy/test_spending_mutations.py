"""The bugs that budgets and their books could have, planted one by one; each is caught."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import spending_checks as checks
from planting import Suite, run

from understudy.privacy.accounting import filters, losses, spending, zcdp
from understudy.privacy.accounting.composition import compose
from understudy.privacy.accounting.losses import Choice, Gaussian
from understudy.privacy.curator import (
    curator_session,
    noisy_marginals,
    question_checks,
    thresholded_histogram,
    verification,
)
from understudy.privacy.ledger import append_only_log, hash_chain, high_water_mark
from understudy.privacy.ledger.append_only_log import AppendOnlyLog

SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


# -- slack -----------------------------------------------------------------------------------------------


@caught_by(checks.check_slack_stays_within_its_share)
def slack_never_checked(patch):
    for module in (spending, noisy_marginals):
        patch.setattr(module, "check_slack", lambda slack, budget: None)


@caught_by(checks.check_slack_stays_within_its_share)
def slack_of_one_batch_never_checked(patch):
    patch.setattr(noisy_marginals, "check_slack", lambda slack, budget: None)


@caught_by(checks.check_slack_stays_within_its_share)
def slack_of_a_plan_forgotten_after_each_question(patch):
    charge = spending.PlannedSpending.charge

    def forgetful(self, asked, loss, slack):
        return spending.replace(charge(self, asked, loss, slack), slack=0.0)

    patch.setattr(spending.PlannedSpending, "charge", forgetful)


@caught_by(checks.check_a_filter_of_a_plan_gives_no_more_than_its_share)
def a_filter_that_forgets_what_it_was_charged(patch):
    charge = spending.FilteredSpending.charge

    def forgetful(self, asked, loss, slack):
        return replace(charge(self, asked, loss, slack), taken=0.0, spent=self.spent)

    patch.setattr(spending.FilteredSpending, "charge", forgetful)


@caught_by(checks.check_a_filter_of_a_plan_gives_no_more_than_its_share)
def a_filter_that_does_not_count_choices(patch):
    charge = spending.FilteredSpending.charge

    def generous(self, asked, loss, slack):
        after = charge(self, asked, loss, slack)
        return replace(after, taken=self.taken) if isinstance(loss, Choice) else after

    patch.setattr(spending.FilteredSpending, "charge", generous)


@caught_by(checks.check_a_filter_of_a_plan_gives_no_more_than_its_share)
def a_filter_of_twice_its_share(patch):
    made = spending.FilteredSpending

    def doubled(budget, spent, listed, reserved):
        return made(budget, spent, listed, 2 * reserved)

    patch.setattr(spending, "FilteredSpending", doubled)


@caught_by(checks.check_nobody_gets_a_larger_weight_than_was_promised)
def a_promise_that_nobody_holds_to(patch):
    patch.setattr(spending, "_within_largest", lambda planned, loss: True)
    patch.setattr(question_checks, "within_largest", lambda weights, largest: None)


@caught_by(checks.check_nobody_gets_a_larger_weight_than_was_promised)
def a_promise_that_grows_with_the_portion(patch):
    patch.setattr(losses.GaussianPortion, "largest", property(lambda self: 1.0))
    patch.setattr(spending, "_within_largest", lambda planned, loss: True)


@caught_by(checks.check_noise_is_never_below_what_was_charged)
def scales_rounded_down(patch):
    def down(scales):
        return [math.nextafter(scale, 0) for scale in scales]

    patch.setattr(noisy_marginals, "rounded_up", down)


@caught_by(checks.check_noise_is_never_below_what_was_charged)
def laplace_scales_rounded_down(patch):
    def down(epsilon, neighbours):
        return neighbours.l1 / epsilon * (1 - 2.0**-50)

    for module in (noisy_marginals, thresholded_histogram):
        patch.setattr(module, "laplace_scale", down)


@caught_by(checks.check_a_filter_fixes_its_limits_beforehand)
def slack_of_a_filter_chosen_after_looking(patch):
    """The rule that it had: what slack leaves of delta is there for rho, whenever it is asked."""

    def limit(self):
        return zcdp.rho(self.budget.epsilon, self.budget.delta - self.slack)

    def admits(self, losses):
        after = filters.Filter(self.budget, (*self.losses, *losses))
        return after.slack < self.budget.delta and after.spent <= after.limit

    patch.setattr(filters.Filter, "limit", property(limit))
    patch.setattr(filters.Filter, "admits", admits)


@caught_by(checks.check_a_filter_fixes_its_limits_beforehand)
def slack_of_a_filter_counted_in_one_world(patch):
    patch.setattr(filters, "_fits", lambda slack, delta: slack <= delta * filters.SET_ASIDE)


@caught_by(checks.check_a_filter_counts_every_kind_of_loss)
def discoveries_cost_a_filter_nothing(patch):
    patch.setattr(losses.Approximate, "rho", property(lambda self: 0.0))


@caught_by(checks.check_a_filter_counts_every_kind_of_loss)
def choices_cost_a_filter_a_sixteenth(patch):
    patch.setattr(losses.Choice, "rho", property(lambda self: self.count * self.epsilon**2 / 16))


@caught_by(checks.check_filters_are_recomputed_as_filters)
def filters_recomputed_as_plans(patch):
    patch.setattr(verification, "filtered_epsilon", lambda losses, delta: compose(losses).epsilon(delta))


@caught_by(checks.check_choices_keep_the_order_of_their_plan)
def choices_asked_in_any_order(patch):
    patch.setattr(spending.PlannedSpending, "_reach", lambda self, place: 0)


# -- the door --------------------------------------------------------------------------------------------


@caught_by(checks.check_no_foreign_code_meets_exact_counts)
def subclass_of_a_query_admitted(patch):
    patch.setattr(question_checks, "_query", lambda domain, clique, query: query)


@caught_by(checks.check_a_loss_is_what_it_was_when_it_was_checked)
def subclass_of_a_loss_admitted(patch):
    def as_it_is(allowance, budget, weights, sizes, queries):
        found = price(allowance, Gaussian(budget.sigma, budget.weights), weights, sizes, queries)
        return replace(found, scales=budget.scales) if type(budget) is not Gaussian else found

    price = noisy_marginals.price_batch
    patch.setattr(noisy_marginals, "plain_value", lambda given, *kinds: given)
    patch.setattr(noisy_marginals, "price_batch", as_it_is)


@caught_by(checks.check_no_question_is_asked_inside_another)
def question_inside_a_question_admitted(patch):
    patch.setattr(curator_session.CuratorSession, "turn", lambda self: self._lock)


@caught_by(checks.check_a_source_is_private_by_its_type_alone)
def source_that_vouches_for_itself(patch):
    patch.setattr(curator_session, "is_private", lambda source: source.private)


# -- the disk --------------------------------------------------------------------------------------------


def _with_pragma(patch, pragma):
    connect = AppendOnlyLog._connect

    def loose(self):
        connection = connect(self)
        connection.execute(pragma)
        return connection

    patch.setattr(AppendOnlyLog, "_connect", loose)


@caught_by(checks.check_every_commit_outlives_a_power_cut)
def sqlite_never_syncs(patch):
    _with_pragma(patch, "PRAGMA synchronous = OFF")


@caught_by(checks.check_every_commit_outlives_a_power_cut)
def sqlite_does_not_sync_the_removal_of_its_journal(patch):
    _with_pragma(patch, "PRAGMA synchronous = FULL")


@caught_by(checks.check_every_commit_outlives_a_power_cut)
def journal_kept_in_memory(patch):
    _with_pragma(patch, "PRAGMA journal_mode = MEMORY")


@caught_by(checks.check_the_mark_is_synced_before_a_count)
def mark_not_synced(patch):
    append = high_water_mark.HighWaterMark._append

    def lazy(self, line):
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(high_water_mark.os, "fsync", lambda descriptor: None)
            append(self, line)

    patch.setattr(high_water_mark.HighWaterMark, "_append", lazy)


@caught_by(checks.check_the_mark_is_synced_before_a_count)
def mark_not_raised(patch):
    patch.setattr(high_water_mark.HighWaterMark, "reach", lambda self, seq, seal: None)


# -- a ledger that is not what it was --------------------------------------------------------------------


@caught_by(checks.check_an_older_ledger_is_refused)
def mark_never_compared(patch):
    patch.setattr(AppendOnlyLog, "_compare", lambda self: None)


@caught_by(checks.check_an_older_ledger_is_refused)
def mark_compared_by_its_length_alone(patch):
    patch.setattr(high_water_mark.HighWaterMark, "unmet", lambda self, seals: None if self.intact() else 0)


@caught_by(checks.check_an_edited_ledger_is_refused)
def seals_never_verified(patch):
    patch.setattr(append_only_log, "follow", lambda previous, entry: None)


@caught_by(checks.check_an_edited_ledger_is_refused)
def seal_that_leaves_the_body_out(patch):
    whole = hash_chain._seal

    def partial(seq, time, kind, name, job, body, *rest):
        return whole(seq, time, kind, name, job, "", *rest)

    patch.setattr(hash_chain, "_seal", partial)


@caught_by(checks.check_an_edited_answer_is_refused)
def answers_never_verified(patch):
    def trusting(self, seq):
        return bytes(
            self._connection.execute("SELECT answer FROM entries WHERE seq = ?", (seq,)).fetchone()[0]
        )

    patch.setattr(append_only_log.Turn, "answer", trusting)


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_bugs_are_planted_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 25
    assert not SUITE.idle()
