"""Factors over named columns, junction trees, and belief propagation over their flat layout."""
