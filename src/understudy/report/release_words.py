"""What a release promises and how good it is, in sentences for people who never heard of epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.display import counted
from understudy.version import __version__

if TYPE_CHECKING:  # every command says a few of these words, and shows no page
    from understudy.report.measured_pairs import MeasuredPair
    from understudy.report.released import Released

SURE = 2.0  # standard deviations above which a count of records is more than noise
NO_BOUND = 50.0  # an epsilon whose factor says nothing any more
FAR_OFF = 0.2  # a mean error of pairs from which a release is of little use for them
WEAK = 3.0  # an epsilon from which a suspicion of one half may grow to 95%

# What each stage of a run is for; other packages' mechanisms may have stages of their own.
STAGES = {
    "units": "how many records each person has",
    "types": "what kind of values columns hold",
    "values": "which values are frequent",
    "bounds": "where numbers and dates begin and end",
    "bins": "how finely to divide them",
    "rules": "how many records break a rule",
    "one-way": "every column on its own",
    "select": "choosing what to measure together",
    "network": "choosing what to measure together",
    "look": "a first look at every column",
    "choose": "choosing what to measure together",
    "measure": "columns alone and together, in rounds",
    "tree": "choosing pairs that join the columns",
    "rounds": "choosing what else to measure, in rounds",
    "late rounds": "choosing what else to measure, in rounds",
    "two-way": "pairs of columns",
    "selected": "columns together, as chosen",
    "marginals": "columns together",
    "groups": "columns together",
    "tables": "columns together",
    "pairs": "columns together",
    "distance": "how far pairs are from what was expected",
    "check": "how far off the model is",
}


@dataclass(frozen=True)
class Promise:
    """Who is protected, by how much, and whether it was checked.

    `text` is the whole statement, to be pasted elsewhere; `suspicion` what a suspicion of one half may grow to.
    """

    who: str
    factor: str
    suspicion: str
    text: str
    holds: bool
    checked: str


def promise(release: Released) -> Promise:
    """What the certificate claims, said again in words; recomputed from its charges."""
    said, verdict = release.certificate, release.verify()
    epsilon, delta = float(said["epsilon"]), float(said["delta"])
    who = _who(release)
    factor = f"{math.exp(epsilon):,.3g}" if epsilon < NO_BOUND else "no bound at all"
    suspicion = f"{1 / (1 + math.exp(-epsilon)):.0%}" if epsilon < WEAK + 1 else "near certainty"
    holds = bool(verdict.holds) and release.private
    checked = (
        f"Recomputed from the certificate alone, epsilon is {verdict.epsilon:.6g} at delta {delta:g}."
        if verdict.epsilon is not None
        else f"The claim does not hold: {verdict.why}"
    )
    return Promise(who, factor, suspicion, _text(release, who, factor, suspicion, checked), holds, checked)


def _who(release: Released) -> str:
    records = dict(release.certificate.get("neighbours", {})).get("records", 1)
    column = release.schema.unit
    if column:
        most = f", with at most {records:,} records each" if records != 1 else ", with one record each"
        return f"everyone whom column {column} tells apart{most}"
    return "every single record" if records == 1 else f"any {records:,} records of one person"


def _text(release: Released, who: str, factor: str, suspicion: str, checked: str) -> str:
    name, said = release.schema.name or "table", release.certificate
    if not release.private:
        return (
            f"NOT PRIVATE. The synthetic data made from the table '{name}' was drawn with noise from a seed, for "
            "tests. It protects nobody and may not be handed on."
        )
    relation = dict(said.get("neighbours", {})).get("relation", "add-remove")
    without = (
        "had it not been in the table"
        if relation == "add-remove"
        else "had any other stood in its place in the table"
    )
    mechanism = f", mechanism {release.mechanism}" if release.mechanism else ""
    delta = float(said["delta"])
    return (
        f"The synthetic data made from the table '{name}' is differentially private with epsilon {said['epsilon']:g} "
        f"and delta {delta:g}. Protected is {who}: whatever anyone concludes from the synthetic data or from its "
        f"report would have been almost as likely {without}. Its likelihood changes by a factor of {factor} at most, "
        f"but for a chance of about {chance(delta)}; a suspicion of 50% about one of them can grow to {suspicion}, "
        "no further. This holds whatever else is known, now or later, and for any number of synthetic records drawn "
        "from the release. It covers all that was learned from the records. It does not cover what was declared "
        "public beforehand (names of columns, and the values and bounds of the schema), nor other publications about "
        f"the same people. {checked} (Understudy {said.get('version', __version__)}{mechanism}.)"
    )


@dataclass(frozen=True)
class Trust:
    """What a release may be used for, and what not, each as sentences."""

    good: tuple[str, ...]
    bad: tuple[str, ...]


def trust(release: Released, pairs: Sequence[MeasuredPair], merged: Sequence[str]) -> Trust:
    """By what was measured, with which noise, and by the run's own check."""
    columns = len(release.domain)
    all_pairs = columns * (columns - 1) // 2
    clear = [pair for pair in pairs if pair.strength != "faint"]
    good = ["Counts and shares of single columns, within the whiskers that are drawn."]
    if clear:
        good.append(
            f"How the columns of {counted(len(clear), 'pair')} go together: measured, and clear of noise."
        )
    if release.errors is not None:
        good.append("The errors stated here: they come from the real records, with noise that is known.")
    bad = ["Any one record: nobody stands behind it."]
    off = None if release.errors is None else release.expected_error().pairs
    if off is not None and off.value >= FAR_OFF:
        bad.append(
            f"Tables of two columns: about {off.value:.0%} of the records are off. There are too few records, or too "
            "small an epsilon, for what was asked."
        )
    if all_pairs > len(pairs):
        bad.append(
            f"{all_pairs - len(pairs):,} of {counted(all_pairs, 'pair')} of columns, beyond their stated errors: "
            "they were not measured together, and follow from those that were."
        )
    if faint := len(pairs) - len(clear):
        bad.append(
            f"{counted(faint, 'measured pair')} whose dependence is lost in noise: the model takes it as weak."
        )
    if merged:
        bad.append(f"Differences between rare values of {_listed(merged)}: they were measured as one.")
    if columns > 2:
        bad.append(
            "Small groups, such as a few people with four things in common: noise is larger than they are."
        )
    return Trust(tuple(good), tuple(bad))


def chance(delta: float) -> str:
    """A small chance in words where there are some."""
    words = {1e-3: "one in a thousand", 1e-6: "one in a million", 1e-9: "one in a billion"}
    return next(
        (said for value, said in words.items() if math.isclose(value, delta, rel_tol=1e-3)), f"{delta:g}"
    )


def stage_words(stage: str) -> str:
    """What a stage of a run is for."""
    return STAGES.get(stage, stage)


def constraint_text(said: Mapping[str, Any]) -> str:
    """A constraint of a certificate in words: which way it is held, and how many real records broke it."""
    text = f"{said['rule']}: held by {said['held']}"
    if "broken" not in said:
        return text
    if not said["broken"] > SURE * said["stddev"]:
        return (
            f"{text}; real records that break it: none that could be told from noise of {said['stddev']:,.0f}"
        )
    return f"{text}; real records that break it: {said['broken']:,}, give or take {said['stddev']:,.0f}"


def not_covered(release: Released) -> list[str]:
    """What the promise does not speak of."""
    said = [
        "What the schema states: names of columns, listed values, bounds. They were taken as public, and are shown "
        "as they are.",
        "Other publications about the same people: what they reveal adds up. Whoever holds the table finds what was "
        "spent on it with: understudy ledger.",
        "What is true of people in general: that smoking harms can be learned from a table, and holds for those "
        "outside it too.",
    ]
    if release.schema.unit is None:
        said.append(
            "People with several records: one record is protected. Where a person may have more, name the column "
            "that tells people apart (unit) before fitting."
        )
    else:
        said.append(
            "Groups of people: what all members of a family have in common is protected less than each of them is."
        )
    if names := [f"{name} ({column.type})" for name, column in release.schema.made.items()]:
        said.append(f"Made up, and never read: {_listed(names)}.")
    if dropped := [str(name) for name in release.certificate.get("dropped", [])]:
        said.append(f"Not in the schema, and left out: {_listed(dropped)}.")
    return said


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = list(names[:most])
    return ", ".join(shown) + (f" and {len(names) - most:,} more" if len(names) > most else "")
