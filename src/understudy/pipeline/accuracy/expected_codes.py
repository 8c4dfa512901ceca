"""How much noise pairs of columns will likely have, and how many codes are left once rare ones are merged for it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from understudy.domain import Domain
from understudy.mechanisms import Mechanism
from understudy.mechanisms.adaptive.one_way_share import PAIRS_A_COLUMN
from understudy.mechanisms.one_way import RUN, THRESHOLD
from understudy.privacy import Gaussian, Group, Loss, Role

ADAPTIVE = "adaptive"  # told by its name, so that runs of other mechanisms need not load it


def pair_scale(
    mechanism: Mechanism, columns: int, groups: Sequence[Group], losses: Mapping[str, Loss], l2: float
) -> float | None:
    """The noise that a pair's cells will likely have; None where no batch of marginals is planned."""
    loss = next((losses[group.name] for group in groups if group.role is Role.MARGINALS), None)
    if not isinstance(loss, Gaussian):
        return None
    if mechanism.name == ADAPTIVE:  # how many are measured depends on the records
        return loss.sigma * l2 * math.sqrt(PAIRS_A_COLUMN * columns)
    return loss.sigma * l2 * math.sqrt(len(loss.weights) if loss.weights else max(1, columns - 1))


def expected_codes(
    domain: Domain,
    ordered: Collection[str],
    mechanism: Mechanism,
    one_way: Loss | None,
    of_pairs: float | None,
    rows: int | None,
) -> Domain:
    """The domain that is likely left once rare codes are merged: so many records fill so many codes at most.

    Neighbours in ordered columns are joined until every run holds more than a pair's noise.
    """
    adaptive = mechanism.name == ADAPTIVE
    threshold = THRESHOLD if adaptive else float(getattr(mechanism, "threshold", 0.0))
    if rows is None or not threshold or not isinstance(one_way, Gaussian):
        return domain
    most = rows / (RUN * of_pairs) if of_pairs and getattr(mechanism, "runs", adaptive) else math.inf
    exempt = set(getattr(mechanism, "exempt", ()))
    scales = one_way.scales
    if len(scales) != len(domain):  # some columns alone, or an unknown number of them
        return domain
    lifted = math.erfc(threshold / math.sqrt(2))
    sizes = {}
    for (name, size), scale in zip(domain.items(), scales, strict=True):
        # Codes above the threshold, those that noise lifts above it, and the merged one.
        kept = rows / (threshold * scale) + size * lifted / 2 + 1
        kept = min(kept, most + 2) if name in ordered else kept  # and slots
        sizes[name] = size if name in exempt else min(size, math.ceil(kept))
    return Domain(sizes)
