"""From a file to a release, in the paper's eight steps. Names are loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.pipeline.release import Release, load
    from understudy.pipeline.synthesizer import fit, synth, table

_FILES = {
    "Release": "release",
    "load": "release",
    "fit": "synthesizer",
    "synth": "synthesizer",
    "table": "synthesizer",
}

__all__ = ["Release", "fit", "load", "synth", "table"]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module 'understudy.pipeline' has no attribute {name!r}")
    return getattr(import_module(f"understudy.pipeline.{_FILES[name]}"), name)
