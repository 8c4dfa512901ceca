"""The colours of every page, by what they are for, in a light and in a dark scheme.

Blue and orange stand for two things that are compared: they stay apart for eyes that do not tell red from green. No
colour says anything alone: bars are hatched, marks have shapes, and verdicts are words.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def declarations(scheme: int) -> str:
    """The colours of a scheme (0 light, 1 dark) as custom properties of CSS."""
    return "".join(f"--{name}:{pair[scheme]};" for name, pair in COLOURS.items())
