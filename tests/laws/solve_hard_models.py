"""Small models whose measurements hardly fit together, by the hundred: how many of them end certified.

    python tests/laws/solve_hard_models.py [--first 1000] [--models 300]

Each is fitted with its marginals as they are, binned, and as interactions, beside one of nested sets of columns that
contradict each other; the loss that is certified is compared with that of the whole table. Leaves with 1 where one
is not certified, or its loss is another.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np
from brute_force import design
from test_hard_fit_laws import contradictory_model, hard_model

from understudy.model import estimate

KINDS = {
    "whole": partial(hard_model, binned=False),
    "binned": partial(hard_model, binned=True),
    "interactions": partial(hard_model, interactions=True),
    "contradictory": contradictory_model,
}


def solved(domain, measured, total):
    """Whether a model ends certified, and whether what is certified is the loss of the field."""
    field = estimate(domain, measured, total=total)
    matrix, values = design(domain, measured)
    apart = matrix @ field.marginal(domain.names).counts.reshape(-1) - values
    loss = 0.5 * float(apart @ apart)
    return field.fit.converged, abs(loss - field.fit.loss) <= 1e-6 * max(1.0, loss)


def main():
    """Print how many of each kind were certified; 1 where not all were, as an exit code."""
    words = argparse.ArgumentParser(description="fit random small models and count certificates")
    words.add_argument("--first", type=int, default=1000, help="seed of the first model")
    words.add_argument("--models", type=int, default=300, help="how many of each kind")
    asked = words.parse_args()
    faults = 0
    for kind, model in KINDS.items():
        found = [solved(*model(seed)) for seed in range(asked.first, asked.first + asked.models)]
        certified, true = (int(np.sum(column)) for column in zip(*found, strict=True))
        faults += 2 * len(found) - certified - true
        sys.stdout.write(
            f"{kind:14} {len(found):5} models {certified:5} certified {true:5} with the loss of the field\n"
        )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
