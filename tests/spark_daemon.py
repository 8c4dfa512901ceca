"""PySpark's daemon with all loaded that its workers load: each of them is a fork of it, and there are hundreds."""

from __future__ import annotations

import gc

import duckdb  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import understudy.data.engines.spark_tasks
import understudy.pipeline.drawing.spark_sample
import understudy.pipeline.sources.spark
import understudy.transforms.encode  # noqa: F401

if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # a worker looks for garbage after each task: not among all that was loaded here
    manager()
