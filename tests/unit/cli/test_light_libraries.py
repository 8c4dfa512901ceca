"""Commands that read files load neither pandas nor SciPy, and whoever wants them afterwards gets them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIGHT = """
import sys
from understudy.cli.light_libraries import load_light

load_light({source!r})
print("pandas" in sys.modules or "scipy.linalg" in sys.modules)
import pandas as pd
import pyarrow as pa
import scipy.linalg
frame = pd.DataFrame({{"a": [1.5, None], "b": pd.Categorical(["x", None])}})
table = pa.Table.from_pandas(frame, preserve_index=False)
print(table.to_pandas().equals(frame), table["a"].null_count, pa.types.is_dictionary(table["b"].type))
"""


@pytest.mark.parametrize("source", [None, "here.csv", "elsewhere:table"])
def test_pandas_is_loaded_only_by_who_wants_it(source: str | None, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    (tmp_path / "here.csv").write_text("a\n1\n")
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(source=source)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["False", "True 1 True"]
