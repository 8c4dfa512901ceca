"""Records as rows of codes, and the two worlds of an audit, in the plain engine."""

from __future__ import annotations

import numpy as np
from plain_engine import PlainEngine

from understudy.domain import Domain


def rows(domain: Domain, codes: np.ndarray) -> PlainEngine:
    """An engine of these records: one row a record, one column of codes for each of the domain's."""
    return PlainEngine({name: codes[:, place] for place, name in enumerate(domain)}, domain)


def base_and_target(columns: int, records: int = 3) -> tuple[PlainEngine, PlainEngine]:
    """Identical records, and the same with one more that shares no value with them."""
    domain = Domain({f"c{i}": 2 for i in range(columns)})
    base = np.zeros((records, columns), dtype=np.int64)
    return rows(domain, base), rows(domain, np.vstack([base, np.ones(columns, dtype=np.int64)]))
