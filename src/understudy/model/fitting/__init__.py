"""A field from noisy measurements: the paper's estimation of theta, to a certified optimum."""
