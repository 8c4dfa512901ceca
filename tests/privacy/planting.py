"""Bugs to plant in the product, each with the check that must find it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from understudy.privacy.noise import cumulative_table as noise_table

Check = Callable[..., None]
Plant = Callable[[pytest.MonkeyPatch], None]


class Suite:
    """The checks of a module, and the planted bugs that each of them must catch."""

    def __init__(self, checks: ModuleType) -> None:
        named = [found for name, found in vars(checks).items() if name.startswith("check_")]
        self.checks: list[Check] = [check for check in named if check.__module__ == checks.__name__]
        self.bugs: dict[str, tuple[Plant, Check]] = {}

    def caught_by(self, check: Check) -> Callable[[Plant], Plant]:
        """Register a planted bug under its own name, with the check that must find it."""

        def register(plant: Plant) -> Plant:
            assert plant.__name__ not in self.bugs, "two bugs of one name"
            self.bugs[plant.__name__] = plant, check
            return plant

        return register

    def check_caught(self, name: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        """The check of a bug fails once it is planted; the product is as it was afterwards."""
        plant, check = self.bugs[name]
        noise_table.tabulate.cache_clear()
        try:
            plant(patch)
            with pytest.raises(AssertionError):
                run(check, folder)
        finally:
            patch.undo()
            noise_table.tabulate.cache_clear()

    def idle(self) -> set[Check]:
        """Checks that no planted bug needs."""
        return set(self.checks) - {check for _, check in self.bugs.values()}


def run(check: Check, folder: Path) -> None:
    """A check, given a folder of its own where it wants one."""
    check(folder) if inspect.signature(check).parameters else check()
