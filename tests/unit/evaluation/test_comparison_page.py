"""The page of an evaluation says that it is confidential, and stands on its own."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from understudy.domain import Category, Integer, Schema
from understudy.evaluation import compare
from understudy.evaluation.closeness import closeness
from understudy.evaluation.comparison_page import comparison_page
from understudy.evaluation.measures import Evaluation, Figure
from understudy.evaluation.side_by_side import matrices
from understudy.evaluation.standing import standings, verdict


class Balance(HTMLParser):
    """Notes every tag that is closed without being open, or never closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in ("meta", "link", "input", "br"):
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
    assert "<title>CONFIDENTIAL" in shown and "do not publish it" in shown and 'class="confidential"' in shown
    assert shown.index("<b>CONFIDENTIAL</b>") < shown.index("<h1") and "Safe to publish" not in shown


def test_every_tag_of_the_page_is_closed_and_nothing_is_fetched(shown: str) -> None:
    parser = Balance()
    parser.feed(shown)
    assert (parser.open, parser.faults) == ([], [])
    assert "http:" not in shown and "https:" not in shown and "src=" not in shown and "style=" not in shown


def test_a_value_or_a_name_of_a_column_cannot_be_taken_for_markup(shown: str) -> None:
    assert shown.count("<script>") == 1 and "<b>città" not in shown and "r&amp;d.csv" in shown


def test_the_page_holds_the_rows_the_baselines_the_gaps_and_what_was_left_out(shown: str) -> None:
    assert "80 real and 40 synthetic records, 3 columns" in shown
    for table in ("synthetic", "bootstrap", "independent", "uniform", "real"):
        assert f'<th scope="col" class="n">{table}</th>' in shown
    assert "Not compared, of the real table: left." in shown
    assert "50.00% of the synthetic values are not known" in shown
    assert "m by forest: accuracy" in shown and "n × m" in shown
    assert "No proof of privacy" in shown and "Cramér" in shown


@pytest.mark.parametrize(
    ("synthetic", "kind", "words"),
    [
        (0.02, "good", "nearly as well as real records"),
        (0.06, "good", "84% of the way from independent columns"),
        (0.14, "warn", "loses part"),
        (0.21, "warn", "little better"),
        (0.30, "bad", "loses to independent columns"),
    ],
)
def test_the_verdict_stands_on_a_scale_and_says_when_independent_columns_win(
    synthetic: float, kind: str, words: str
) -> None:
    beside = {"bootstrap": 0.03, "independent": 0.22, "uniform": 0.5}
    figure = Figure("2-way total variation", "lower", {"synthetic": synthetic, **beside})
    found = verdict(Evaluation((figure,), {"real": 9, "synthetic": 9}, 0))
    assert found.kind == kind and words in found.headline + found.sentence


def test_a_measure_whose_ends_agree_has_no_scale() -> None:
    same = Figure(
        "1-way total variation", "lower", {"synthetic": 0.5, "bootstrap": 0.02, "independent": 0.0201}
    )
    wrong = Figure("pMSE", "lower", {"synthetic": 0.5, "bootstrap": 0.2, "independent": 0.1})
    assert not standings(Evaluation((same, wrong), {}, 0))


def test_equal_and_near_records_are_counted_beside_real_ones() -> None:
    rng = np.random.default_rng(5)
    real = {name: rng.integers(0, 50, 2_000) for name in "abcd"}
    copied = closeness(real, real, 0)
    drawn = closeness(real, {name: rng.integers(0, 50, 2_000) for name in "abcd"}, 0)
    assert copied is not None and drawn is not None
    assert 0.4 < copied.equal < 0.6 and copied.equal_real < 0.01 and drawn.equal < 0.01
    assert drawn.nearest == drawn.nearest_real == 2 and drawn.columns == 4
    assert closeness({"a": np.zeros(3, int)}, {"a": np.zeros(3, int)}, 0) is None


def test_the_matrices_have_the_real_table_below_and_the_synthetic_one_above() -> None:
    codes = np.arange(600) % 3
    apart = np.random.default_rng(1).permutation(codes)
    found = matrices({"real": {"a": codes, "b": codes}, "synthetic": {"a": codes, "b": apart}}, 0)
    assert found is not None and 'data-values=" 0.0' in found.both and ' 1.00 "' in found.both
    assert matrices({"real": {"a": codes}, "synthetic": {"a": codes}}, 0) is None
