"""Where a synthetic table stands between independent columns and real records drawn again; the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.evaluation.measures import SYNTHETIC, Evaluation, Figure

WORST, BEST, NOTHING = "independent", "bootstrap", "uniform"
APART = 0.1  # the ends of a scale differ by this part of the larger at least, or there is no scale
# From where on which verdict holds, the best first.
VERDICTS = (
    (0.9, "good", "It stands in for the real table nearly as well as real records drawn again."),
    (0.6, "good", "It keeps most of how columns go together."),
    (0.25, "warn", "It keeps part of how columns go together, and loses part."),
    (0.0, "warn", "It is little better than columns that know nothing of each other."),
)
# The same of a table of one column, or of columns that have nothing in common anyway.
ALONE = (
    (0.9, "good", "Its columns are nearly as real records drawn again would have them."),
    (0.6, "good", "Its columns are mostly those of the real table."),
    (0.25, "warn", "Its columns are off by much."),
    (0.0, "warn", "Its columns are little better than values drawn at random."),
)
LOSES = (
    "It loses to independent columns: a table whose columns were each drawn alone, which keeps nothing of how they "
    "go together, is nearer to the real one. Do not use it for questions about several columns."
)


@dataclass(frozen=True)
class Standing:
    """A figure's place on the scale from independent columns (0) to a bootstrap of the real records (1)."""

    figure: Figure
    at: float


@dataclass(frozen=True)
class Judgement:
    """What is to be thought of a synthetic table: good, warn or bad; in a headline and a sentence."""

    kind: str
    headline: str
    sentence: str
    scale: tuple[Standing, ...]


def standings(found: Evaluation, worst: str = WORST) -> tuple[Standing, ...]:
    """Every figure whose two ends differ enough for a scale."""
    return tuple(
        Standing(figure, (figure.synthetic - low) / (high - low))
        for figure in found.figures
        for low, high in [(figure.by_table.get(worst, 0.0), figure.by_table.get(BEST, 0.0))]
        if abs(high - low) > APART * max(abs(high), abs(low)) and (high > low) == (figure.better == "higher")
    )


def verdict(found: Evaluation) -> Judgement:
    """By pairs of columns where there are any, else by single ones beside uniform values."""
    scale = standings(found)
    chosen = next((one for one in scale if one.figure.name.startswith("2-way")), None)
    if chosen is None:
        alone = [one for one in standings(found, NOTHING) if one.figure.name.startswith("1-way")]
        if not alone:
            return Judgement(
                "", "No scale", "The baselines are too near each other to tell how good it is.", scale
            )
        return Judgement(*_said(alone[0].at, "uniform values"), tuple(alone))
    return Judgement(*_said(chosen.at, "independent columns"), scale)


def _said(at: float, worst: str) -> tuple[str, str, str]:
    if at < 0:
        short = f"It loses to {worst}: it is farther from the real table than they are."
        return "bad", f"Worse than {worst}", LOSES if worst.startswith("independent") else short
    headline = f"{min(abs(at), 1.0):.0%} of the way from {worst} to real records drawn again"
    words = VERDICTS if worst.startswith("independent") else ALONE
    kind, sentence = next((kind, sentence) for least, kind, sentence in words if at >= least)
    return kind, headline, sentence


def figure_names(found: Evaluation, *starts: str) -> list[Figure]:
    """The figures whose names begin with one of these."""
    return [
        figure for figure in found.figures if figure.name.startswith(starts) and SYNTHETIC in figure.by_table
    ]
