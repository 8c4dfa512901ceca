"""A survey of 7,634 people with a drafted schema: impossible children, and marginals of three columns.

    python -m benchmarks.survey [runs] [mechanism]

No constraint is declared: what keeps under-15s unmarried and without income here is the model alone; in the last
line's run the schema declares both. Columns are coded as `understudy evaluate` codes them: single ages, and numbers
of many values in 64 bins.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us
from understudy.evaluation import KMarginal, TotalVariation
from understudy.evaluation.baselines import independent
from understudy.evaluation.coding import completed
from understudy.evaluation.columns import Columns
from understudy.mechanisms.registry import DEFAULT
from understudy.pipeline.sources.registry import first_records
from understudy.transforms.encode import Encoder, reading_types

SURVEY = Path(__file__).resolve().parents[1].parent / "shared/data/acs2019/ma2019.csv"
EPSILON, DELTA = 1.0, 1e-9
RULES = [us.Implies("AGEP < 15", "MSP is missing and PINCP is missing")]


def impossible(made: pd.DataFrame) -> list[float]:
    """Of the under-15s: who are or were married, have a status at all, have an income, have one stated at all."""
    numbers = {name: pd.to_numeric(made[name], errors="coerce") for name in ("AGEP", "MSP", "PINCP")}
    children = numbers["AGEP"] < 15
    status, income = numbers["MSP"][children], numbers["PINCP"][children]
    found = status.between(1, 5), status.notna(), income > 0, income.notna()
    return [float(share.mean()) for share in found]


def main(runs: int = 10, mechanism: str = DEFAULT) -> None:
    """Print the figures of some runs and their means, and of one with the rules declared."""
    if not SURVEY.exists():
        print("SKIPPED: no shared data beside the repository")
        return
    warnings.simplefilter("ignore")
    draft = us.draft_schema(SURVEY)
    table = first_records(SURVEY, 10**6, types=reading_types(draft))
    encoder = Encoder(completed(draft, table))
    real: Columns = encoder.forward(table.select(list(encoder.domain)))

    def scores(columns: Columns) -> list[float]:
        rng = np.random.default_rng(0)
        triples = KMarginal(3).values(real, columns, rng)["NIST 3-marginal score"]
        pairs = TotalVariation(2, None).values(real, columns, rng)["2-way total variation"]
        return [triples, pairs]

    print(f"{SURVEY.name}, drafted schema, {mechanism}, epsilon {EPSILON:g}, delta {DELTA:g}, {runs} runs")
    print(f"{'under 15:':<20} married  any status  income  any income  3-marginal score  pair error")
    score, error = scores(independent(real, table.num_rows, np.random.default_rng(1)))
    print(f"{'columns on their own':<20} {'':37} {score:>17.1f}  {error:>10.4f}")
    lines = []
    with tempfile.TemporaryDirectory() as folder:

        def figures(schema: us.Schema, run: int) -> list[float]:
            ledger = Path(folder) / "ledger.db"
            release = us.fit(
                SURVEY, schema, epsilon=EPSILON, delta=DELTA, mechanism=mechanism, job=str(run), ledger=ledger
            )
            made = release.sample(seed=run)
            codes = encoder.forward(made.select(list(encoder.domain)))
            return [*impossible(made.to_pandas()), *scores(codes)]

        for run in range(runs):
            lines.append(figures(draft, run))
            _print(f"run {run}", lines[-1])
        _print("mean", np.mean(lines, axis=0).tolist())
        _print("rules declared", figures(replace(draft, constraints=RULES), runs))


def _print(label: str, line: list[float]) -> None:
    married, status, income, stated, score, error = line
    print(
        f"{label:<20} {married:>7.1%} {status:>11.1%} {income:>7.1%} {stated:>11.1%} {score:>17.1f}  {error:>10.4f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
