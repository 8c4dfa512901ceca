"""The two pages in a real browser: readable by all, by any way, at any width; and nothing leaves them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import understudy as us

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=alert(1)>"
VALUE = "</script><b id=bad>"
CANARY = "XCANARYX"
PAGES = ("report", "confidential")
COLUMNS = 7


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both pages of a table with markup for names and values, and a value that one record alone has."""
    folder: Path = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(3)
    sex = rng.choice(["F", VALUE], 2_000)
    town = rng.choice(["a", "b", "c"], 2_000).astype(object)
    town[0] = CANARY
    table = {
        HOSTILE: sex,
        "job": np.where(sex == "F", "x", rng.choice(["x", "y"], 2_000)),
        "town": town,
        "age": np.minimum(rng.exponential(20, 2_000), 99).astype(int),
        **{f"n{i}": rng.integers(0, 4, 2_000) for i in range(COLUMNS - 4)},
    }
    columns: dict[str, us.Column] = {
        HOSTILE: us.Category(("F", VALUE)),
        "job": us.Category(("x", "y")),
        "town": us.Category(discover=True),
        "age": us.Integer(0, 99),
        **{f"n{i}": us.Integer(0, 3) for i in range(COLUMNS - 4)},
    }
    schema = us.Schema(columns, name=HOSTILE)
    release = us.fit(table, schema, epsilon=2.0, delta=1e-9, mechanism="mst", ledger=folder / "ledger")
    pages = {name: folder / f"{name}.html" for name in PAGES}
    release.report(pages["report"])
    us.evaluate(table, release.with_kind("arrow").sample(500, seed=1)).report(pages["confidential"])
    return pages


def _soon(true: Callable[[], bool]) -> None:
    """Wait until it is: pages allow no strings to be evaluated, so the browser cannot wait for them."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.05)
    assert true()


@pytest.fixture(scope="module")
def opened(browser: Browser, written: dict[str, Path]) -> Iterator[dict[str, tuple[Page, list[str]]]]:
    """Each page, and whatever it said on the console, asked for elsewhere, or failed at."""
    found = {}
    for name, path in written.items():
        page, told = browser.new_page(viewport={"width": 1280, "height": 900}), []
        page.on("console", lambda message, told=told: told.append(f"console: {message.text}"))
        page.on("pageerror", lambda error, told=told: told.append(f"error: {error}"))
        page.on("request", lambda request, told=told: told.append(f"request: {request.url}"))
        page.on("dialog", lambda dialog, told=told: (told.append("dialog"), dialog.dismiss()))
        page.goto(path.as_uri())
        found[name] = page, told
    yield found
    for page, _ in found.values():
        page.close()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_and_fits_at_every_width_and_in_both_schemes(name: str, opened: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe here")
    page, _ = opened[name]
    for width, scheme in ((1280, "light"), (400, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.Axe().run(page).response["violations"]
        assert not found, [(rule["id"], [node["html"][:200] for node in rule["nodes"][:2]]) for rule in found]
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(21, 32, 44)"  # dark ink on paper
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("name", PAGES)
def test_markup_in_names_and_values_is_text_and_no_other_script_runs(name: str, opened: Any) -> None:
    page, _ = opened[name]
    assert page.locator("#bad, img").count() == 0
    shown = page.locator("body").inner_text()
    assert HOSTILE in shown and (
        name == "report" or VALUE in page.content().replace("&lt;", "<").replace("&gt;", ">")
    )
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.intruder = 1';"
        " document.body.append(s); }"
    )
    assert page.evaluate("window.intruder === undefined")
    page.wait_for_timeout(50)


@pytest.mark.parametrize("name", PAGES)
def test_page_says_nothing_on_the_console_and_asks_for_nothing(name: str, opened: Any, written: Any) -> None:
    _, told = opened[name]
    own = [f"request: {written[name].as_uri()}"]
    ours = [
        line for line in told if "intruder" not in line and "inline script" not in line
    ]  # the test's own attempt
    assert [line for line in ours if not line.startswith("request: data:")] == own


def test_canary_is_in_no_page_but_the_confidential_one(written: dict[str, Path]) -> None:
    assert CANARY not in written["report"].read_text() and CANARY in written["confidential"].read_text()


def test_pages_cannot_be_confused(opened: Any) -> None:
    colours = set()
    for name, (page, _) in opened.items():
        stamp = page.locator(".stamp")
        assert stamp.count() == (name == "confidential")
        assert page.title().startswith("CONFIDENTIAL") == (name == "confidential")
        colours.add(page.locator(".eyebrow").evaluate("e => getComputedStyle(e).color"))
    assert len(colours) == 2
    page, _ = opened["confidential"]
    page.evaluate("scrollTo(0, 9e6)")
    _soon(lambda: page.evaluate("scrollY") > 500)
    assert stamp.is_visible() and stamp.evaluate("e => e.getBoundingClientRect().top") <= 8  # always in sight


def test_report_is_used_by_keyboard_alone(opened: Any) -> None:
    page, _ = opened["report"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "scheme-dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 19, 25)"
    page.keyboard.press("ArrowLeft")
    copies = page.locator("button[data-copy=statement]")
    copies.focus()
    page.keyboard.press("Enter")
    _soon(lambda: page.locator("[data-copied=statement]").inner_text() == "Copied.")
    sorts = page.locator("#measured thead button").first
    sorts.focus()
    page.keyboard.press("Enter")
    names = page.locator("#measured tbody th").all_inner_texts()
    assert names == page.evaluate("names => [...names].sort((a, b) => a.localeCompare(b))", names)
    assert len(names) >= COLUMNS - 1
    page.locator("#measured thead button").nth(1).press("Enter")
    ratios = [float(text) for text in page.locator("#measured tbody td.n").all_inner_texts()]
    assert ratios == sorted(ratios, reverse=True)
    search = page.locator("[data-search=cards] input")
    search.focus()
    page.keyboard.type("job")
    assert page.locator("#cards > article:visible").count() == 1
    for _ in "job":
        page.keyboard.press("Backspace")
    assert page.locator("#cards > article:visible").count() == COLUMNS


def test_heat_map_says_what_a_cell_holds(opened: Any) -> None:
    page, _ = opened["report"]
    heat = page.locator("svg.heat").first
    left, cell = map(float, heat.evaluate("e => [e.dataset.left, e.dataset.cell]"))
    view = heat.evaluate("e => e.viewBox.baseVal.width")

    def told() -> bool:
        heat.scroll_into_view_if_needed()  # anew each time: what lies above gets its height once it was seen
        box = heat.bounding_box()
        page.mouse.move(box["x"] + (left + cell / 2) * box["width"] / view, box["y"] + cell / 2)
        return bool(page.locator(".tip").inner_text().endswith("records"))

    _soon(told)


@pytest.mark.parametrize("name", PAGES)
def test_page_is_complete_without_scripts(name: str, browser: Browser, written: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(written[name].as_uri())
    assert page.locator("#cards > article").count() == COLUMNS and page.locator("svg.plot").count() > COLUMNS
    words = {"report": "is differentially private with epsilon 2", "confidential": "do not publish"}
    assert words[name] in page.locator("main").inner_text()
    assert page.locator("button:visible").count() == 0  # nothing is offered that would not work
    context.close()
