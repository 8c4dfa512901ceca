"""What `make nightly` does more of than `make test`."""

from __future__ import annotations

import os

NIGHTLY = bool(os.environ.get("UNDERSTUDY_NIGHTLY"))


def many(count: int) -> int:
    """So many at night; by day, when they are the same each time, a tenth of them."""
    return count if NIGHTLY else max(1, count // 10)
