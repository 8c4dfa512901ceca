"""The page of an evaluation says that it is confidential, and stands on its own."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa
import pytest

from understudy.domain import Category, Integer, Schema
from understudy.evaluation import compare
from understudy.evaluation.comparison_page import comparison_page


class Balance(HTMLParser):
    """Notes every tag that is closed without being open, or never closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        pass

    def handle_endtag(self, tag) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


@pytest.fixture(scope="module")
def shown() -> str:
    schema = Schema({"<b>città</b>": Category(discover=True), "n": Integer(0, 99), "m": Integer(0, 9)})
    real = pa.table(
        {
            "<b>città</b>": ["<script>", "東京"] * 40,
            "n": list(range(80)),
            "m": [i % 7 for i in range(80)],
            "left": [1] * 80,
        }
    )
    synthetic = pa.table(
        {"<b>città</b>": ["東京", "elsewhere"] * 20, "n": [5] * 40, "m": [i % 3 for i in range(40)]}
    )
    return comparison_page(
        compare(real, synthetic, schema, targets=["m"]), real="r&d.csv", synthetic="synthetic.csv"
    )


def test_the_page_says_in_plain_words_that_it_is_confidential(shown: str) -> None:
    assert "<title>CONFIDENTIAL" in shown and "do not publish it" in shown
    assert shown.index("CONFIDENTIAL: computed from the private records") < shown.index("<h1>")


def test_every_tag_of_the_page_is_closed_and_nothing_is_fetched(shown: str) -> None:
    parser = Balance()
    parser.feed(shown)
    assert (parser.open, parser.faults) == ([], [])
    assert "http" not in shown and "src=" not in shown


def test_a_value_or_a_name_of_a_column_cannot_be_taken_for_markup(shown: str) -> None:
    assert "<script>" not in shown and "<b>" not in shown and "r&amp;d.csv" in shown


def test_the_page_holds_the_rows_the_baselines_the_gaps_and_what_was_left_out(shown: str) -> None:
    assert "80 real and 40 synthetic records, 3 columns" in shown
    for table in ("synthetic", "bootstrap", "independent", "uniform", "real"):
        assert f"<th class='n'>{table}</th>" in shown
    assert "Not compared, of the real table: left." in shown
    assert "50.00% of the synthetic values are not known" in shown
    assert "m by forest: accuracy" in shown and "n × m" in shown
