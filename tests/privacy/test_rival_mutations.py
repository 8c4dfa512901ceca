"""The bugs that the rivals' questions could have, planted one by one; each is caught."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import rival_checks as checks
from planting import Suite, run

from understudy.privacy import Choice, Neighbours
from understudy.privacy.accounting import spending
from understudy.privacy.curator import dependence, noisy_marginals, private_choice, thresholded_histogram
from understudy.privacy.curator.curator import Curator
from understudy.privacy.curator.curator_session import CuratorSession
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.curator.noisy_marginals import BatchPrice, MarginalsQuestion
from understudy.privacy.curator.private_choice import DependenceQuestion

LAPLACE = noisy_marginals.discrete_laplace
PAST = thresholded_histogram.past_threshold
SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


# -- dependent columns ---------------------------------------------------------------------------------


@caught_by(checks.check_dependent_choices_follow_half_the_exponent)
def sensitivity_of_dependence_halved(patch):
    patch.setattr(private_choice, "SENSITIVITY", dependence.SENSITIVITY // 2)


@caught_by(checks.check_dependent_choices_follow_half_the_exponent)
def dependence_treated_as_a_misfit(patch):
    patch.setattr(private_choice, "SENSITIVITY", 1)


@caught_by(checks.check_dependent_choices_follow_half_the_exponent)
def dependent_choice_blind_to_its_neighbours(patch):
    def blind(self, scores, source, price):
        sensitivity = self.record_sensitivity
        return private_choice.choose(scores - self.costs, price.losses[0].epsilon, sensitivity, source)

    patch.setattr(DependenceQuestion, "_chosen", blind)


@caught_by(checks.check_dependent_choices_follow_half_the_exponent)
def the_most_dependent_is_chosen(patch):
    patch.setattr(
        private_choice, "choose", lambda scores, epsilon, sensitivity, source: int(np.argmax(scores))
    )


@caught_by(checks.check_dependences_are_exact_integers_of_sensitivity_four)
def dependences_not_rounded(patch):
    def unrounded(counts, rows):
        table = counts.reshape(rows, -1)
        return np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0)) / max(1, table.sum())).sum()

    def scores(self):
        return np.array([self.known.get(clique, 0) for clique in self.offered])

    patch.setattr(private_choice, "dependence", unrounded)
    patch.setattr(DependenceQuestion, "scores", scores)


@caught_by(checks.check_dependences_are_exact_integers_of_sensitivity_four)
def dependence_in_pairs_of_records(patch):
    def unscaled(counts, rows):
        table = counts.reshape(rows, -1)
        return int(np.abs(table.sum() * table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum())

    patch.setattr(private_choice, "dependence", unscaled)


@caught_by(checks.check_dependences_are_exact_integers_of_sensitivity_four)
def dependence_squared(patch):
    patch.setattr(private_choice, "dependence", lambda counts, rows: dependence.dependence(counts, rows) ** 2)


# -- misfits beyond a blur -----------------------------------------------------------------------------


def _steep(misfits, blurs):
    """The distance itself, which near the blur one record moves far."""
    return np.sqrt(np.maximum(misfits**2 - blurs**2, 0)).astype(np.int64)


@caught_by(checks.check_blurred_choices_move_by_no_more_than_a_record)
def distance_beyond_a_blur_not_made_less_steep(patch):
    patch.setattr(private_choice, "beyond_blur", _steep)


@caught_by(checks.check_blurred_choices_move_by_no_more_than_a_record)
def distance_beyond_a_blur_in_units_of_itself(patch):
    patch.setattr(private_choice, "beyond_blur", lambda misfits, blurs: misfits * 2 - blurs)


@caught_by(checks.check_blurred_choices_move_by_no_more_than_a_record)
def blur_rounded_to_the_nearest_after_floats(patch):
    def nearest(misfits, blurs):
        return np.where(4 * misfits <= 5 * blurs, misfits - 0.8 * blurs, 0.6 * _steep(misfits, blurs))

    patch.setattr(
        private_choice,
        "beyond_blur",
        lambda misfits, blurs: np.rint(nearest(misfits, blurs)).astype(np.int64),
    )


# -- Laplace noise on marginals ------------------------------------------------------------------------


def _with_scales(patch: pytest.MonkeyPatch, change: Any) -> None:
    """Batches at a Laplace loss with another scale than they pay for."""
    pure = noisy_marginals._pure

    def changed(allowance, budget, weights, sizes):
        cost = pure(allowance, budget, weights, sizes)
        return replace(cost, scales=tuple(change(scale, len(sizes)) for scale in cost.scales))

    patch.setattr(noisy_marginals, "_pure", changed)


@caught_by(checks.check_laplace_noise_has_the_scale_of_its_loss)
def laplace_noise_blind_to_its_neighbours(patch):
    patch.setattr(noisy_marginals, "laplace_scale", lambda epsilon, neighbours: 1 / epsilon)


@caught_by(checks.check_laplace_noise_has_the_scale_of_its_loss)
def laplace_noise_of_replaced_records_as_of_added_ones(patch):
    patch.setattr(noisy_marginals, "laplace_scale", lambda epsilon, neighbours: neighbours.records / epsilon)


@caught_by(checks.check_laplace_noise_has_the_scale_of_its_loss)
def laplace_noise_shared_out_among_marginals(patch):
    _with_scales(patch, lambda scale, marginals: scale / marginals)


@caught_by(checks.check_laplace_noise_has_the_scale_of_its_loss)
def laplace_noise_a_little_short(patch):
    patch.setattr(noisy_marginals, "discrete_laplace", lambda scale, *rest: LAPLACE(scale * 0.98, *rest))


@caught_by(checks.check_laplace_noise_has_the_scale_of_its_loss)
def gaussian_noise_at_a_laplace_loss(patch):
    patch.setattr(BatchPrice, "pure", property(lambda self: False))


@caught_by(checks.check_audit_of_laplace_answers)
def half_of_the_laplace_noise_stated_and_drawn(patch):
    _with_scales(patch, lambda scale, marginals: scale / 2)


@caught_by(checks.check_audit_of_laplace_answers)
def units_treated_as_records_by_laplace(patch):
    patch.setattr(Neighbours, "l1", property(lambda self: 1))


@caught_by(checks.check_audit_of_laplace_answers)
def laplace_noise_only_where_there_are_records(patch):
    def noisy(self, counts, source, price):
        return [
            exact + (exact > 0) * LAPLACE(scale, exact.size, source)
            for exact, scale in zip(counts.tables(self.batch), price.scales, strict=True)
        ]

    patch.setattr(MarginalsQuestion, "_noisy", noisy)


@caught_by(checks.check_laplace_tails_are_whole)
def laplace_tails_cut_at_nine_scales(patch):
    def cut(scale, size, source):
        return np.clip(LAPLACE(scale, size, source), -int(9 * scale), int(9 * scale))

    patch.setattr(noisy_marginals, "discrete_laplace", cut)


@caught_by(checks.check_no_laplace_noise_is_used_twice)
def laplace_noise_reused(patch):
    kept: dict[Any, np.ndarray] = {}

    def once(scale, size, source):
        return kept.setdefault((scale, size), LAPLACE(scale, size, source))

    patch.setattr(noisy_marginals, "discrete_laplace", once)


# -- histograms with a cut-off -------------------------------------------------------------------------


def _filled_otherwise(patch: pytest.MonkeyPatch, answer: Any) -> None:
    """Histograms whose cells past the threshold are found by `answer`."""
    patch.setattr(thresholded_histogram, "past_threshold", answer)


@caught_by(checks.check_histograms_are_noise_on_every_cell_then_a_cut_off)
def cut_off_before_the_noise(patch):
    def before(places, counts, cost, source):
        kept = counts >= cost.threshold
        return PAST(places[kept], counts[kept], cost, source)

    _filled_otherwise(patch, before)


@caught_by(checks.check_histograms_are_noise_on_every_cell_then_a_cut_off)
def true_counts_past_a_noisy_threshold(patch):
    def exact(places, counts, cost, source):
        at, _ = PAST(places, counts, cost, source)
        true = dict(zip(places.tolist(), counts.tolist(), strict=True))
        return [at, [max(cost.threshold, true.get(place, 0)) for place in at]]

    _filled_otherwise(patch, exact)


@caught_by(checks.check_histograms_are_noise_on_every_cell_then_a_cut_off)
def histogram_blind_to_its_neighbours(patch):
    patch.setattr(thresholded_histogram, "laplace_scale", lambda epsilon, neighbours: 1 / epsilon)


@caught_by(checks.check_histograms_are_noise_on_every_cell_then_a_cut_off)
def empty_cells_lifted_to_the_threshold_and_no_higher(patch):
    patch.setattr(thresholded_histogram, "_geometric", _flat(thresholded_histogram._geometric))


def _flat(geometric: Any) -> Any:
    """Draws of the law of gaps as they were, and of the counts past the threshold none above it."""

    def flat(scale, size, source):
        drawn = geometric(scale, size, source)
        return drawn if isinstance(scale, thresholded_histogram.Fraction) else np.zeros_like(drawn)

    return flat


@caught_by(checks.check_audit_of_histograms)
def empty_cells_never_noised(patch):
    def filled(places, counts, cost, source):
        return PAST(places, counts, replace(cost, cells=places.size), source)

    _filled_otherwise(patch, filled)


@caught_by(checks.check_audit_of_histograms)
def empty_cells_half_as_often(patch):
    passing = thresholded_histogram.passing
    patch.setattr(thresholded_histogram, "passing", lambda scale, floor: passing(scale, floor) / 2)


@caught_by(checks.check_audit_of_histograms)
def filled_cells_released_whatever_their_noise(patch):
    def every(places, counts, cost, source):
        noise = np.maximum(cost.threshold, counts + LAPLACE(cost.scale, counts.size, source))
        at, values = PAST(places[:0], counts[:0], cost, source)
        filled = set(places.tolist())
        found = {place: value for place, value in zip(at, values, strict=True) if place not in filled}
        found |= dict(zip(places.tolist(), noise.tolist(), strict=True))
        return [sorted(found), [found[place] for place in sorted(found)]]

    _filled_otherwise(patch, every)


@caught_by(checks.check_audit_of_histograms)
def histogram_at_twice_its_epsilon(patch):
    scale = thresholded_histogram.laplace_scale
    patch.setattr(
        thresholded_histogram, "laplace_scale", lambda epsilon, neighbours: scale(2 * epsilon, neighbours)
    )


def _empties(patch: pytest.MonkeyPatch, take: Any) -> None:
    """Empty cells taken by `take(their places, the chance of each)`."""

    def places_of(places, cost, source):
        empty = np.setdiff1d(np.arange(cost.cells), places)
        return take(empty, float(thresholded_histogram.passing(cost.scale, cost.floor)), places.size, source)

    patch.setattr(thresholded_histogram, "_empty_places", places_of)


@caught_by(checks.check_empty_cells_tell_nothing_of_the_filled_ones)
def empty_cells_in_their_expected_number(patch):
    def take(empty, chance, filled, source):
        return np.random.default_rng().permutation(empty)[: round(chance * empty.size)]

    _empties(patch, take)


@caught_by(checks.check_empty_cells_tell_nothing_of_the_filled_ones)
def as_many_empty_cells_as_filled_ones(patch):
    _empties(patch, lambda empty, chance, filled, source: np.random.default_rng().permutation(empty)[:filled])


@caught_by(checks.check_empty_cells_tell_nothing_of_the_filled_ones)
def empty_cells_from_the_front(patch):
    def take(empty, chance, filled, source):
        return empty[: np.random.default_rng().binomial(empty.size, chance)]

    _empties(patch, take)


# -- charges -------------------------------------------------------------------------------------------


@caught_by(checks.check_every_answer_is_charged_in_full)
def choices_never_counted_down(patch):
    charge = spending.PlannedSpending.charge

    def generous(self, asked, loss, slack):
        after = charge(self, asked, loss, slack)
        return self if isinstance(asked, Choice) else after

    patch.setattr(spending.PlannedSpending, "charge", generous)


@caught_by(checks.check_every_answer_is_charged_in_full)
def histograms_for_free(patch):
    price = thresholded_histogram.price_histogram

    def free(allowance, budget, clique, cells, threshold):
        return replace(price(allowance, budget, clique, cells, threshold), allowance=allowance.opened())

    patch.setattr(thresholded_histogram, "price_histogram", free)


@caught_by(checks.check_every_answer_is_charged_in_full)
def histograms_left_off_the_books(patch):
    price = thresholded_histogram.price_histogram

    def unnamed(*asked):
        cost = price(*asked)
        return replace(cost, losses=cost.losses[1:])

    patch.setattr(thresholded_histogram, "price_histogram", unnamed)


@caught_by(checks.check_every_answer_is_charged_in_full)
def a_batch_of_laplace_answers_charged_as_one(patch):
    pure = noisy_marginals._pure

    def once(allowance, budget, weights, sizes):
        one = pure(allowance, budget, weights[:1], sizes[:1])
        return replace(one, scales=one.scales * len(sizes))

    patch.setattr(noisy_marginals, "_pure", once)


@caught_by(checks.check_every_question_is_charged_before_a_record_is_touched)
def dependences_scored_before_the_charge(patch):
    choose = Curator.choose_dependent

    def early(self, candidates, budget, costs=None):
        ExactCounts(self._engine, self.domain).tables(candidates)
        return choose(self, candidates, budget, costs)

    patch.setattr(Curator, "choose_dependent", early)


@caught_by(checks.check_every_question_is_charged_before_a_record_is_touched)
def cells_counted_before_the_charge(patch):
    def eager(engine, clique, cells):
        found = engine.count_cells(clique)
        return lambda asked: found

    patch.setattr(thresholded_histogram, "cell_counter", eager)


@caught_by(checks.check_every_question_is_charged_before_a_record_is_touched)
def answers_drawn_before_the_charge(patch):
    ask = CuratorSession.ask

    def late(self, allowance, losses, words, answer):
        drawn = answer()
        return ask(self, allowance, losses, words, lambda: drawn)

    patch.setattr(CuratorSession, "ask", late)


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_every_question_has_its_bugs_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 30
    assert not SUITE.idle()
