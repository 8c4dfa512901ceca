"""What building a wheel does beside copying sources: it takes compiled kernels along, where it can.

A wheel with kernels is for one Python and one platform. It is built where the product's own dependencies are
installed beside hatchling, on a machine that can run what it compiles (see `understudy/shipped_kernels.py`).
Elsewhere, and with HATCH_BUILD_NO_HOOKS=true, the wheel is for every platform and a first run compiles.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("numba", "pyarrow", "duckdb", "click", "rich", "jinja2")
PLATFORMS = {
    "Linux": "manylinux2014_x86_64",
    "Windows": "win_amd64",
}  # nothing is linked to a system's library


class CustomBuildHook(BuildHookInterface):
    """Compiles the kernels and puts them into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels' file, and say in the wheel's name whom it is for."""
        system = PLATFORMS.get(platform.system())
        if version == "editable" or system is None or platform.machine() not in ("x86_64", "AMD64"):
            return
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            self.app.display_info(
                f"no kernels are compiled: {', '.join(missing)} not installed beside hatchling"
            )
            return
        self.folder = tempfile.TemporaryDirectory()
        place, root = Path(self.folder.name) / "kernels.bin", Path(self.root)
        environment = os.environ | {"PYTHONPATH": str(root / "src")}
        command = [sys.executable, str(root / "compile_kernels.py"), str(place)]
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        build_data["force_include"][str(place)] = "understudy/kernels.bin"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-{system}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Drop the folder that the kernels were written to."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
