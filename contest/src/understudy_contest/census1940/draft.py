"""A simulated table while it is being filled, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy_contest.census1940.chance import Chance, Floats, Ints, Mask
from understudy_contest.census1940.places import Places
from understudy_contest.census1940.states import State


@dataclass(frozen=True, eq=False)
class Draft:
    """The state, the chance, where each person lives, and the columns drawn so far."""

    state: State
    chance: Chance
    places: Places
    district: Ints
    columns: dict[str, Ints] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Ints:
        return self.columns[name]

    def __setitem__(self, name: str, values: Any) -> None:
        self.columns[name] = np.asarray(values)

    def __len__(self) -> int:
        return len(self.district)

    def split(self, detailed: str, generic: str, codes: Any, step: int) -> None:
        """Set a detailed column and the generic one it determines (IPUMS: the leading digits)."""
        self[detailed] = codes
        self[generic] = np.asarray(codes) // step

    @property
    def kind(self) -> Ints:
        """What sort of place each person lives in: 0 city, 1 town, 2 village, 3 farms."""
        return self.places.kind[self.district]

    @property
    def wealth(self) -> Floats:
        """How well off each person's district is."""
        return self.places.wealth[self.district]

    @property
    def sampled(self) -> Mask:
        """Who was on a sample line, and so was asked the further questions."""
        return np.asarray(self["SLREC"] == 2)

    @property
    def working_age(self) -> Mask:
        """Who was asked about work: persons of 14 and over."""
        return np.asarray(self["AGE"] >= 14)
