"""Who competes: our mechanisms by their registered names, and peers, each with how often a cell is played."""

from __future__ import annotations

from understudy.mechanisms.registry import DEFAULT, kinds

EPSILONS = (0.1, 1.0, 10.0)
SMALL_ROWS = (100, 300, 1000)
RUNS, SMALL_RUNS = 5, 30
WIDE, FEW_RUNS = ("stroke", "wide98"), 2  # sets that take minutes a run, and how many runs they get
OURS = ("adaptive", "aim", "mst", "privsyn", "independent")
# Not private, one epsilon (0): what no synthetic table need beat, and what a table without dependence can reach.
REFERENCES = {"resampled": "bootstrap", "columns-exact": "independent"}
# With a public table, by the word after a mechanism's name: as it is, or with its columns shuffled, each on its own.
WITH_PUBLIC = {" + year 0": False, " + year 0 shuffled": True}
AGAINST = "independent"  # what the default must not be worse than on little data
NEW = "adaptive" if DEFAULT == "mst" else DEFAULT


def ours() -> list[str]:
    """Our own systems that are registered, the newest first."""
    known = {kind.name for kind in kinds()}
    return [name for name in OURS if name in known]
