"""What an adaptive run will do, what it did and why, in sentences: from public numbers and from released ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from understudy.display import counted
from understudy.domain import Clique, Domain
from understudy.mechanisms.adaptive.choice_stages import ChoiceStage
from understudy.mechanisms.adaptive.doubt import DOUBTFUL
from understudy.mechanisms.adaptive.one_way_share import OneWayShare
from understudy.mechanisms.public.public_prior import told
from understudy.mechanisms.tables.noise_price import Cells

ONLY_COLUMNS = "Noise would hide every pair of columns, so all goes to the columns alone."
FOUND_LITTLE = (
    "Noise would hide much of what pairs tell, and a noisy look at all of them found hardly more than chance: "
    "so all goes to the columns alone."
)


def usual_columns(domain: Domain, rows: float) -> dict[str, Cells]:
    """What columns mostly hold, before anything is known of them: the r-th most frequent code as 1/r."""
    falling = {size: 1.0 / np.arange(1, size + 1) for size in set(domain.values())}
    held = {size: rows * parts / parts.sum() for size, parts in falling.items()}
    return {name: held[size] for name, size in domain.items()}


def intended(
    stages: Sequence[ChoiceStage], triples: bool, asked: OneWayShare | None, rows: int | None, worth: int
) -> tuple[str, ...]:
    """What a run will do, as far as that is known; `asked` is what it would likely decide, given `rows`."""
    counts = [count for stage in stages for count in stage.counts]
    if not counts:
        return (ONLY_COLUMNS,)
    sets = "pairs and triples" if triples else "pairs"
    said = [
        f"It looks at every column, then chooses up to {counted(counts[0], 'pair')} that join the columns."
    ]
    if len(counts) > 1:
        said.append(
            f"Up to {counted(len(counts) - 1, 'round')} follow, of up to {counts[1]} {sets} each: those that the "
            "model explains worse than measuring them would, while there are any."
        )
    if asked is not None and rows is not None:
        about = f"Of about {rows:,} records"
        if asked.independent:
            said.append(
                f"{about} noise would likely hide every pair; all is then spent on the columns alone."
            )
        else:
            rounds = counted(min(worth, len(counts)), "round")
            said.append(
                f"{about} noise would hide about {asked.hidden:.0%} of what pairs tell: it will likely make "
                f"{rounds}, and spend {_percent(asked.share)} of the rest on the columns alone."
            )
            if asked.hidden > DOUBTFUL:
                said.append(
                    "One noisy number over all pairs, asked before, may decide that none is measured."
                )
    return tuple(said)


def intended_of_all(pairs: int, later: int, asked: OneWayShare, rows: int) -> tuple[str, ...]:
    """What a run will likely do that measures all pairs at once."""
    then = f"; up to {counted(later, 'round')} of triples follow" if later else ""
    return (
        f"It looks at every column, then likely measures all {pairs} pairs at once, as columns have few codes{then}.",
        f"Of about {rows:,} records noise would hide about {asked.hidden_of_all:.0%} of what they tell.",
    )


def decided(
    asked: OneWayShare,
    rounds: Sequence[tuple[Sequence[Clique], bool]],
    public: bool | None,
    all_pairs: int = 0,
    beside: int = 0,
) -> tuple[str, ...]:
    """What a run did: its rounds, each with what was chosen and whether it stopped short; and of a public table,
    whether it was of use (None where none was given). `all_pairs` is how many were measured before, `beside` how
    many pairs the model has no room for.
    """
    said = [] if public is None else [told(public)]
    if asked.independent:
        return (*said, ONLY_COLUMNS)
    followed = f"{counted(len(rounds), 'round')} followed."
    if all_pairs:
        said.append(
            f"Columns have few codes, and a first look said that noise would hide about {asked.hidden_of_all:.0%} of "
            f"what all pairs tell: so all {all_pairs} were measured at once; {followed}"
        )
    else:
        said.append(
            f"A first look said that noise would hide about {min(asked.hidden, 1.0):.0%} of what pairs tell: so "
            f"{_percent(asked.share)} of the rest went to the columns alone; {followed}"
        )
    chosen = [clique for cliques, _ in rounds for clique in cliques]
    if all_pairs and not chosen:
        return tuple(said)
    if not chosen:
        return (*said, "No pair was found worth its noise: the columns were measured once more.")
    orders = [
        counted(sum(len(c) == order for c in chosen), noun) for order, noun in ((2, "pair"), (3, "triple"))
    ]
    short = sum(stopped for _, stopped in rounds)
    said.append(
        f"They chose {' and '.join(text for text in orders if not text.startswith('0 '))}"
        + (
            f"; {counted(short, 'round')} stopped short, as nothing more was worth its noise."
            if short
            else "."
        )
    )
    if beside:
        said.append(
            f"The model has no room for {counted(beside, 'pair')} of those, which stand beside it: "
            "records follow them all the same."
        )
    return tuple(said)


def _percent(share: Fraction) -> str:
    return f"{float(share):.0%}"
