"""What the default is held to, checked against what was found: met or not, with the figure."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.accuracy.cells import Cell, Outcome
from benchmarks.accuracy.rivals import PEERS
from benchmarks.accuracy.systems import EPSILONS, NEW, WIDE, ours
from benchmarks.accuracy.tables import Key, Summary, excesses

# Mean total variation of pairs and triples, at most: by data set and epsilon.
AT_MOST: dict[tuple[str, float], tuple[float, float | None]] = {
    ("adult", 0.1): (0.105, 0.180),
    ("adult", 1.0): (0.034, 0.080),
    ("adult", 10.0): (0.019, 0.056),
    ("salary", 0.1): (0.115, 0.200),
    ("salary", 1.0): (0.052, 0.115),
    ("salary", 10.0): (0.040, 0.110),
    ("nltcs", 0.1): (0.0195, 0.034),
    ("nltcs", 1.0): (0.0027, 0.0062),
    ("nltcs", 10.0): (0.0005, 0.0020),
    ("titanic", 0.1): (0.46, None),
    ("titanic", 1.0): (0.165, 0.285),
    ("titanic", 10.0): (0.068, 0.155),
    ("temporal-match2", 1.0): (0.025, 0.054),
}
WIDE_SECONDS, WIDE_MEGABYTES = 180, 4000
CLOSE, MOST_EXCESS = 0.05, 0.02
LEAST_SCORE = 976.0
VERDICTS = {True: "met", False: "**not met**", None: "open"}

Found = Mapping[Key, Summary]
Check = tuple[bool | None, str]  # None: not everything was run


def section(found: Found, played: Mapping[Cell, Outcome], exact: Mapping[str, float]) -> str:
    """The checks as a list; `exact` has the triple error of independent columns without noise."""
    checks = [*_figures(found), *_wide(found), _best_of_ours(found), _ahead_of_peers(found)]
    checks += [_little_data(played), *_scores(found, exact)]
    return "\n".join(f"- {VERDICTS[good]}: {words}" for good, words in checks)


def _figures(found: Found) -> list[Check]:
    checks: list[Check] = []
    for data in dict.fromkeys(name for name, _ in AT_MOST):
        verdicts: list[bool | None] = []
        words = []
        for (name, epsilon), (pairs, triples) in AT_MOST.items():
            if name != data:
                continue
            mine = found.get((data, NEW, epsilon))
            if mine is None:
                verdicts.append(None)
                continue
            good = round(mine.pairs, 4) <= pairs and (triples is None or round(mine.triples, 4) <= triples)
            verdicts.append(good)
            wanted = f"{pairs:g}" + ("" if triples is None else f" / {triples:g}")
            words.append(f"{mine.pairs:.4f} / {mine.triples:.4f} (at most {wanted}) at {epsilon:g}")
        whole = None if None in verdicts and False not in verdicts else False not in verdicts
        checks.append((whole, f"{data}: {'; '.join(words) or 'not run'}."))
    return checks


def _wide(found: Found) -> list[Check]:
    checks: list[Check] = []
    for data in WIDE:
        places = [(found.get((data, NEW, e)), found.get((data, "mst", e))) for e in EPSILONS]
        both = [(mine, tree) for mine, tree in places if mine is not None and tree is not None]
        good = all(
            mine.pairs < tree.pairs and mine.processor_s <= WIDE_SECONDS and mine.megabytes <= WIDE_MEGABYTES
            for mine, tree in both
        )
        shown = ", ".join(f"{mine.pairs:.4f} to {tree.pairs:.4f}" for mine, tree in both) or "not run"
        most = max((mine.processor_s for mine, _ in both), default=0.0)
        memory = max((mine.megabytes for mine, _ in both), default=0.0)
        verdict = None if len(both) < len(EPSILONS) and good else good
        used = f"{most:.0f} processor seconds and {memory:.0f} MB at most"
        words = f"{data}: pairs below MST's at every epsilon: {shown}; {used}."
        checks.append((verdict, words))
    return checks


def _best_of_ours(found: Found) -> Check:
    behind = []
    for (data, system, epsilon), mine in found.items():
        if system != NEW:
            continue
        best = min((found[data, s, epsilon].pairs, s) for s in ours() if (data, s, epsilon) in found)
        if mine.pairs > best[0] * (1 + CLOSE):
            behind.append(f"{data} at {epsilon:g}: {best[1]} {best[0]:.4f}, {NEW} {mine.pairs:.4f}")
    words = f"{NEW} has the least pair error of ours or is within 5% of it, on every set and epsilon"
    return not behind, words + (f"; not so: {'; '.join(behind)}." if behind else ".")


def ahead(found: Found) -> list[str]:
    """Where a peer's pairs or triples lie closer than the default's."""
    said = []
    for (data, system, epsilon), theirs in found.items():
        mine = found.get((data, NEW, epsilon))
        if (
            system in PEERS
            and mine is not None
            and (theirs.pairs < mine.pairs or theirs.triples < mine.triples)
        ):
            said.append(
                f"{system} on {data} at {epsilon:g}: {theirs.pairs:.4f} / {theirs.triples:.4f}, "
                f"{NEW} {mine.pairs:.4f} / {mine.triples:.4f}"
            )
    return said


def _ahead_of_peers(found: Found) -> Check:
    met = sum(system in PEERS and (data, NEW, epsilon) in found for data, system, epsilon in found)
    if not met:
        return None, f"{NEW} is below every peer: none was run."
    said = ahead(found)
    words = f"{NEW} is below every peer, pairs and triples, in the {met} places where one finished"
    return not said, words + (f"; not so: {'; '.join(said)}." if said else ".")


def _little_data(played: Mapping[Cell, Outcome]) -> Check:
    small = {place: both for place, both in excesses(played, NEW).items() if place[1]}
    if not small:
        return None, "never worse than independent columns by more than 2% on little data: not run."
    beyond = [
        f"{data}, {rows} rows at {epsilon:g}: pairs {pairs.bound:+.1%}, triples {triples.bound:+.1%}"
        for (data, rows, epsilon), (pairs, triples) in small.items()
        if max(pairs.bound, triples.bound) > MOST_EXCESS
    ]
    words = (
        f"not worse than independent columns by more than 2% (one-sided 99% bound), in {len(small)} places of "
        "100, 300 or 1,000 records"
    )
    return not beyond, words + (f"; beyond it: {'; '.join(beyond)}." if beyond else ".")


def _scores(found: Found, exact: Mapping[str, float]) -> list[Check]:
    checks: list[Check] = []
    mine = found.get(("national2019", NEW, 1.0))
    if mine is None:
        checks.append((None, "NIST's score on national2019 demographics at epsilon 1: not run."))
    else:
        score = 1000 * (1 - mine.triples)
        words = f"NIST's 3-marginal score on national2019 demographics at epsilon 1: {score:.0f} (above 976)."
        checks.append((score > LEAST_SCORE, words))
    mine = found.get(("ma2019", NEW, 1.0))
    if mine is None or "ma2019" not in exact:
        checks.append((None, "NIST's score on ma2019, 24 columns, at epsilon 1: not run."))
    else:
        score, least = 1000 * (1 - mine.triples), 1000 * (1 - exact["ma2019"])
        words = f"NIST's score on ma2019 at epsilon 1: {score:.0f}; independent columns without noise: {least:.0f}."
        checks.append((score > least, words))
    return checks
