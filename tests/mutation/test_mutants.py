"""The tool that changes the product to see whether a test notices: it changes what it says it does."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest
from live import Live, NotAppliedError
from mutants import Mutant, mutants_of, read, sampled

HOME = Path(__file__).resolve().parents[2] / "src" / "understudy"
SOURCE = b'''"""A module to be changed."""

from functools import cache

LIMIT = 3


def below(number: int, *, most: int = 10) -> bool:
    """Whether a number is small: 1 < 2 in a docstring stays."""
    if number < 0:
        raise ValueError(f"{number + 1} is below 0")
    return not number >= min(LIMIT, most)


class Box:
    size = 5

    @property
    def room(self) -> int:
        return self.size - 1


@cache
def doubled(number: int) -> int:
    return 2 * number
'''


@pytest.fixture
def live(tmp_path, monkeypatch):
    """The module, imported, and a second that took its names from it."""
    (tmp_path / "understudy_changed.py").write_bytes(SOURCE)
    (tmp_path / "understudy_other.py").write_text("from understudy_changed import LIMIT, below, doubled\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("understudy_changed", "understudy_other"):
        spec = importlib.util.find_spec(name)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return Live(tmp_path)


def planted(live: Live, kind: str, before: str) -> None:
    found = mutants_of("understudy_changed.py", SOURCE)
    live.plant(next(m for m in found if (m.kind, m.before) == (kind, before)), SOURCE)


def test_a_change_is_small_and_says_what_it_is():
    said = [(m.function, m.kind, m.before, m.after) for m in mutants_of("a.py", SOURCE)]
    assert said == [
        ("", "constant", "3", "(4)"),
        ("below", "branch", "number < 0", "(False)"),
        ("below", "comparison", "number < 0", "((number) <= (0))"),
        ("below", "constant", "0", "(1)"),
        ("below", "no raise", 'raise ValueError(f"{number + 1} is below 0")', "pass"),
        ("below", "return", "return not number >= min(LIMIT, most)", "return True"),
        ("below", "return", "return not number >= min(LIMIT, most)", "return False"),
        ("below", "sign", "not number >= min(LIMIT, most)", "(number >= min(LIMIT, most))"),
        ("below", "comparison", "number >= min(LIMIT, most)", "((number) > (min(LIMIT, most)))"),
        ("below", "swap", "min", "(max)"),
        ("Box.room", "return", "return self.size - 1", "return 0"),
        ("Box.room", "operator", "self.size - 1", "(self.size + 1)"),
        ("Box.room", "constant", "1", "(2)"),
        ("doubled", "return", "return 2 * number", "return 0"),
        ("doubled", "operator", "2 * number", "(2 / number)"),
        ("doubled", "constant", "2", "(3)"),
    ]


def test_a_changed_function_is_met_by_all_who_imported_it(live):
    import understudy_other as other

    assert not other.below(3)
    planted(live, "comparison", "number >= min(LIMIT, most)")
    assert other.below(3)


def test_a_changed_constant_is_met_by_all_who_imported_it(live):
    import understudy_changed as changed
    import understudy_other as other

    planted(live, "constant", "3")
    assert other.LIMIT == 4
    assert changed.below(3)


def test_a_cache_forgets_what_it_knew(live):
    import understudy_other as other

    assert other.doubled(2) == 4
    planted(live, "constant", "2")
    assert other.doubled(2) == 6


def test_a_property_can_be_changed_and_a_function_that_is_gone_cannot(live):
    import understudy_changed as changed

    planted(live, "operator", "self.size - 1")
    assert changed.Box().room == 6
    gone = Mutant("understudy_changed.py", "gone", 1, 0, 0, 1, "constant", "", "")
    with pytest.raises(NotAppliedError):
        live.plant(gone, SOURCE)


def test_changes_of_the_product_are_many_distinct_and_sampled_from_every_file():
    sources = read(HOME, ["privacy/**/*.py"])
    every = [mutant for path, text in sources.items() for mutant in mutants_of(path, text)]
    assert len({mutant.key for mutant in every}) == len(every) > 2500
    sample = sampled(every, 100, seed=1)
    assert sample == sampled(every, 100, seed=1) != sampled(every, 100, seed=2)
    assert {mutant.path for mutant in sample} == {mutant.path for mutant in every}
    for mutant in sample:
        compile(mutant.applied(sources[mutant.path]), mutant.path, "exec")


def test_every_explanation_says_of_which_change_and_why():
    said = tomllib.loads((Path(__file__).parent / "explained.toml").read_text())["mutant"]
    assert all({"key", "change", "why"} == set(entry) and all(entry.values()) for entry in said)
    assert len({entry["key"] for entry in said}) == len(said)
