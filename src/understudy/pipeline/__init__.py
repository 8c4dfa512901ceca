"""From a file to a release, in the paper's eight steps."""

from understudy.pipeline.release import Release, load
from understudy.pipeline.synthesizer import fit, synth, table

__all__ = ["Release", "fit", "load", "synth", "table"]
