r"""Patterns of keys, such as `PT-\d{6}`: a small part of regular expressions, in which every key has one length.

A key's characters are chosen one by one, so the keys of a pattern are the numbers from 0 to its size, written in
mixed radix. Record number n of a sample gets the n-th number of a shuffle of them all (a Feistel network that walks
on until it is within the size; Black and Rogaway, 2002): no two records share one, and nobody has to remember which
keys were used.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.parts.fields import refuse

LONGEST = 200  # characters of a key
_WIDEST = 1 << 62  # of the numbers that are shuffled; what a pattern has beyond comes from a hash
_ROUNDS = 6
_KNOWN = {"d": string.digits, "w": string.ascii_letters + string.digits + "_"}
_SUPPORTED = r"write letters, \d, \w, classes such as [A-Z], and counts such as {6}; \ before any other sign."

Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class KeyPattern:
    """The characters that may stand in each place of a key."""

    slots: tuple[str, ...]

    @classmethod
    def read(cls, pattern: str) -> KeyPattern:
        """The pattern that a person wrote, or a refusal that says what is not understood."""
        body = pattern.removeprefix("^")
        body = body[:-1] if body.endswith("$") and not body.endswith("\\$") else body
        slots: list[str] = []
        place = 0
        while place < len(body):
            characters, place = _atom(pattern, body, place)
            times, place = _times(pattern, body, place)
            slots += [characters] * times
            if len(slots) > LONGEST:
                refuse("pattern", pattern, f"makes keys of more than {LONGEST} characters.", "shorten it.")
        return cls(tuple(slots))

    @cached_property
    def size(self) -> int:
        """How many keys there are."""
        return prod(len(slot) for slot in self.slots)

    def keys(self, rows: int, first: int, seed: int) -> pa.Array:
        """The keys of records `first`, `first` + 1, ...: no two alike, whatever part of a sample is made."""
        shuffled, size = len(self.slots), 1  # the places from the end on whose numbers are shuffled
        while shuffled and size * len(self.slots[shuffled - 1]) <= _WIDEST:
            shuffled -= 1
            size *= len(self.slots[shuffled])
        numbers = np.arange(first, first + rows, dtype=np.uint64)
        left = shuffle(numbers, size, seed)
        lots = np.random.default_rng([seed, 1]).integers(2**64, size=len(self.slots), dtype=np.uint64)
        written = np.empty((rows, max(1, len(self.slots))), "U1")
        for place in range(len(self.slots) - 1, -1, -1):
            characters = np.array(list(self.slots[place]))
            if place >= shuffled:
                left, digits = np.divmod(left, np.uint64(len(characters)))
            else:
                digits = _mixed(numbers ^ lots[place]) % np.uint64(len(characters))
            written[:, place] = characters[digits]
        return pa.array(written.view(f"U{written.shape[1]}").ravel(), pa.string())


def shuffle(numbers: Numbers, size: int, seed: int) -> Numbers:
    """The places of `numbers`, all below `size`, in a shuffle of the numbers from 0 to `size` that the seed names."""
    half = np.uint64(max(1, -(-(size - 1).bit_length() // 2)))
    low = (np.uint64(1) << half) - np.uint64(1)
    keys = np.random.default_rng(seed).integers(2**64, size=_ROUNDS, dtype=np.uint64)
    found = numbers.copy()
    outside = np.ones(len(found), bool)
    while outside.any():
        left, right = found[outside] >> half, found[outside] & low
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & low)
        found[outside] = (left << half) | right
        outside = found >= np.uint64(size)
    return found


def _mixed(numbers: Numbers) -> Numbers:
    """The finaliser of splitmix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _atom(pattern: str, body: str, place: int) -> tuple[str, int]:
    """The characters of the atom that begins there, and where the next one does."""
    sign = body[place]
    if sign == "[":
        return _class(pattern, body, place + 1)
    if sign == "\\":
        return _escaped(pattern, body, place + 1), place + 2
    if sign in ".*+?()|{}^$]":
        refuse("pattern", pattern, f"has {sign!r}, which is not known here.", _SUPPORTED)
    return sign, place + 1


def _escaped(pattern: str, body: str, place: int) -> str:
    sign = body[place : place + 1]
    if sign in _KNOWN:
        return _KNOWN[sign]
    if not sign or sign.isalnum():
        refuse("pattern", pattern, f"has '\\{sign}', which is not known here.", _SUPPORTED)
    return sign


def _class(pattern: str, body: str, place: int) -> tuple[str, int]:
    """The characters of a class whose bracket was just read."""
    found: list[str] = []
    while body[place : place + 1] != "]":
        if place >= len(body) or body[place] in "[^":
            refuse("pattern", pattern, "has a class that is not understood.", _SUPPORTED)
        one = _escaped(pattern, body, place + 1) if body[place] == "\\" else body[place]
        place += 2 if body[place] == "\\" else 1
        if body[place : place + 1] == "-" and body[place + 1 : place + 2] not in ("", "]"):
            last = body[place + 1]
            if len(one) != 1 or last == "\\" or last < one:
                refuse("pattern", pattern, "has a range that is not understood.", _SUPPORTED)
            one = "".join(map(chr, range(ord(one), ord(last) + 1)))
            place += 2
        found += one
    if not found:
        refuse("pattern", pattern, "has an empty class.", _SUPPORTED)
    return "".join(dict.fromkeys(found)), place + 1


def _times(pattern: str, body: str, place: int) -> tuple[int, int]:
    """How often the atom before this place stands, and where the next one begins."""
    if body[place : place + 1] != "{":
        return 1, place
    end = body.find("}", place)
    said = body[place + 1 : end] if end > 0 else ""
    if not (said.isascii() and said.isdigit() and 0 < int(said) <= LONGEST):
        refuse("pattern", pattern, "has a count that is not understood.", "write one number, such as {6}.")
    return int(said), end + 1
