"""Words for noise that the name of a test decides, in place of the operating system's.

The product asks `os.urandom` for them as ever, and calls them private: only what answers is another. A forked process
gets the operating system's, so that a source that kept words across a fork would still be found out.
"""

from __future__ import annotations

import hashlib
import os
from types import SimpleNamespace

import numpy as np

from nightly import NIGHTLY
from understudy.privacy.noise import randomness

_owner = os.getpid()


def deal(name: str) -> None:
    """From here on, words are those of this name, from the first."""
    if NIGHTLY:
        return
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])
    stream = np.random.default_rng(seed)

    def urandom(size: int) -> bytes:
        return stream.bytes(size) if os.getpid() == _owner else os.urandom(size)

    randomness.os = SimpleNamespace(urandom=urandom)  # type: ignore[assignment]
