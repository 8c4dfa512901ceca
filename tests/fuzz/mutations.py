"""Bytes, texts and plain values with a few of their parts changed, by a generator of random numbers."""

from __future__ import annotations

import copy
import re
import struct
from random import Random
from typing import Any

ODD_NUMBERS = ("0", "-1", "1", "2", "255", "65536", "4294967295", "9223372036854775807", "1" + "0" * 30)
LONGEST = 2**22  # characters of a text that was changed
ODD_TEXTS = (
    *ODD_NUMBERS,
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-308",
    "1e999",
    "true",
    "",
    " ",
    "\u0000",
    "\ud7ff",
    "é",
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "x", "\u0000", "\ud800", [], {}, [[]], {"": None}, "9" * 5000),
    *(0, 1, -1, 2, 0.5, 1e308, -1e308, 5e-324, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 10**30, 10**400),
    *(float("nan"), float("inf"), ["a"] * 40, {"kind": "x"}, [0] * 1000, 10**9),
)
DROPPED = object()


def mutated_bytes(random: Random, data: bytes, keep: int = 0) -> bytes:
    """The bytes after one to six changes; the first `keep` of them stay as they are."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        size = len(found)
        if size <= keep:
            break
        place = random.randrange(keep, size)
        end = min(size, place + random.choice((1, 2, 4, 8, 64, 512)))
        match random.randrange(9):
            case 0:
                found[place] ^= 1 << random.randrange(8)
            case 1:
                found[place:end] = random.randbytes(end - place)
            case 2:
                del found[place:end]
            case 3:
                del found[place:]
            case 4:
                found[place:place] = found[place:end]
            case 5:
                found[place:place] = random.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
            case 6:
                found[place:end] = random.choice((b"\xff", b"\x00", b"\x7f", b'"', b"\n", b",")) * (
                    end - place
                )
            case 7:
                other = random.randrange(keep, size)
                found[place:end] = found[other : other + end - place]
            case _:
                found[place] = random.choice(b"\x00\xff\x80\x7f\"',;\t\r\n\\[]{}")
    return bytes(found)


def mutated_numbers(random: Random, data: bytes) -> bytes:
    """As many bytes, in which up to three numbers of eight bytes are others."""
    found = bytearray(data)
    for _ in range(random.choice((1, 1, 3))):
        if len(found) >= 8:
            place = random.randrange(len(found) // 8) * 8
            odd = random.choice(
                (0.0, -1.0, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"), 1e-300, 1e17)
            )
            whole = struct.pack("<q", random.choice((-1, 2**63 - 1, 10**9)))
            found[place : place + 8] = struct.pack("<d", odd) if random.random() < 0.7 else whole
    return bytes(found)


def mutated_text(random: Random, text: str) -> str:
    """The text after one to four changes of its words, numbers, signs and lines."""
    for _ in range(random.choice((1, 1, 2, 4))):
        words = list(re.finditer(r"-?\d+(?:\.\d+)?|\w+|[^\w\s]", text))
        lines = text.splitlines(keepends=True)
        if not words:
            return random.choice(ODD_TEXTS)
        word, other = random.choice(words), random.choice(words)
        match random.randrange(8):
            case 0:
                text = text[: word.start()] + random.choice(ODD_TEXTS) + text[word.end() :]
            case 1:
                text = text[: word.start()] + other.group() + text[word.end() :]
            case 2:
                text = text[: word.start()] + text[word.end() :]
            case 3:
                text = "".join(random.sample(lines, len(lines)))
            case 4:
                place = random.randrange(len(lines))
                text = "".join([*lines[:place], *lines[place + 1 :]])
            case 5:
                text = (
                    text[: word.start()] + random.choice("\"'[]{}()=,.;:@/?#&%\\\n*~") + text[word.start() :]
                )
            case 6:
                text += random.choice(lines)
            case _:
                text = text[: word.end()] + word.group() * random.choice((1, 3, 2000)) + text[word.end() :]
        text = text[:LONGEST]  # a repeated word that was repeated itself is no test of anybody's memory
    return text


def mutated_value(random: Random, value: Any) -> Any:
    """A copy of plain JSON with one to three of its places changed, taken away, doubled or swapped."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return random.choice(ODD_VALUES)
        parent, key = random.choice(places)
        new = _new(random, parent[key], places)
        if new is DROPPED:
            del parent[key]
        else:
            parent[key] = copy.deepcopy(new)
    return value


def _new(random: Random, old: Any, places: list[tuple[Any, Any]]) -> Any:
    numeric = isinstance(old, int | float) and not isinstance(old, bool)
    match random.randrange(7):
        case 0:
            return DROPPED
        case 1:
            parent, key = random.choice(places)
            return parent[key]
        case 2 if isinstance(old, list):
            return random.choice((old + old, old[:-1], old[::-1], [*old, None], old * 50))
        case 2 | 3 if numeric:
            return random.choice(
                (old + 1, old - 1, -old, old * 10, old / 10 if abs(old) < 1e300 else 0, old * 10**6)
            )
        case 2 | 3 | 4 if isinstance(old, str) and old:
            return mutated_text(random, old)
        case _:
            return random.choice(ODD_VALUES)


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        for key in list(value):
            yield value, key
            yield from _places(value[key])
    elif isinstance(value, list):
        for number in sorted({0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            yield value, number
            yield from _places(value[number])
