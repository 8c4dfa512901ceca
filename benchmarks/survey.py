"""A survey of 7,634 people with a drafted schema: impossible children, and marginals of three columns.

    python -m benchmarks.survey [runs]

No constraint is declared: what keeps under-15s unmarried and without income here is the model alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import understudy as us
from understudy.evaluation import KMarginal, TotalVariation
from understudy.evaluation.baselines import independent
from understudy.evaluation.columns import Columns

SURVEY = Path(__file__).resolve().parents[1].parent / "shared/data/acs2019/ma2019.csv"
EPSILON, DELTA = 1.0, 1e-9


def impossible(records: pd.DataFrame) -> tuple[float, float]:
    """The shares of under-15s who are married (or were), and who have an income."""
    children = records[records["AGEP"].astype(float) < 15]
    return tuple(float((~children[name].isin(["N", ""])).mean()) for name in ("MSP", "PINCP"))


def coded(real: pd.DataFrame, others: list[pd.DataFrame]) -> list[Columns]:
    """The tables in one coding: a text is its own code, but numbers of many values lie in the real ones' deciles."""
    found: list[Columns] = [{} for _ in range(1 + len(others))]
    for name in real:
        numbers = pd.to_numeric(real[name], errors="coerce")
        cuts = np.unique(numbers.quantile(np.arange(1, 10) / 10)) if numbers.nunique() > 50 else None
        texts: dict[object, int] = {}
        for place, table in enumerate((real, *others)):
            cells = pd.to_numeric(table[name], errors="coerce")
            codes = np.searchsorted(cuts, cells, side="right") if cuts is not None else cells.fillna(-1)
            told = [
                f"{code:g}" if known else str(text)
                for code, known, text in zip(codes, cells.notna(), table[name], strict=True)
            ]
            found[place][name] = np.array([texts.setdefault(text or "N", len(texts)) for text in told])
    return found


def main(runs: int = 5) -> None:
    """Print the figures of some runs and their means."""
    if not SURVEY.exists():
        print("SKIPPED: no shared data beside the repository")
        return
    real = pd.read_csv(SURVEY, dtype=str, keep_default_na=False)
    made = []
    with tempfile.TemporaryDirectory() as folder:
        draft = us.draft_schema(SURVEY)
        for run in range(runs):
            release = us.fit(
                SURVEY, draft, epsilon=EPSILON, delta=DELTA, job=str(run), ledger=Path(folder) / "ledger.db"
            )
            made.append(release.sample(seed=run).to_pandas().astype(object).fillna("N").astype(str))
    tables = coded(real, made)
    rng = np.random.default_rng(0)
    alone = independent(tables[0], len(real), rng)
    print(f"{SURVEY.name}, drafted schema, MST, epsilon {EPSILON:g}, delta {DELTA:g}, {runs} runs")
    print("                       married under 15  income under 15  3-marginal score  pair error")

    def line(label: str, shares: tuple[float, float] | None, columns: Columns) -> list[float]:
        score = KMarginal(3, None).values(tables[0], columns, rng)["NIST 3-marginal score"]
        pair = TotalVariation(2, None).values(tables[0], columns, rng)["2-way total variation"]
        married, income = shares or (float("nan"), float("nan"))
        print(f"  {label:<20} {married:>16.1%}  {income:>15.1%}  {score:>16.1f}  {pair:>10.4f}")
        return [married, income, score, pair]

    line("independent columns", None, alone)
    lines = [
        line(f"run {n}", impossible(table), c)
        for n, (table, c) in enumerate(zip(made, tables[1:], strict=True))
    ]
    married, income, score, pair = np.mean(lines, axis=0)
    print(f"  {'mean':<20} {married:>16.1%}  {income:>15.1%}  {score:>16.1f}  {pair:>10.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
