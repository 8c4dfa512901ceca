"""What every rival's script shares: codes in, codes out, and the budget; runs with NumPy alone.

    python benchmarks/rivals/<rival>.py MECHANISM TABLE.csv DOMAIN.json OUT.csv EPSILON DELTA

The table holds integer codes, the domain says how many each column has. Scripts run in an environment that has the
rival and nothing of ours.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Asked:
    """What a script was called with, the table read."""

    mechanism: str
    sizes: dict[str, int]
    codes: dict[str, Any]
    rows: int
    epsilon: float
    delta: float
    out: str

    def write(self, made: Mapping[str, Any]) -> None:
        """Write synthetic codes."""
        columns = np.stack([np.asarray(made[name], np.int64) for name in self.sizes], axis=1)
        np.savetxt(self.out, columns, fmt="%d", delimiter=",", header=",".join(self.sizes), comments="")


def asked() -> Asked:
    """The command line's words, and the table they name."""
    mechanism, table, domain, out, epsilon, delta = sys.argv[1:]
    sizes = json.loads(Path(domain).read_text(encoding="utf-8"))
    with Path(table).open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        cells = np.loadtxt(file, delimiter=",", dtype=np.int64, ndmin=2)
    codes = {name: cells[:, header.index(name)] for name in sizes}
    return Asked(mechanism, sizes, codes, len(cells), float(epsilon), float(delta), out)


def zcdp(epsilon: float, delta: float) -> float:
    """The largest rho whose zero-concentrated privacy is (epsilon, delta), by the usual bound over orders."""
    orders = 1 + np.geomspace(1e-4, 1e6, 20_000)
    low, high = 0.0, epsilon
    for _ in range(60):
        rho = (low + high) / 2
        with np.errstate(over="ignore"):
            least = np.min(
                (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
            )
        low, high = (rho, high) if least <= math.log(delta) else (low, rho)
    return low
