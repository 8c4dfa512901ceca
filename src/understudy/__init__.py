"""Synthetic tables that stand in for private ones, with a proven (epsilon, delta) bound.

import understudy as us

release = us.fit("people.csv", "people.toml", epsilon=1.0, delta=1e-9)
synthetic = release.sample()  # as many records as the noisy counts say: an exact number would tell who is in
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names
from understudy.version import __version__

if TYPE_CHECKING:
    from understudy.auditing import Audit, audit
    from understudy.data import Table
    from understudy.domain import Domain, Schema
    from understudy.marginals import Marginal, Measurement
    from understudy.mechanisms import MST, NIST_MST, Fit, Fixed, Independent, Mechanism
    from understudy.model import Field, estimate
    from understudy.pipeline import Release, fit, load, synth, table
    from understudy.privacy import Budget, Curator, Group, Ledger
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Audit": "understudy.auditing",
            "Budget": "understudy.privacy",
            "Curator": "understudy.privacy",
            "Domain": "understudy.domain",
            "Field": "understudy.model",
            "Fit": "understudy.mechanisms",
            "Fixed": "understudy.mechanisms",
            "Group": "understudy.privacy",
            "Independent": "understudy.mechanisms",
            "Ledger": "understudy.privacy",
            "MST": "understudy.mechanisms",
            "Marginal": "understudy.marginals",
            "Measurement": "understudy.marginals",
            "Mechanism": "understudy.mechanisms",
            "NIST_MST": "understudy.mechanisms",
            "Release": "understudy.pipeline",
            "Schema": "understudy.domain",
            "Table": "understudy.data",
            "audit": "understudy.auditing",
            "estimate": "understudy.model",
            "fit": "understudy.pipeline",
            "load": "understudy.pipeline",
            "synth": "understudy.pipeline",
            "table": "understudy.pipeline",
        },
    )

__all__ = [
    "MST",
    "NIST_MST",
    "Audit",
    "Budget",
    "Curator",
    "Domain",
    "Field",
    "Fit",
    "Fixed",
    "Group",
    "Independent",
    "Ledger",
    "Marginal",
    "Measurement",
    "Mechanism",
    "Release",
    "Schema",
    "Table",
    "__version__",
    "audit",
    "estimate",
    "fit",
    "load",
    "synth",
    "table",
]
