"""Exact counts, noisy measurements, and the seam behind which engines count."""

from understudy.marginals.counter import Counter
from understudy.marginals.marginal import Marginal, Measurement
from understudy.marginals.query import Query

__all__ = ["Counter", "Marginal", "Measurement", "Query"]
