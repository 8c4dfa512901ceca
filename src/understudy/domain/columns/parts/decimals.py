"""Decimals: how many numbers have, and how numbers are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np


def decimals_of(number: float) -> int:
    """How many decimals it takes to write a number."""
    return max(0, -int(Decimal(repr(number)).normalize().as_tuple().exponent))


_POWER = re.compile(
    r"[+-]?\d(?:\.(?P<decimals>\d+))?(?P<letter>[eE])(?P<sign>[+-]?)(?P<digits>\d+)", re.ASCII
)


def plain_form(texts: Sequence[str]) -> str | None:
    """The format of numbers in the plain grammar that another program would write otherwise; None of others.

    With an exponent, with a plus before all that are not negative, with the same decimals, zeros at the end included.
    """
    powers = [_POWER.fullmatch(text.strip()) for text in texts]
    found = [power for power in powers if power is not None]
    if (
        found
        and len(found) == len(powers)
        and len({(p["decimals"] is None, p["letter"]) for p in found}) == 1
    ):
        decimals = max(len(power["decimals"] or "") for power in found)
        signed = "+" if any(power["sign"] == "+" for power in found) else ""
        signed = signed or "+" * all(power["sign"] for power in found)
        digits = "0" * min(len(power["digits"]) for power in found)
        return f"1{'.' * bool(decimals)}{'0' * decimals}{found[0]['letter']}{signed}{digits[:3]}"
    sized = [text.strip() for text in texts if text.strip()[:1] != "-" and set(text) & set("123456789")]
    plus = "+" if sized and all(text[0] == "+" for text in sized) else ""
    fixed = _fixed_decimals(texts)
    if not plus or fixed:
        return f"{plus}{fixed}" if fixed else None
    most = max(len(text.partition(".")[2]) for text in texts)
    return None if most > 6 else f"+0{'.' * bool(most)}{'#' * most}"


def _fixed_decimals(texts: Sequence[str]) -> str | None:
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


def coarsest_step(values: list[float], written: str | None = None) -> float | None:
    """The coarsest step, from whole numbers to four decimals, that holds every value.

    None where no such step does, and where a format `written` has an exponent, however few decimals it comes to.
    """
    if written is not None and "e" in written.lower():
        return None
    numbers = np.array(values)
    decimals = next((p for p in range(5) if (np.round(numbers, p) == numbers).all()), None)
    return None if decimals is None else 1.0 / 10**decimals
