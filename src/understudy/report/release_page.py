"""A release as one self-contained HTML page, safe to publish: nothing in it is not in the release."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from understudy.report.column_cards import column_cards
from understudy.report.design.templates import page
from understudy.report.measured_pairs import MAPS, graph_of, measured_pairs, pair_maps
from understudy.report.plots.waterfall import Step, waterfall
from understudy.report.release_words import constraint_text, not_covered, promise, stage_words, trust
from understudy.report.released import Released, warnings_by_column

MOST_PAIRS = 20  # whose errors are listed


def release_page(release: Released) -> str:
    """The report of a release, as HTML."""
    by_column, said_of_all = warnings_by_column(release)
    cards = column_cards(release, by_column)
    pairs = measured_pairs(release)
    maps = pair_maps(release, pairs)
    return page(
        "release.html",
        name=release.schema.name or "table",
        release=release,
        promise=promise(release),
        certificate=release.certificate,
        trust=trust(release, pairs, [card.name for card in cards if card.merged]),
        errors=_errors(release),
        budget=_budget(release),
        stages=[(stage_words(stage["stage"]), stage) for stage in release.spent],
        pairs=pairs,
        all_pairs=math.comb(len(release.domain), 2),
        graph=graph_of(release, pairs),
        larger=[clique for clique in release.cliques if len(clique) > 2],
        maps=maps,
        most_maps=MAPS,
        cards=cards,
        warnings=[(card, card.warnings) for card in cards if card.warnings],
        said_of_all=said_of_all,
        constraints=[constraint_text(rule) for rule in release.certificate.get("constraints", [])],
        not_covered=not_covered(release),
        model=str(release.field.summary()),
    )


def _budget(release: Released) -> Markup:
    """What the budget went on, as a waterfall."""
    steps = [
        Step(stage_words(stage["stage"]), float(stage["share"]), f"{stage['share']:.0%}")
        for stage in release.spent
    ]
    said = "; ".join(f"{step.text} {step.said}" for step in steps)
    whole = f"epsilon {release.certificate['epsilon']:g}"
    return waterfall(steps, title="What the budget was spent on", description=said, whole=whole)


def _errors(release: Released) -> dict[str, Any] | None:
    """How far off the model is, by the run's own check, and the pairs that are likely off most."""
    if release.errors is None:
        return None
    found = release.expected_error()
    worst = release.errors.worst(release.field.total, MOST_PAIRS)
    return {
        "found": found,
        "count": len(release.errors.pairs),
        "worst": [
            (" and ".join(pair), f"{error.value:.1%}", f"{error.low:.1%} to {error.high:.1%}")
            for pair, error in worst
        ],
    }
