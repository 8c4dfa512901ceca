"""The table of noise scales and the time it takes, beside dp-accounting's PLD in the same run.

    python -m benchmarks.accounting

dp-accounting is no dependency: UNDERSTUDY_PEERS_PYTHON names a Python that has it. Without one, a virtual
environment is made in a temporary folder; when that fails, the comparison is skipped, and said to be.
"""

from __future__ import annotations

import json
import math
import platform
import subprocess
import time
from fractions import Fraction

import numpy as np
from benchmarks.peers import python_with

import understudy
from understudy.privacy import Budget, Gaussian, Group, calibrate, compose

CONTEST = 2.2820544e-12
BUDGETS = [(epsilon, delta) for delta in (CONTEST, 1e-9) for epsilon in (0.3, 1.0, 8.0)]
COLUMNS = 98

PEER = """
import json, sys, time
from importlib.metadata import version
from dp_accounting.pld import privacy_loss_distribution as pld
start = time.perf_counter()
found = [
    pld.from_gaussian_mechanism(sigma / 2**0.5, value_discretization_interval=1e-4).get_epsilon_for_delta(delta)
    for sigma, delta in json.loads(sys.argv[1])
]
print(json.dumps({"version": version("dp-accounting"), "found": found, "seconds": time.perf_counter() - start}))
"""


def plans() -> dict[str, list[Group]]:
    """Two Gaussian groups, and MST's thirds."""
    one, two, half, third = (1.0,) * COLUMNS, (1.0,) * (COLUMNS - 1), Fraction(1, 2), Fraction(1, 3)
    return {
        "two Gaussians": [
            Group("a", "measure", half, weights=one),
            Group("b", "measure", half, weights=two),
        ],
        f"MST, {COLUMNS} columns": [
            Group("a", "measure", third, weights=one),
            Group("tree", "choose", third, COLUMNS - 1),
            Group("b", "measure", third, weights=two),
        ],
    }


def row(name: str, groups: list[Group], epsilon: float, delta: float) -> float:
    """Print one line of the table; the scale."""
    budget = Budget(epsilon, delta)
    start = time.perf_counter()
    loss = calibrate(budget, groups).losses["b"]
    seconds = time.perf_counter() - start
    assert isinstance(loss, Gaussian)
    zcdp = math.sqrt(len(groups) / (2 * budget.rho))
    print(f"{name:>16} {epsilon:>5g} {delta:>10.4g} {loss.sigma:>9.4f} {zcdp:>9.4f} {1e3 * seconds:>8.1f}")
    return loss.sigma


def main() -> None:
    """Print the table."""
    print(f"understudy {understudy.__version__}, numpy {np.__version__}, Python {platform.python_version()}")
    first = time.perf_counter()
    calibrate(Budget(1.0, 1e-6), next(reversed(plans().values())))
    print(
        f"first calibration of an MST plan, code loaded: {time.perf_counter() - first:.2f} s (under 2 wanted)"
    )
    print(f"{'plan':>16} {'eps':>5} {'delta':>10} {'sigma':>9} {'zCDP':>9} {'ms':>8}")
    found = []
    for name, groups in plans().items():
        for epsilon, delta in BUDGETS:
            sigma = row(name, groups, epsilon, delta)
            if len(groups) == 2:
                found.append((sigma, delta))
    with python_with("dp_accounting") as python:
        if python is None:
            return
        done = subprocess.run(
            [python, "-c", PEER, json.dumps(found)], check=True, capture_output=True, text=True
        )
    answer = json.loads(done.stdout)
    print(f"\ndp-accounting {answer['version']} (continuous noise, {answer['seconds']:.1f} s for six):")
    for (sigma, delta), theirs in zip(found, answer["found"], strict=True):
        pair = [Gaussian(sigma, (1.0,) * count) for count in (COLUMNS, COLUMNS - 1)]
        ours = compose(pair).epsilon(delta)
        print(f"  sigma {sigma:.4f} twice, delta {delta:.4g}: epsilon {ours:.5f}; theirs {theirs:.5f}")


if __name__ == "__main__":
    main()
