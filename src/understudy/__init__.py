"""Synthetic tables that stand in for private ones, with a proven (epsilon, delta) bound.

import understudy as us

release = us.fit("people.csv", "people.toml", epsilon=1.0, delta=1e-9)
synthetic = release.sample()  # as many records as the noisy counts say: an exact number would tell who is in

What the command line can, these names can, by the same words: draft_schema, plan, fit, synth, load, evaluate, audit,
and a release's own sample, report, verify and save. `help(us.fit)` says what each parameter means.
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names
from understudy.version import __version__

if TYPE_CHECKING:
    from understudy.auditing import Audit, audit
    from understudy.data import Table
    from understudy.domain import (
        Boolean,
        Category,
        Column,
        Date,
        Datetime,
        Domain,
        Integer,
        Number,
        Schema,
        Time,
    )
    from understudy.errors import UnderstudyError
    from understudy.evaluation import Comparison, evaluate
    from understudy.marginals import Counter, Marginal, Measurement
    from understudy.mechanisms import (
        MST,
        NIST_MST,
        Fit,
        Fixed,
        Generator,
        Independent,
        Mechanism,
        MechanismKind,
        Setting,
        allot,
    )
    from understudy.model import Field, estimate
    from understudy.pipeline import (
        Forecast,
        Release,
        Verdict,
        draft_schema,
        fit,
        load,
        new_key,
        plan,
        synth,
        table,
    )
    from understudy.privacy import Budget, Choice, Curator, Gaussian, Group, Laplace, Ledger, Neighbours, Role
    from understudy.transforms import Compression
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Audit": "understudy.auditing",
            "Boolean": "understudy.domain",
            "Budget": "understudy.privacy",
            "Category": "understudy.domain",
            "Choice": "understudy.privacy",
            "Column": "understudy.domain",
            "Comparison": "understudy.evaluation",
            "Compression": "understudy.transforms",
            "Counter": "understudy.marginals",
            "Curator": "understudy.privacy",
            "Date": "understudy.domain",
            "Datetime": "understudy.domain",
            "Domain": "understudy.domain",
            "Field": "understudy.model",
            "Fit": "understudy.mechanisms",
            "Fixed": "understudy.mechanisms",
            "Forecast": "understudy.pipeline",
            "Gaussian": "understudy.privacy",
            "Generator": "understudy.mechanisms",
            "Group": "understudy.privacy",
            "Independent": "understudy.mechanisms",
            "Integer": "understudy.domain",
            "Laplace": "understudy.privacy",
            "Ledger": "understudy.privacy",
            "MST": "understudy.mechanisms",
            "Marginal": "understudy.marginals",
            "Measurement": "understudy.marginals",
            "Mechanism": "understudy.mechanisms",
            "MechanismKind": "understudy.mechanisms",
            "NIST_MST": "understudy.mechanisms",
            "Neighbours": "understudy.privacy",
            "Number": "understudy.domain",
            "Release": "understudy.pipeline",
            "Role": "understudy.privacy",
            "Schema": "understudy.domain",
            "Setting": "understudy.mechanisms",
            "Table": "understudy.data",
            "Time": "understudy.domain",
            "UnderstudyError": "understudy.errors",
            "Verdict": "understudy.pipeline",
            "allot": "understudy.mechanisms",
            "audit": "understudy.auditing",
            "draft_schema": "understudy.pipeline",
            "estimate": "understudy.model",
            "evaluate": "understudy.evaluation",
            "fit": "understudy.pipeline",
            "load": "understudy.pipeline",
            "new_key": "understudy.pipeline",
            "plan": "understudy.pipeline",
            "synth": "understudy.pipeline",
            "table": "understudy.pipeline",
        },
    )

__all__ = [
    "MST",
    "NIST_MST",
    "Audit",
    "Boolean",
    "Budget",
    "Category",
    "Choice",
    "Column",
    "Comparison",
    "Compression",
    "Counter",
    "Curator",
    "Date",
    "Datetime",
    "Domain",
    "Field",
    "Fit",
    "Fixed",
    "Forecast",
    "Gaussian",
    "Generator",
    "Group",
    "Independent",
    "Integer",
    "Laplace",
    "Ledger",
    "Marginal",
    "Measurement",
    "Mechanism",
    "MechanismKind",
    "Neighbours",
    "Number",
    "Release",
    "Role",
    "Schema",
    "Setting",
    "Table",
    "Time",
    "UnderstudyError",
    "Verdict",
    "__version__",
    "allot",
    "audit",
    "draft_schema",
    "estimate",
    "evaluate",
    "fit",
    "load",
    "new_key",
    "plan",
    "synth",
    "table",
]
