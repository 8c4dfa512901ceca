"""How well synthetic data stands in for the real."""
