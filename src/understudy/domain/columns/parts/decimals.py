"""Decimals: how many numbers have, and how numbers are shown."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np


def decimals_of(number: float) -> int:
    """How many decimals it takes to write a number."""
    return max(0, -int(Decimal(repr(number)).normalize().as_tuple().exponent))


def fixed_decimals(texts: Sequence[str]) -> str | None:
    """A format of numbers that are all written with the same decimals, zeros at the end included; None of others."""
    decimals = {text.strip().partition(".")[2] for text in texts}
    width = len(next(iter(decimals), ""))
    fixed = width and all(len(end) == width and end.isdigit() for end in decimals)
    return "0." + "0" * width if fixed and any(end.endswith("0") for end in decimals) else None


def shortest(value: Any) -> Any:
    """A number, or a list of them, with 10000.0 as 10000."""
    if isinstance(value, list):
        return [shortest(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def number_label(number: float) -> str:
    """A number with as many digits as it needs, and no more than fit."""
    return f"{number:,.10g}" if abs(number) < 1e9 else f"{number:.4g}"


def coarsest_step(values: list[float]) -> float | None:
    """The coarsest step, from whole numbers to four decimals, that holds every value."""
    numbers = np.array(values)
    decimals = next((p for p in range(5) if (np.round(numbers, p) == numbers).all()), None)
    return None if decimals is None else 1.0 / 10**decimals
