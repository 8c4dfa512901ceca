"""Run every benchmark, or those named: python -m benchmarks [counting startup ...]."""

from __future__ import annotations

import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

# Modules of this folder that serve the benchmarks and measure nothing themselves.
SUPPORT = {"__init__", "__main__", "peers", "reference"}


def main(names: list[str]) -> int:
    """Run them one after the other; one that fails does not stop the rest. The number that failed."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in SUPPORT)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    failed, left_out = {}, {}
    arguments, sys.argv = sys.argv, sys.argv[:1]  # a benchmark's own arguments are not ours
    for name in names or known:
        print(f"\n== {name}", flush=True)
        start = time.perf_counter()
        try:
            module = import_module(f"benchmarks.{name}")
            if not hasattr(module, "main"):
                left_out[name] = "has no main()"
                continue
            module.main()
        except ModuleNotFoundError as error:
            left_out[name] = f"needs {error.name}"
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            failed[name] = type(error).__name__
        print(f"({time.perf_counter() - start:.1f} s)", flush=True)
    sys.argv = arguments
    for name, why in left_out.items():
        print(f"\nskipped: {name}, {why}")
    for name, why in failed.items():
        print(f"\nfailed: {name}, {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
