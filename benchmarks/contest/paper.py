"""The paper's figures, to stand beside ours: mean over Arizona and Vermont, and the quality of trees."""

from __future__ import annotations

METRICS = ("3-way", "conjunctions", "income", "overall")
EPSILONS = (0.3, 1.0, 8.0)

# Ours by the paper's name, in the paper's order.
ORDER = ("NIST-MST", "MST", "DPSyn", "PrivBayes", "Gardn999", "UCLANESL")

ERRORS: dict[tuple[str, float], tuple[float, float, float, float]] = {
    ("NIST-MST", 0.3): (0.12, 0.17, 0.10, 0.13),
    ("MST", 0.3): (0.11, 0.16, 0.10, 0.12),
    ("DPSyn", 0.3): (0.15, 0.31, 0.07, 0.18),
    ("PrivBayes", 0.3): (0.19, 0.29, 0.18, 0.22),
    ("Gardn999", 0.3): (0.21, 0.32, 0.25, 0.26),
    ("UCLANESL", 0.3): (0.57, 0.72, 0.22, 0.50),
    ("NIST-MST", 1.0): (0.09, 0.15, 0.04, 0.09),
    ("MST", 1.0): (0.09, 0.15, 0.05, 0.10),
    ("DPSyn", 1.0): (0.11, 0.23, 0.05, 0.13),
    ("PrivBayes", 1.0): (0.17, 0.26, 0.09, 0.17),
    ("Gardn999", 1.0): (0.18, 0.28, 0.22, 0.23),
    ("UCLANESL", 1.0): (0.42, 0.53, 0.28, 0.41),
    ("NIST-MST", 8.0): (0.07, 0.14, 0.04, 0.08),
    ("MST", 8.0): (0.08, 0.14, 0.05, 0.09),
    ("DPSyn", 8.0): (0.09, 0.20, 0.02, 0.10),
    ("PrivBayes", 8.0): (0.13, 0.23, 0.09, 0.15),
    ("Gardn999", 8.0): (0.17, 0.26, 0.24, 0.22),
    ("UCLANESL", 8.0): (0.35, 0.41, 0.25, 0.34),
}

# Summed mutual information of the chosen tree, on Arizona and on Vermont.
TREES: dict[str, tuple[float, float]] = {
    "best": (73.64, 63.32),
    "public": (72.81, 62.79),
    "epsilon 0.3": (70.53, 61.15),
    "epsilon 1": (72.27, 62.35),
    "epsilon 8": (73.05, 63.09),
    "random": (8.55, 6.95),
}

# The noise of NIST-MST as it was submitted: one scale for both rounds.
SUBMITTED_SIGMA = {0.3: 34.61, 1.0: 10.45, 8.0: 1.385}
SUBMITTED_STEPS = {0.3: 7_500, 1.0: 7_500, 8.0: 10_000}
