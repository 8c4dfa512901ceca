"""PySpark's daemon with all loaded that its workers load: each of them is a fork of it, and there are hundreds."""

from __future__ import annotations

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import understudy.data.engines.spark_tasks
import understudy.pipeline.drawing.spark_sample
import understudy.pipeline.sources.spark
import understudy.transforms.encode  # noqa: F401

if __name__ == "__main__":
    manager()
