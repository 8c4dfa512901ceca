"""What a reproduction is held to, checked against what was found: met or not, with the figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.contest import paper

if TYPE_CHECKING:
    from benchmarks.contest.page import Results

MARGINAL_BASED = ("NIST-MST", "MST", "DPSyn", "PrivBayes", "Gardn999")
# Ahead of all others, in either order, as in the paper; the rest in the paper's order.
WINNERS = ("NIST-MST", "MST")
CLOSE = 0.01
PRIVATE_SHARE, PUBLIC_SHARE = 0.98, 0.988
TABLE_MINUTES, SCORE_SECONDS = 30, 20
VERDICTS = {True: "met", False: "**not met**", None: "open"}
Check = tuple[bool | None, str]  # None: not everything was run


def section(found: Results) -> str:
    """The checks as a list."""
    checks = [
        *(_order(found, epsilon) for epsilon in paper.EPSILONS),
        _closeness(found),
        *_trees(found),
        _time(found),
        _scoring(found),
    ]
    return "\n".join(f"- {VERDICTS[good]}: {words}" for good, words in checks)


def _order(found: Results, epsilon: float) -> Check:
    overall = {}
    for system in paper.ORDER:
        errors = found.errors(system, epsilon)
        if errors is not None:
            overall[system] = errors[3]
    ranked = sorted(overall, key=overall.__getitem__)
    rest = [system for system in paper.ORDER if system in overall and system not in WINNERS]
    wanted = {*WINNERS} & {*overall}
    good = {*ranked[: len(wanted)]} == wanted and [s for s in ranked if s not in WINNERS] == rest
    shown = ", ".join(f"{system} {overall[system]:.3f}" for system in ranked)
    absent = [system for system in paper.ORDER if system not in overall]
    words = f"the paper's order overall at epsilon {epsilon:g}: {shown or 'nothing run'}."
    if not absent:
        return good, words
    # One rival that needs an extra leaves the verdict on the others standing.
    complete = {*MARGINAL_BASED} <= {*overall}
    return (
        good if complete or not good else None
    ), f"{words} Without {', '.join(absent)}: not run on both tables."


def _closeness(found: Results) -> Check:
    apart = []
    for epsilon in paper.EPSILONS:
        ours, other = found.errors("NIST-MST", epsilon), found.errors("MST", epsilon)
        if ours is not None and other is not None:
            apart += [
                (abs(a - b), f"{metric} at epsilon {epsilon:g}")
                for a, b, metric in zip(ours, other, paper.METRICS, strict=True)
            ]
    if not apart:
        return None, "NIST-MST and MST within 0.01 of each other: not run."
    beyond = [f"{where} {gap:.3f}" for gap, where in apart if gap > CLOSE + 5e-4]
    most = max(apart)
    words = f"NIST-MST and MST within {CLOSE} of each other on every metric; most: {most[0]:.3f} ({most[1]})"
    all_run = len(apart) == len(paper.EPSILONS) * len(paper.METRICS)
    rest = (
        f"; beyond it: {', '.join(beyond)}." if beyond else "." if all_run else "; not every epsilon was run."
    )
    return (False if beyond else True if all_run else None), words + rest


def _trees(found: Results) -> list[Check]:
    best = found.trees["best"]
    checks: list[Check] = []
    for kind, least in (("epsilon 1", PRIVATE_SHARE), ("public", PUBLIC_SHARE)):
        if kind in found.trees:
            shares = [found.trees[kind][table] / best[table] for table in best]
            shown = " and ".join(f"{share:.2%}" for share in shares)
            name = "privately at epsilon 1" if kind != "public" else "on public records"
            checks.append(
                (min(shares) >= least, f"trees chosen {name} hold at least {least:.1%} of the best: {shown}.")
            )
    return checks


def _time(found: Results) -> Check:
    minutes = found.seconds(MARGINAL_BASED) / 60
    words = (
        f"all three epsilons and both tables for the marginal-based systems within {TABLE_MINUTES} minutes"
    )
    return minutes <= TABLE_MINUTES, f"{words}: {minutes:.1f} minutes."


def _scoring(found: Results) -> Check:
    slowest = max((outcome.score_s for outcome in found.outcomes.values()), default=0.0)
    return slowest < SCORE_SECONDS, f"scoring one pair under {SCORE_SECONDS} s: {slowest:.1f} s at most."
