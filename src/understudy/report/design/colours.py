"""The colours of every page, by what they are for, in a light and in a dark scheme: contrast can be computed.

Blue and orange stand for two things that are compared: they stay apart for eyes that do not tell red from green. No
colour says anything alone: bars are hatched, marks have shapes, and verdicts are words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# What a colour is for -> its value in the light scheme and in the dark one.
COLOURS: Mapping[str, tuple[str, str]] = {
    "paper": ("#f5f6f8", "#0e1319"),  # behind everything
    "card": ("#ffffff", "#171e27"),  # behind what belongs together
    "well": ("#eef1f5", "#202a35"),  # behind code, quotations and heads of tables
    "ink": ("#15202c", "#e8edf3"),  # text
    "soft": ("#4a5868", "#a9b6c4"),  # text that stands back
    "line": ("#d3dae3", "#323e4b"),  # rules between things
    "edge": ("#76859a", "#7c8b9c"),  # outlines of what can be used
    "accent": ("#0a58a8", "#86bdff"),  # links, focus, the page's own colour
    "on-accent": ("#ffffff", "#0e1319"),  # text on it
    "data": ("#2a6db5", "#5ea3ee"),  # what is synthetic or measured
    "faint": ("#c4d4e7", "#2c4059"),  # the same, where it cannot be told from noise
    "other": ("#b5650f", "#f0a04b"),  # what stands beside it: the real table, a baseline
    "good": ("#0b6a4b", "#63d2a8"),
    "good-back": ("#e5f4ee", "#10291f"),
    "warn": ("#854700", "#f6bd6a"),
    "warn-back": ("#fff3df", "#30230d"),
    "bad": ("#a2132c", "#ff939f"),
    "bad-back": ("#fdebee", "#351319"),
    "secret": ("#8d0f35", "#ff8fb0"),  # what may not leave: the confidential page's own colour
    "on-secret": ("#ffffff", "#1d0610"),
}
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


def declarations(scheme: int) -> str:
    """The colours of a scheme (0 light, 1 dark) as custom properties of CSS."""
    return "".join(f"--{name}:{pair[scheme]};" for name, pair in COLOURS.items())


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
