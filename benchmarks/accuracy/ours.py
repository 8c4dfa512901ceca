"""Plays cells of our own systems, in a process of its own: python -m benchmarks.accuracy.ours JOB.

JOB is a JSON object: data, epsilon, system, rows, runs (numbers). One JSON line is printed for every run as it ends,
and one with the code that was loaded, so that the caller can keep them.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from benchmarks.accuracy.cells import Cell, loaded_code
from benchmarks.accuracy.data_sets import DataSet, read_set, year_zero
from benchmarks.accuracy.scores import errors
from benchmarks.accuracy.systems import REFERENCES, WITH_PUBLIC

import understudy
from understudy.domain import Integer, Schema
from understudy.evaluation.baselines import BASELINES
from understudy.mechanisms import Mechanism
from understudy.mechanisms.registry import mechanism_kind
from understudy.privacy import Seeded

DELTA = 1e-9


def main(job: dict[str, Any]) -> None:
    """Play the runs one after the other."""
    warnings.simplefilter("ignore")
    whole = read_set(job["data"])
    for run in job["runs"]:
        cell = Cell(job["data"], job["epsilon"], job["system"], run, job["rows"])
        records = whole.drawn(cell.rows, cell.run) if cell.rows else whole
        begun, used = time.perf_counter(), time.process_time()
        made = reference(records, cell) if cell.system in REFERENCES else synthetic(records, cell)
        seconds, processor = time.perf_counter() - begun, time.process_time() - used
        found = errors(records.columns, made)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        said = {"seconds": seconds, "processor_s": processor, "megabytes": most, **asdict(found)}
        said |= {"run": run, "files": loaded_code(), "version": f"understudy {understudy.__version__}"}
        print(json.dumps(said), flush=True)


def reference(records: DataSet, cell: Cell) -> dict[str, npt.NDArray[Any]]:
    """Records that protect no one and show what an error means: real ones drawn again, or columns without noise."""
    columns = dict(records.columns)
    return BASELINES[REFERENCES[cell.system]](columns, records.rows, np.random.default_rng(cell.seed))


def synthetic(records: DataSet, cell: Cell) -> dict[str, npt.NDArray[Any]]:
    """Records that `fit` and `sample` make of these, as a person gets them; but noise is seeded, to be repeated.

    The schema says how many codes a column has and that none is missing: all that peers are told. No order is said.
    """
    columns = {name: _codes(size) for name, size in records.sizes.items()}
    schema = Schema(columns, name=records.name)
    mechanism = _mechanism(cell, schema)
    table = pa.table({name: pa.array(column) for name, column in records.columns.items()})
    with tempfile.TemporaryDirectory() as folder:
        release = understudy.fit(
            table,
            schema,
            epsilon=cell.epsilon,
            delta=DELTA,
            mechanism=mechanism,
            ledger=Path(folder) / "ledger.db",
            source=Seeded(cell.seed),
        )
        made = release.sample(seed=cell.seed)
    return {name: np.asarray(made[name].to_numpy()) for name in columns}


def _mechanism(cell: Cell, schema: Schema) -> Mechanism | str:
    """The mechanism that a system names, with the public table that it names."""
    for words, shuffled in WITH_PUBLIC.items():
        if cell.system.endswith(words):
            rng = np.random.default_rng(0)
            codes = {
                name: rng.permutation(column) if shuffled else column
                for name, column in year_zero().columns.items()
            }
            public = understudy.table(pa.table(codes), schema)
            return mechanism_kind(cell.system.removesuffix(words)).make(public=public)
    return cell.system


def _codes(size: int) -> Integer:
    most = max(1, size - 1)
    return Integer(min=0, max=most, bins=most + 1, missing=False, ordered=False)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
