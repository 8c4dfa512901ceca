"""Which records of a unit count, by the definition and one record at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def hashed(data: bytes) -> int:
    state = GOLDEN
    whole = len(data) // 8 * 8
    for start in range(0, whole, 8):
        state = (mix(state ^ int.from_bytes(data[start : start + 8], "little")) + GOLDEN) & _MASK
    last = mix(state ^ int.from_bytes(data[whole:], "little"))
    return mix((last + len(data)) & _MASK)


def kept(records: Iterable[tuple[bytes | None, bytes]], most: int) -> Counter[tuple[bytes, bytes]]:
    """How often each content of each unit counts, of units with their contents."""
    of_units: dict[bytes, Counter[bytes]] = {}
    for unit, content in records:
        if unit:
            of_units.setdefault(unit, Counter())[content] += 1
    found: Counter[tuple[bytes, bytes]] = Counter()
    for unit, contents in of_units.items():
        pairs = [(content, j) for content, times in contents.items() for j in range(1, times + 1)]
        seeds = {content: mix(hashed(unit) ^ mix(hashed(content))) for content in contents}
        pairs.sort(
            key=lambda pair: (mix((seeds[pair[0]] + pair[1] * GOLDEN) & _MASK), hashed(pair[0]), *pair)
        )
        found.update((unit, content) for content, _ in pairs[:most])
    return found
