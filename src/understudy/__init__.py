"""Synthetic tables that stand in for private ones, with a proven (epsilon, delta) bound.

import understudy as us

release = us.fit(df, schema, epsilon=1.0, delta=1e-9, mechanism=us.MST())
synthetic = release.sample()  # as many records as the noisy counts say: an exact number would tell who is in
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the room it lives in. Loaded on first use, so that importing does nothing heavy.
_ROOMS = {
    "Budget": "understudy.privacy",
    "Curator": "understudy.privacy",
    "Domain": "understudy.domain",
    "Field": "understudy.model",
    "FieldGroups": "understudy.mechanisms",
    "Fixed": "understudy.mechanisms",
    "Independent": "understudy.mechanisms",
    "Ledger": "understudy.privacy",
    "MST": "understudy.mechanisms",
    "Marginal": "understudy.marginals",
    "Measurement": "understudy.marginals",
    "NIST_MST": "understudy.mechanisms",
    "PrivBayes": "understudy.mechanisms",
    "PrivSyn": "understudy.mechanisms",
    "Release": "understudy.pipeline",
    "Schema": "understudy.domain",
    "Table": "understudy.data",
    "estimate": "understudy.model",
    "fit": "understudy.pipeline",
    "load": "understudy.pipeline",
    "synth": "understudy.pipeline",
    "table": "understudy.pipeline",
}

__all__ = [*_ROOMS, "__version__"]  # noqa: PLE0604 (names are strings; the check cannot see through the star)


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    value = getattr(import_module(_ROOMS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
