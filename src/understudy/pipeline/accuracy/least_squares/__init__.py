"""Regressions from a release: their terms, the sums that they need, and what follows from bounds of these."""
