"""From a file to a release, in the paper's eight steps. Names are loaded on first use."""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.pipeline.accuracy.interval import Estimate
    from understudy.pipeline.accuracy.least_squares.regression import Regression
    from understudy.pipeline.accuracy.stated_errors import ExpectedErrors
    from understudy.pipeline.accuracy.table_questions import QueryAnswers
    from understudy.pipeline.certificate import Verdict
    from understudy.pipeline.draft import draft_schema
    from understudy.pipeline.forecast import Forecast, plan
    from understudy.pipeline.release import Release, load
    from understudy.pipeline.signature import new_key
    from understudy.pipeline.synthesizer import fit, synth, table
    from understudy.report.misfits import MisfitWarning

__all__ = [
    "Estimate",
    "ExpectedErrors",
    "Forecast",
    "MisfitWarning",
    "QueryAnswers",
    "Regression",
    "Release",
    "Verdict",
    "draft_schema",
    "fit",
    "load",
    "new_key",
    "plan",
    "synth",
    "table",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
