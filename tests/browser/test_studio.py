"""The studio in a real browser: from an empty folder to a synthetic file, by mouse and by keyboard alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from studio_server import WAIT, Served, served, until_done

import understudy as us
from nightly import NIGHTLY

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# What the element that has the focus says: its text, its value, its labels.
FOCUSED = """() => { const e = document.activeElement;
  if (!e.matches("a, button, input, select, textarea, summary")) return "";
  return [e.innerText, e.value, ...[...(e.labels || [])].map(l => l.innerText)].join(" "); }"""
SLOW = WAIT * 1000  # milliseconds
SIZES: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1280, "light"),
    (400, "dark"),
    (1280, "dark"),
    (400, "light"),
)
CSV = "sex,age,<b>pay</b>\n" + "".join(f"{'MF'[i % 2]},{i % 90},{i % 7 * 1000.5}\n" for i in range(300))
TOML = """
[table]
name = "folk"
rows = 300
[columns.sex]
type = "category"
values = ["M", "F"]
[columns.age]
type = "integer"
min = 0
max = 99
["columns"."<b>pay</b>"]
type = "number"
min = 0
max = 10_000
bins = 10
"""


@contextmanager
def visit(
    browser: Browser, studio: Served, width: int = 1280, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """A page in a browser of its own; it may complain of nothing, and ask nobody but the studio."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    page, amiss = context.new_page(), []
    page.set_default_timeout(SLOW)
    page.on("console", lambda said: amiss.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: amiss.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(studio.origin) else amiss.append(asked.url))
    try:
        page.goto(studio.address)
        page.wait_for_selector("h1")
        assert "token" not in page.url
        yield page
        assert not amiss, amiss
    finally:
        context.close()


def tab_to(page: Page, words: str) -> None:
    """Press Tab until what has the focus says these words; a person without a mouse does the same."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if words in page.evaluate(FOCUSED):
            return
    raise AssertionError(f"no way to {words!r} by keyboard")


def runs(page: Page) -> None:
    """Wait until a run that was started has led on to its result."""
    page.wait_for_url("**/result", timeout=SLOW)
    page.wait_for_selector("text=synthetic records of")


@pytest.fixture(scope="module")
def finished(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, list[str]]]:
    """A studio that was started in an empty folder, walked through by mouse; and the address of every screen."""
    folder = tmp_path_factory.mktemp("empty")
    with served(folder) as studio, visit(browser, studio) as page:
        screens = ["/"]
        page.click("text=Try it with the demo town")
        page.wait_for_selector("text=What may everyone know")
        screens.append(_path(page, studio))
        page.click("text=Go on to the plan")
        page.wait_for_selector("text=a strong promise")
        screens.append(_path(page, studio))
        page.click("text=More choices")
        page.select_option("#mechanism", "independent")
        page.wait_for_selector('a[href*="mechanism=independent"]')
        weak = page.locator("text=What epsilon 10 means: a very weak promise")
        for _ in range(20):  # the plan above the slider may still be on its way, and move it
            box = page.locator("#slider").bounding_box()
            assert box is not None
            page.mouse.click(box["x"] + box["width"] - 9, box["y"] + box["height"] / 2)
            page.wait_for_timeout(1000)
            if weak.count():
                break
        page.wait_for_selector("text=What epsilon 10 means: a very weak promise")
        page.click('a:has-text("Use epsilon 10")')
        page.wait_for_selector("text=Spend epsilon 10 on")
        screens.append(_path(page, studio))
        page.check("text=Charge epsilon 10")
        page.click("text=Spend it and start")
        page.wait_for_selector(".stages")
        runs(page)
        screens.append(_path(page, studio))
        with page.expect_download() as found:
            page.click("text=Download the records (CSV)")
        taken = folder / "taken.csv"
        found.value.save_as(taken)
        assert (
            taken.read_text().startswith("district,sex,age,born,")
            and len(taken.read_text().splitlines()) > 1000
        )
        screens += [
            screens[-1].replace("/result", "/comparison"),
            "/ledger",
            screens[-1].replace("/result", "/report"),
        ]
        yield studio, screens


def _path(page: Page, studio: Served) -> str:
    return page.url.removeprefix(studio.origin)


@pytest.mark.parametrize(("width", "scheme"), SIZES if NIGHTLY else SIZES[:2])
def test_every_screen_fits_and_can_be_read_by_everyone(
    browser: Browser, finished: tuple[Served, list[str]], width: int, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    studio, screens = finished
    with visit(browser, studio, width, scheme) as page:
        for address in screens[:-1]:  # the report has tests of its own
            page.goto(studio.origin + address)
            page.wait_for_selector("h1")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} is {wide} px wide"
            assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == scheme
            if (width, scheme) in SIZES[:2]:
                for fold in page.locator("details:not([open]) > summary").all()[:3]:
                    fold.click()
                found = Axe().run(page)
                assert not found.violations_count, f"{address}: {found.generate_report()}"


def test_the_report_opens_and_nothing_in_it_is_blocked(
    browser: Browser, finished: tuple[Served, list[str]]
) -> None:
    studio, screens = finished
    with visit(browser, studio) as page:
        page.goto(studio.origin + screens[-1])
        page.wait_for_selector("h1")
        assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px", "its style is in force"


def test_records_are_filtered_in_place(browser: Browser, finished: tuple[Served, list[str]]) -> None:
    studio, screens = finished
    with visit(browser, studio) as page:
        page.goto(studio.origin + screens[4])
        page.select_option("#f-column", "sex")
        page.fill("#f-value", "female")
        page.click("#rows button:has-text('Show')")
        page.wait_for_selector("#f-value[value=female]")
        cells = page.locator("#rows tbody tr td:nth-child(2)").all_inner_texts()
        assert len(cells) == 25 and set(cells) == {"female"}
        page.click("#rows button:has-text('Next')")
        page.wait_for_selector("text=26 to 50 of")


def test_the_private_table_is_shown_and_hidden_by_its_switch(
    browser: Browser, finished: tuple[Served, list[str]]
) -> None:
    studio, screens = finished
    with visit(browser, studio) as page:
        page.goto(studio.origin + screens[1])
        assert page.locator("#private-table table").count() == 0
        page.click("text=Show me the private table")
        page.wait_for_selector("#private-table table")
        assert "Confidential" in page.inner_text("#private-table")
        assert page.url == studio.origin + screens[1]
        page.click("text=Hide it")
        page.wait_for_selector("text=Show me the private table")
        assert page.locator("#private-table table").count() == 0


def test_another_user_of_the_machine_is_locked_out(finished: tuple[Served, list[str]]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    studio, _ = finished
    for folder in (studio.folder, *studio.folder.parents[:2]):  # pytest's own, and no more
        folder.chmod(0o755)  # so that the studio's own folder is what stops them
    attempt = f"""
import http.client, os, pathlib
seen = pathlib.Path("/proc/{studio.process.pid}/cmdline").read_bytes()
assert b"{studio.token}" not in seen
try:
    os.listdir("{studio.folder}/understudy-studio")
except PermissionError:
    pass
else:
    raise SystemExit("the folder can be read")
asked = http.client.HTTPConnection("{studio.origin.removeprefix("http://")}")
asked.request("GET", "/")
raise SystemExit(0 if asked.getresponse().status == 401 else "let in")
"""
    # The system's own Python, where there is one: a virtual environment may be closed to others.
    python = shutil.which("python3", path="/usr/bin") or str(Path(sys.executable).resolve())
    try:
        done = subprocess.run(
            [python, "-I", "-c", attempt], user=65534, capture_output=True, text=True, cwd="/", check=False
        )
    except PermissionError:
        pytest.skip("another user cannot run Python here")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not NIGHTLY, reason="a walk that a busy machine may outlast: make nightly")
def test_by_keyboard_alone_through_a_reload_and_a_killed_server(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "folk.csv").write_text(CSV)
    (tmp_path / "folk.toml").write_text(TOML.replace('["columns"."<b>pay</b>"]', '[columns."<b>pay</b>"]'))
    with served(tmp_path) as studio:
        with visit(browser, studio, 400, "dark") as page:
            press = page.keyboard.press
            tab_to(page, "folk.csv")
            press("Enter")
            page.wait_for_selector("h3:text-is('<b>pay</b>')")
            tab_to(page, "Go on to the plan")
            press("Enter")
            page.wait_for_selector("text=a strong promise")
            tab_to(page, "Budget")
            press("ArrowRight")
            page.wait_for_selector("text=What epsilon 1.5 means")
            assert page.input_value("#epsilon") == "1.5"
            tab_to(page, "Use epsilon 1.5")
            press("Enter")
            page.wait_for_selector("text=Spend epsilon 1.5 on")
            tab_to(page, "Charge epsilon 1.5")
            press("Space")
            tab_to(page, "Spend it and start")
            press("Enter")
            page.wait_for_selector(".stages")
            run = _path(page, studio)
            page.reload()
            page.wait_for_selector(".stages, .downloads")
        studio.kill()  # the run goes on without it
        until_done(tmp_path)
    outcome = next(tmp_path.glob("understudy-studio/runs/*/outcome.json"))
    assert json.loads(outcome.read_text()) == {"state": "done"}
    with served(tmp_path) as again, visit(browser, again, 400, "dark") as page:
        tab_to(page, "folk, adaptive")
        page.keyboard.press("Enter")
        runs(page)
        assert _path(page, again).startswith(run.removesuffix("/result"))
        tab_to(page, "Download the records (CSV)")
        with page.expect_download() as found:
            page.keyboard.press("Enter")
        found.value.save_as(tmp_path / "taken.csv")
    assert (tmp_path / "taken.csv").read_text().startswith("sex,age,<b>pay</b>\n")
    account = us.Ledger(tmp_path / "ledger.db").account("folk")
    assert [(job.epsilon, job.finished is not None) for job in account.jobs.values()] == [(1.5, True)]


def test_the_studio_ends_by_ctrl_c(tmp_path: Path) -> None:
    studio = Served(tmp_path)
    assert studio.stop() in (0, 130, -2)
