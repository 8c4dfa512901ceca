"""One design: colours that can be read by the numbers, pictures with names, nothing shown that is not escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from understudy.report.design.colours import COLOURS
from understudy.report.design.templates import TEMPLATES, environment, script, stylesheet
from understudy.report.plots.bar_rows import BarRow, TwoBars, bar_rows, paired_rows
from understudy.report.plots.heat_map import heat_map
from understudy.report.plots.lanes import Lane, lanes
from understudy.report.plots.line_plot import line_plot, spark_text
from understudy.report.plots.network import Edge, network, placed
from understudy.report.plots.waterfall import Step, waterfall

HOSTILE = "<script>\"'&"


# Text of the first on the second; a ratio of 4.5 at least (WCAG 2.2, AA).
TEXT_ON = (
    *((text, back) for text in ("ink", "soft", "accent") for back in ("paper", "card", "well")),
    ("on-accent", "accent"),
    ("on-secret", "secret"),
    ("secret", "card"),
    ("secret", "paper"),
    *((kind, back) for kind in ("good", "warn", "bad") for back in (f"{kind}-back", "card", "paper")),
    *(("ink", f"{kind}-back") for kind in ("good", "warn", "bad")),
)
# Shapes of the first on the second; a ratio of 3 at least.
SHAPE_ON = (
    *((shape, back) for shape in ("data", "other", "edge", "accent") for back in ("paper", "card")),
    ("secret", "card"),
)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (#rrggbb), from 1 to 21, as WCAG has it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(colour: str) -> Iterator[float]:
    for start in (1, 3, 5):
        part = int(colour[start : start + 2], 16) / 255
        yield part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(scheme: int) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    for pairs, least in ((TEXT_ON, 4.5), (SHAPE_ON, 3.0)):
        for shape, back in pairs:
            assert contrast(COLOURS[shape][scheme], COLOURS[back][scheme]) >= least, (shape, back)


def test_stylesheet_uses_no_colour_that_is_not_listed() -> None:
    used = set(re.findall(r"var\(--([a-z][a-z-]+)\)", stylesheet()))
    assert used - {"text", "code", "round", "own", "on-own"} <= set(COLOURS)
    assert not re.findall(r"#[0-9a-f]{6}\b", (TEMPLATES / "page.css").read_text())


def test_nothing_is_fetched_by_style_or_script() -> None:
    assert (
        "@import" not in stylesheet() and "http" not in stylesheet() and "</" not in script() + stylesheet()
    )
    assert not re.search(r"fetch\(|XMLHttp|import\(|innerHTML|eval\(", script())


@pytest.mark.parametrize(
    "drawn",
    [
        bar_rows(
            [BarRow(HOSTILE, 3.0, HOSTILE, 2.0, 4.0, "hatch", 1.0), BarRow("b", -1.0, "")], title=HOSTILE
        ),
        paired_rows([TwoBars(HOSTILE, 0.2, 0.0, HOSTILE)], title=HOSTILE),
        heat_map(np.array([[1.0, -2.0], [np.nan, 0.0]]), [HOSTILE, "b"], ["c", "d"], title=HOSTILE),
        waterfall([Step(HOSTILE, 0.4, "40%"), Step("b", 0.6, "60%")], title=HOSTILE),
        lanes([Lane(HOSTILE, -3.0, "no"), Lane("b", 9.0, "yes")], "left", "right", title=HOSTILE),
        network([HOSTILE, "b"], [Edge(0, 1, None, HOSTILE)], ["#a", "#b"], title=HOSTILE),
        line_plot([0, 1], [(HOSTILE, [1.0, 2.0])], title=HOSTILE, across_said="x", up_said="y"),
    ],
    ids=["bars", "pairs", "heat", "waterfall", "lanes", "network", "lines"],
)
def test_picture_has_a_name_and_escapes_what_it_shows(drawn: str) -> None:
    assert "<script>" not in drawn and "&lt;script&gt;" in drawn
    assert re.match(r"<svg [^>]*role=\"(img|group)\" aria-label=\"[^\"]+\"", drawn)
    assert "style=" not in drawn  # the page's policy forbids it


def test_cells_below_zero_and_unknown_ones_have_shades_of_their_own() -> None:
    drawn = heat_map(np.array([[4.0, -4.0, 0.0, np.nan]]), ["r"], list("abcd"), title="t")
    assert drawn.count('class="h7"') == drawn.count('class="n5"') == drawn.count('class="h0"') == 1
    assert 'data-values="4 -4 0 "' in drawn


@pytest.mark.parametrize("count", [1, 2, 30, 100])
def test_no_name_of_a_graph_hides_another(count: int) -> None:
    wide = np.full(count, 90.0)
    at, height = placed(wide, [(i, i // 2) for i in range(1, count)], 1100.0)
    apart = np.abs(at[:, None] - at[None]) + np.eye(count)[..., None] * 1e3
    assert ((apart[..., 0] >= 89) | (apart[..., 1] >= 23)).all()
    assert (at >= 0).all() and (at[:, 0] <= 1100).all() and (at[:, 1] <= height).all()


def test_sparks_grow_with_their_numbers() -> None:
    assert spark_text([0, 1, 2, 8]) == "▁▂▃█" and spark_text([0, 0]) == "▁▁"


def test_templates_escape_by_default_and_other_folders_come_first(tmp_path) -> None:
    (tmp_path / "own.html").write_text('{% import "parts.html" as parts %}{{ parts.note("bad", "", text) }}')
    shown = environment([tmp_path]).get_template("own.html").render(text=HOSTILE)
    assert "<script>" not in shown and 'class="note bad"' in shown
