"""The simulated town as a table of the studio: people who never lived, with a ledger of their own."""

from __future__ import annotations

from understudy.studio.workspace import ChosenTable, Workspace

FOLDER_NAME = "demo"
PEOPLE = 5_000  # enough to look at, and a run takes seconds


def demo_table(here: Workspace, rows: int = PEOPLE) -> ChosenTable:
    """The town in the folder `demo`, made where it is not there yet; that of `understudy demo` is taken as it is."""
    import understudy as us
    from understudy.data import write
    from understudy.presets import town

    folder = here.start / FOLDER_NAME
    records, described = folder / "town.csv", folder / "town.toml"
    folder.mkdir(exist_ok=True)
    if not records.exists():
        write(town.simulate(rows, seed=1), records)
    if not described.exists():
        described.write_text(town.SCHEMA.replace(f"rows = {town.PEOPLE}", f"rows = {rows}"), encoding="utf-8")
    return here.add(str(records), us.Schema.load(described), ledger=str(folder / "ledger.db"))
