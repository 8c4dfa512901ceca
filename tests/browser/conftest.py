"""A real browser for tests of what people look at: Debian's `chromium`, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")  # its event loop is not left running for other tests
def browser() -> Iterator[Browser]:
    """Chromium without a window; the tests are skipped where the machine has none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright here: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
