"""Records of a run whose every answer is in the ledger: nothing of them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.data.counting.recoding import recoded
from understudy.data.forms.table_form import TableForm
from understudy.domain import Clique, Domain, Schema
from understudy.errors import LedgerError
from understudy.marginals import Counter, Marginal
from understudy.marginals.counter import Recoding
from understudy.pipeline.sources.records import Formed, Records, check_readable
from understudy.transforms.encode import Encoder


def ready(records: Records, schema: Schema | None, *, finished: bool) -> Records:
    """The records once they are known to be readable; of a `finished` job, ones of which nothing will be read.

    Under a complete schema they are coded, so read, before anything is charged. Else the first question comes before
    they can be coded, and a fault must show before it.
    """
    if finished:
        return Replayed(records)
    if schema is None or not schema.complete:
        check_readable(records, schema)
    return records


@dataclass(frozen=True, eq=False)
class Replayed:
    """Records of a finished job: their names and types, and codes that nobody has to count."""

    records: Records

    @property
    def types(self) -> Any:
        return self.records.types

    @property
    def untyped(self) -> frozenset[str]:
        return self.records.untyped

    @property
    def kind(self) -> str:
        return self.records.kind

    @property
    def snapshot(self) -> str | None:
        return self.records.snapshot

    @property
    def form(self) -> TableForm:
        return self.records.form if isinstance(self.records, Formed) else TableForm(self.kind)

    def encode(self, schema: Schema) -> Counter:
        """An engine of the right domain."""
        return Uncounted(Encoder(schema).domain)

    def count_values(self, column: str, schema: Schema) -> Mapping[Any, int]:
        raise _unanswered()

    def count_units(self, unit: str) -> Mapping[int, int]:
        raise _unanswered()


@dataclass(frozen=True, eq=False)
class Uncounted:
    """An engine that has codes and counts nothing."""

    domain: Domain

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        raise _unanswered()

    def count_cells(self, clique: Clique) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        raise _unanswered()

    def recode(self, maps: Mapping[str, Recoding]) -> Uncounted:
        """The engine with the codes of some columns replaced."""
        return Uncounted(recoded(self.domain, {}, maps)[0])


def _unanswered() -> LedgerError:
    return LedgerError(
        "the ledger says that this job is finished, and not all that it asks has an answer there.",
        hint="finish it with the version of Understudy that began it, or begin another with --job.",
    )
