"""Synthetic tables that stand in for private ones, with a proven (epsilon, delta) bound.

import understudy as us

release = us.fit("people.csv", "people.toml", epsilon=1.0, delta=1e-9)
synthetic = release.sample()  # as many records as the noisy counts say: an exact number would tell who is in

What the command line can, these names can, by the same words: draft_schema, plan, fit, synth, load, evaluate, audit,
and a release's own sample, query, expected_error, report, verify and save; `release.regress` is here alone.
`help(us.fit)` says what each parameter means.
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
        Derived,
        Determines,
        Domain,
        Fake,
        Id,
        Implies,
        Integer,
        MissingTogether,
        Never,
        Number,
        Order,
        Schema,
        Time,
    )
    from understudy.errors import UnderstudyError
    from understudy.evaluation import Comparison, evaluate
    from understudy.exchange import export_release, export_schema, import_schema
    from understudy.marginals import Counter, Marginal, Measurement
    from understudy.mechanisms import (
        AIM,
        MST,
        NIST_MST,
        Adaptive,
        Fit,
        Fixed,
        Generator,
        Independent,
        Mechanism,
        MechanismKind,
        Setting,
        Workload,
        allot,
    )
    from understudy.model import Field, estimate
    from understudy.pipeline import (
        Estimate,
        ExpectedErrors,
        Forecast,
        MisfitWarning,
        QueryAnswers,
        Regression,
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

__all__ = [
    "AIM",
    "MST",
    "NIST_MST",
    "Adaptive",
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
    "Derived",
    "Determines",
    "Domain",
    "Estimate",
    "ExpectedErrors",
    "Fake",
    "Field",
    "Fit",
    "Fixed",
    "Forecast",
    "Gaussian",
    "Generator",
    "Group",
    "Id",
    "Implies",
    "Independent",
    "Integer",
    "Laplace",
    "Ledger",
    "Marginal",
    "Measurement",
    "Mechanism",
    "MechanismKind",
    "MisfitWarning",
    "MissingTogether",
    "Neighbours",
    "Never",
    "Number",
    "Order",
    "QueryAnswers",
    "Regression",
    "Release",
    "Role",
    "Schema",
    "Setting",
    "Table",
    "Time",
    "UnderstudyError",
    "Verdict",
    "Workload",
    "__version__",
    "allot",
    "audit",
    "draft_schema",
    "estimate",
    "evaluate",
    "export_release",
    "export_schema",
    "fit",
    "import_schema",
    "load",
    "new_key",
    "plan",
    "synth",
    "table",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
