"""The 2018 NIST contest, match 3: the winning entry's settings, as data.

From the paper's algorithms ("Transform data", "Marginal selection algorithm", its reverse), and from what is
known of the code as submitted where the two differ: which columns keep all their codes, five bins for the wage
in two of the forced marginals, and (INCWAGE_A, INCWAGE_B) measured as well.
"""

from __future__ import annotations

import math

from understudy.domain import Clique, Domain
from understudy.marginals import Counter
from understudy.mechanisms import MST, NIST_MST
from understudy.transforms.derive import TableTransform
from understudy.transforms.split import Floor, Split

EPSILONS = (0.3, 1.0, 8.0)
DELTA = 2.2820610e-12  # 1 / n^2 for Colorado's records

SEX, CITY, WAGE, DIGITS = "SEX", "CITY", "INCWAGE_A", "INCWAGE_B"
PAIRS: tuple[Clique, ...] = ((SEX, CITY), (SEX, WAGE), (CITY, WAGE))
TRIPLE: Clique = (SEX, CITY, WAGE)

# The specification says 999998 for a wage that does not apply; the paper prints a digit more.
NO_WAGE = 999_998
TRANSFORMS: tuple[TableTransform, ...] = (
    Floor("VALUEH"),
    Split("INCWAGE", (WAGE, DIGITS), special=(NO_WAGE,)),
)
EXEMPT = (WAGE, "SEA", "METAREA", "COUNTY", CITY, "METAREAD")
ONE_WAY_WEIGHTS = {WAGE: 2.0}

# 8 up to epsilon 0.3, 4 from epsilon 4.0 on, 6 in between.
TRIPLE_WEIGHT = ((0.3, 8.0), (math.nextafter(4.0, 0.0), 6.0), (math.inf, 4.0))

# The wage's bins in the two widest forced marginals: {0} {1-9} {10-19} {20-50} {51}, then one a slot.
_WAGE_BINS = [0, *[1] * 9, *[2] * 10, *[3] * 31, 4]


def wage_bins(size: int) -> tuple[int, ...]:
    """The bin of every code of a wage column of so many codes."""
    return tuple((_WAGE_BINS + list(range(5, 5 + size)))[:size])


def triple_weight(epsilon: float) -> float:
    """The weight of (SEX, CITY, INCWAGE_A) at this epsilon."""
    return next(weight for limit, weight in TRIPLE_WEIGHT if epsilon <= limit)


def nist_mst(public: Counter, epsilon: float) -> NIST_MST:
    """NIST-MST with the entry's settings, selecting on a public table (coded after TRANSFORMS)."""
    bins = wage_bins(public.domain[WAGE])
    return NIST_MST(
        public,
        forced=(*PAIRS, TRIPLE, (WAGE, DIGITS)),
        weights={**dict.fromkeys(PAIRS, 2.0), TRIPLE: triple_weight(epsilon)},
        bins={TRIPLE: {WAGE: bins}, (CITY, WAGE): {WAGE: bins}},
        one_way_weights=ONE_WAY_WEIGHTS,
        exempt=tuple(name for name in EXEMPT if name in public.domain),
        triple_threshold=0.1,
        limit_cells=10**6,
    )


def mst(epsilon: float, domain: Domain | None = None) -> MST:
    """MST as the paper runs it on the contest: the same forced marginals, the rest chosen privately."""
    known = EXEMPT if domain is None else tuple(name for name in EXEMPT if name in domain)
    return MST({**dict.fromkeys(PAIRS, 2.0), TRIPLE: triple_weight(epsilon)}, exempt=known)
