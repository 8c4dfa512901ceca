"""A `synth` that was ended after it had written something: the same command goes on from what is there.

That is a release, or a folder with some parts of the sample. It may stay only where it is this very job's own. Which
job a run is, is known once its table is looked at; so until then the ledger is one that opens finished jobs and
charges for no new one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy.cli.outputs import there_already
from understudy.errors import FileError, UnderstudyError
from understudy.pipeline import Release, load
from understudy.privacy import Job, Ledger
from understudy.privacy.ledger.ledger import LedgerTranscript


class FinishedJobs(Ledger):
    """A ledger in which finished jobs are opened again, for free, and all others refused.

    Parameters:
        path: the ledger's file.
        refusal: what is raised where there is no such ledger, or a job that is opened is not finished in it.
    """

    def __init__(self, path: Path, refusal: UnderstudyError) -> None:
        self._refusal = refusal
        if not path.is_file():
            raise refusal
        super().__init__(path, create=False)

    def settle(self) -> None:
        """Nothing: its jobs are finished."""

    def open(self, job: Job, epsilon: float, delta: float, *, private: bool = True) -> LedgerTranscript:
        """The transcript of a finished job; nothing is charged."""
        if not self.finished(job):
            raise self._refusal
        return super().open(job, epsilon, delta, private=private)


def begun(output: str) -> bool:
    """Whether an output is a folder that says of itself which sample's parts it has."""
    from understudy.pipeline.drawing.sample_folder import MANIFEST

    return (Path(output) / MANIFEST).is_file()


def not_empty(output: str) -> FileError:
    """The refusal to fill a folder that has other files, or parts of another sample."""
    return FileError(f"folder {output!r} is not empty.", hint="give a new folder.")


def left_release(release_file: str) -> Release:
    """The release in a file that is there; the refusal to write over it (ParameterError) where it is no release."""
    try:
        return load(release_file)
    except UnderstudyError:
        raise there_already(release_file) from None


def check_own(found: Release, made: Release, release_file: str) -> None:
    """Refuse (ParameterError) to go on from a release that another job made: its noise is not this one's."""
    same = (
        found.certificate["charges"] == made.certificate["charges"]
        and found.schema.to_toml() == made.schema.to_toml()
        and found.compression.to_dict() == made.compression.to_dict()
        and len(found.measurements) == len(made.measurements)
        and all(
            one.clique == other.clique and np.array_equal(one.values, other.values)
            for one, other in zip(found.measurements, made.measurements, strict=True)
        )
    )
    if not same:
        raise there_already(release_file)
