"""Which job of the ledger a run is: the same one as an earlier run, to go on with it for free, or a new one."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.domain import Schema
from understudy.errors import ParameterError
from understudy.mechanisms import Mechanism
from understudy.mechanisms.registry import describe
from understudy.pipeline.sources.registry import is_address
from understudy.privacy import Budget, Job, Ledger, Neighbours, Randomness
from understudy.transforms.derive import TableTransform


@dataclass(frozen=True, eq=False)
class RunOnData:
    """What was asked for: data, the table's name, a label, the state of the data where it is known, and noise."""

    data: Any
    name: str
    label: str | None
    snapshot: str | None
    source: Randomness | None

    def labels(self) -> Iterator[str]:
        """The labels that the run may have, of which the first that is not finished is its own.

        By the label that a person gave, or by the state of the data, there is one such job. A database does not say
        when it last changed: there the same command goes on with a run that was broken off, and once that is
        finished begins a new one. A frame in memory is new every time.
        """
        if self.label is not None:
            yield self.label
        elif self.snapshot is not None:
            yield self.snapshot
        elif is_address(self.data):
            seeded = "" if self.source is None else ", for a test"
            for number in itertools.count():
                yield f"run {number}{seeded} of {os.fspath(self.data)}"
        else:
            yield uuid.uuid4().hex


def job_of(run: RunOnData, words: Mapping[str, Any], ledger: Ledger, *, title: str) -> Job:
    """The job of a run: one that was broken off, one that is finished under the same label, or a new one."""
    for label in run.labels():
        if not isinstance(label, str):
            raise ParameterError(f"job {label!r} is not text.")
        job = Job(run.name, _digest({**words, "label": label}), title=title)
        if not ledger.finished(job):
            break
    return job


def job_words(
    schema: Schema,
    mechanism: Mechanism,
    budget: Budget,
    neighbours: Neighbours,
    transforms: Sequence[TableTransform],
    check: bool,
) -> dict[str, Any]:
    """Everything that makes a job what it is, but for its label; nothing in it comes from a record."""
    return {
        "schema": schema.to_toml(),
        "mechanism": describe(mechanism),
        "budget": budget.to_dict(),
        "neighbours": neighbours.to_dict(),
        "transforms": [transform.to_dict() for transform in transforms],
        **({"check": True} if check else {}),
    }


def as_ledger(given: Ledger | str | os.PathLike[str] | None) -> Ledger:
    """The ledger, or the one at a path; without either the one of this user."""
    if given is not None and not isinstance(given, Ledger | str | os.PathLike):
        raise ParameterError(f"ledger is a {type(given).__name__}.", hint="give a path, or a us.Ledger.")
    return given if isinstance(given, Ledger) else Ledger(None if given is None else Path(given))


def _digest(words: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(words, sort_keys=True, default=str).encode()).hexdigest()
