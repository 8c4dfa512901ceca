"""What a notebook shows of our values: small, escaped, closed, without scripts."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import understudy as us
from understudy.auditing import Finding
from understudy.display import MOST_ROWS, html_table
from understudy.privacy import Seeded

HOSTILE = "<script>alert('&')</script>"
COLUMNS = {HOSTILE: ["<b>", "M"] * 40, "age": [20, 31] * 40}


class Tags(HTMLParser):
    """The tags that were opened, those still open, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.open.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("displays")
    schema = us.Schema({HOSTILE: us.Category(("<b>", "M")), "age": us.Integer(0, 99)}, name=HOSTILE)
    release = us.fit(COLUMNS, schema, epsilon=1.0, delta=1e-9, ledger=folder / "ledger.db", source=Seeded(0))
    finding = Finding("csv", HOSTILE, "fit", 100, 1, 1, 0.5, 0.4, 0.6, 0.7, ("measurements",), (), HOSTILE)
    return {
        "schema": schema,
        "plan": us.plan(schema, epsilon=1.0, delta=1e-9, rows=1000),
        "release": release,
        "field": release.field,
        "evaluation": us.evaluate(COLUMNS, COLUMNS, schema),
        "audit": us.Audit(HOSTILE, 1.0, 1e-9, 0.99, {}, (finding,)),
    }


@pytest.mark.parametrize("what", ["schema", "plan", "release", "field", "evaluation", "audit"])
def test_a_display_is_small_closed_escaped_html_without_scripts(what: str, shown: dict[str, Any]) -> None:
    html = shown[what]._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert not tags.open and tags.seen <= {"div", "p", "strong", "table", "tr", "th", "td"}
    assert len(html) < 20_000 and "http" not in html
    if what not in ("plan", "evaluation"):  # those name no column here
        assert HOSTILE in tags.text


def test_a_display_says_what_its_reader_must_know(shown: dict[str, Any]) -> None:
    assert "NOT PRIVATE" in shown["release"]._repr_html_()
    assert "CONFIDENTIAL" in shown["evaluation"]._repr_html_()
    assert "epsilon 1, delta 1e-09" in shown["plan"]._repr_html_()


def test_a_draft_is_shown_with_its_warning() -> None:
    assert "looking at the data" in us.draft_schema(COLUMNS, name="people")._repr_html_()


def test_a_long_table_is_cut_and_says_so() -> None:
    html = html_table("title", ["n"], [[n] for n in range(MOST_ROWS + 5)])
    assert html.count("<td") == MOST_ROWS and "and 5 more" in html
