"""Packages are looked through for what they offer only where one may offer something."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from understudy import plugins

POINTS = "[understudy.mechanisms]\nmine = package:KIND\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder of packages that is the only one, with a package that offers nothing and one without a word of it."""
    for name, text in (("other", "[console_scripts]\nunderstudy = understudy.cli:main\n"), ("silent", None)):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        if text:
            (tmp_path / f"{name}-1.dist-info" / "entry_points.txt").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    plugins._installed.cache_clear()
    yield tmp_path
    plugins._installed.cache_clear()


def test_nothing_is_read_where_no_package_offers_anything(place: Path) -> None:
    assert plugins._installed() is None
    assert list(plugins.entry_points("understudy.mechanisms")) == []


@pytest.mark.parametrize("ending", [".dist-info", ".egg-info"])
def test_what_a_package_offers_is_found(place: Path, ending: str) -> None:
    (place / f"mine-1{ending}").mkdir()
    (place / f"mine-1{ending}" / ("METADATA" if "dist" in ending else "PKG-INFO")).write_text("Name: mine\n")
    (place / f"mine-1{ending}" / "entry_points.txt").write_text(POINTS)
    assert [point.name for point in plugins.entry_points("understudy.mechanisms")] == ["mine"]


def test_a_package_that_is_one_file_is_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(place / "mine-1-py3.egg", "w") as egg:
        egg.writestr("EGG-INFO/PKG-INFO", "Name: mine\n")
        egg.writestr("EGG-INFO/entry_points.txt", POINTS)
    monkeypatch.setattr(sys, "path", [str(place / "mine-1-py3.egg")])
    assert [point.name for point in plugins.entry_points("understudy.mechanisms")] == ["mine"]


def test_another_way_to_find_packages_is_asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere:
        @staticmethod
        def find_distributions(context):
            return []

        @staticmethod
        def find_spec(name, path, target=None):
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Elsewhere])
    assert plugins._installed() is not None
