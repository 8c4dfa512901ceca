"""A question to the records: a frozen value that knows how it is checked, priced, worded, drawn and unpacked.

Every question has this one shape, and `Curator._ask` is the one place where it is asked. All but `draw` is decided by
what is public. A question is made of copies of what the caller gave (`question_checks.py`, `plain_values.py`).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from understudy.marginals import Counter
from understudy.privacy.accounting.losses import Loss
from understudy.privacy.accounting.spending import Allowance
from understudy.privacy.curator.exact_counts import ExactCounts
from understudy.privacy.noise.randomness import Randomness


class Price(Protocol):
    """What a question costs; each kind adds the noise that it buys."""

    @property
    def allowance(self) -> Allowance:
        """The allowance after the question."""
        ...

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the question is charged, for the ledger and the certificate."""
        ...


PriceT = TypeVar("PriceT", bound=Price)
AnswerT = TypeVar("AnswerT")


class Question(ABC, Generic[PriceT, AnswerT]):
    """One question, in the order in which its methods are called."""

    def check(self, engine: Counter) -> None:
        """Raise where this engine cannot count what is asked. Called before anything is charged."""

    @abstractmethod
    def price(self, allowance: Allowance) -> PriceT:
        """What the question costs out of this allowance; refused where the allowance does not admit it."""

    @abstractmethod
    def words(self, price: PriceT) -> dict[str, Any]:
        """The question as the ledger records it: public names, scales, weights and digests."""

    def prepare(self) -> Self:
        """The question with whatever code of the caller's it needs already run, so that none runs behind the door.

        Not called where the answer is already stored.
        """
        return self

    @abstractmethod
    def draw(self, counts: ExactCounts, source: Randomness, price: PriceT) -> bytes:
        """A private answer, packed: exact counts and the noise on them. Runs behind the door alone."""

    @abstractmethod
    def unpack(self, answer: bytes, price: PriceT) -> AnswerT:
        """The stored answer, as the caller gets it."""


def digest(*parts: bytes) -> str:
    """SHA-256 of public choices that are too long for a question's words."""
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


def array_bytes(array: npt.NDArray[Any]) -> bytes:
    """An array of integers as the bytes that are digested."""
    return array.astype("<i8").tobytes()


def recoding_digest(maps: Mapping[str, npt.NDArray[np.int64]]) -> str:
    """A digest of a recoding, which tells one view of the records from another."""
    return digest(*(name.encode() + b":" + array_bytes(codes) for name, codes in sorted(maps.items())))
