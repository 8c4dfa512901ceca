"""A fitted distribution: any marginal, any conditional, any event, and records drawn from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import ParameterError
from understudy.marginals import Marginal, Measurement
from understudy.model.certificate import FitReport
from understudy.model.elimination import Elimination
from understudy.model.event import Event, allowed_codes
from understudy.model.factor import Array, Factor
from understudy.model.field_summary import FieldSummary
from understudy.model.junction_tree import JunctionTree
from understudy.model.sample import Sample


class MarkovField:
    """A distribution over a whole table, kept as the calibrated marginals of a junction tree.

    `tables[i]` is the marginal of `tree.cliques[i]` as probabilities (they sum to one); neighbours agree on
    their separators, which the caller of the constructor answers for. `total` is the number of records
    the field stands for. Immutable; a question never changes it and costs no privacy.
    """

    def __init__(
        self,
        tree: JunctionTree,
        marginals: Sequence[npt.ArrayLike],
        total: float,
        fit: FitReport | None = None,
    ) -> None:
        """`marginals` holds one non-negative table a clique of the tree, in any scale."""
        if len(marginals) != len(tree.cliques):
            raise ParameterError(f"{len(marginals)} marginals were given for {len(tree.cliques)} cliques.")
        if not (math.isfinite(total) and total >= 0):
            raise ParameterError(f"total {total!r} is not a finite number of at least 0.")
        self.tree = tree
        self.tables = tuple(
            _probabilities(clique, tree.domain.shape(clique), table)
            for clique, table in zip(tree.cliques, marginals, strict=True)
        )
        self.total = float(total)
        self.fit = fit

    @property
    def domain(self) -> Domain:
        """The columns and their sizes."""
        return self.tree.domain

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques of the junction tree."""
        return self.tree.cliques

    def __repr__(self) -> str:
        return (
            f"<MarkovField: {len(self.domain)} columns, {len(self.cliques)} cliques, "
            f"{self.tree.cells:,} cells, {self.total:,.1f} records>"
        )

    # --- questions ---------------------------------------------------------------------------------------

    def marginal(self, clique: Clique | str) -> Marginal:
        """The expected counts of a clique, measured or not, axes in the order given."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Iterable[Clique | str]) -> list[Marginal]:
        """The expected counts of many cliques; they share their work."""
        answers = []
        for names in [self.domain.clique(clique) for clique in cliques]:
            factor, _ = self._questions.joint(names)
            self._questions.forget()
            answers.append(Marginal(names, factor.values * self.total))
        return answers

    def log_probability(self, event: Event) -> float:
        """The logarithm of `probability`, which for many columns may be too small for a float."""
        evidence = allowed_codes(self.domain, event)
        if any(codes.size == 0 for codes in evidence.values()):
            return -math.inf
        factor, log = Elimination(self.tree, self.tables, evidence).joint(())
        value = float(factor.values)
        return math.log(value) + log if value > 0 else -math.inf

    def probability(self, event: Event) -> float:
        """The probability that a record has an allowed code in every column of `event`.

        `event` gives a column one code, several, or one boolean a code: `{"sex": 0, "age": range(18, 65)}`.
        Exact for any number of columns, by propagation with the event as evidence.
        """
        return min(math.exp(self.log_probability(event)), 1.0)

    def conditional(self, clique: Clique | str, given: Event) -> Factor:
        """P(clique | given): a factor that sums to one, axes in the order given."""
        names = self.domain.clique(clique)
        evidence = allowed_codes(self.domain, given)
        factor, _ = Elimination(self.tree, self.tables, evidence).joint(names)
        if not factor.total > 0:
            raise ParameterError(
                f"the event over {tuple(evidence)!r} has probability zero in this field.",
                hint="nothing can be conditioned on it; allow more codes.",
            )
        whole = np.zeros(self.domain.shape(names))
        whole[np.ix_(*(evidence.get(name, np.arange(self.domain[name])) for name in names))] = factor.values
        return Factor(names, whole).normalise()

    def log_likelihood(self, records: Mapping[str, npt.ArrayLike]) -> Array:
        """The log probability of every record, in nats; -inf where the field has a structural zero.

        `records` maps columns to arrays of codes. Columns left out are summed out, exactly.
        """
        from understudy.model.likelihood import log_likelihood

        return log_likelihood(self, records)

    def entropy(self) -> float:
        """The entropy of one record, in nats: what the cliques have, less what their separators share."""
        whole = 0.0
        for i, table in enumerate(self.tables):
            whole += _entropy(table)
            whole -= _entropy(Factor(self.cliques[i], table).project(self.tree.separator(i)).values)
        return whole

    def expected_error(self, measurement: Measurement) -> float:
        """The L1 distance to expect between the field's answers to a measurement and the true ones.

        The fit is a projection, so what it moved the noisy answers by is noise removed:
        E||field - truth||^2 is about sum sigma^2 - ||field - noisy||^2, never taken below the standard
        deviation of the noise's own square. The L1 distance is that of Gaussian errors of this size.
        """
        cells = np.asarray(self.marginal(self.domain.clique(measurement.clique)).counts).reshape(-1)
        moved = float(((measurement.answers(cells) - measurement.values) ** 2).sum())
        variance = np.broadcast_to(measurement.stddev, measurement.values.shape) ** 2
        left = max(float(variance.sum()) - moved, math.sqrt(2 * float((variance**2).sum())))
        left = min(left, float(variance.sum()))
        return math.sqrt(2 / math.pi) * math.sqrt(measurement.values.size * left)

    def summary(self) -> FieldSummary:
        """Cliques, sizes, treewidth and the certificate; prints as a page."""
        return FieldSummary(
            columns=len(self.domain),
            total=self.total,
            cliques=self.cliques,
            sizes=tuple(table.size for table in self.tables),
            treewidth=self.tree.width,
            components=len(self.tree.roots),
            cells=self.tree.cells,
            structural_zeros=sum(int(table.size - np.count_nonzero(table)) for table in self.tables),
            entropy=self.entropy(),
            fit=self.fit,
        )

    @cached_property
    def _questions(self) -> Elimination:
        return Elimination(self.tree, self.tables)

    # --- records -----------------------------------------------------------------------------------------

    def sample(
        self,
        n: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        seed: int | None = None,
        method: str = "synthetic",
    ) -> Sample:
        """`n` records (as many as the field stands for, or as `given` has, when left out).

        `given` maps some columns to codes, one for all records or one a record (-1 where a record lacks it);
        the rest of each record is drawn from the exact conditional. `method` is "synthetic" (rows whose
        marginals match the field's as closely as whole records can), "paper" (the appendix of the paper to
        the letter) or "iid" (independent draws). Sampling is free: a seed harms no one.
        """
        from understudy.model.sampling import synthetic_data

        return synthetic_data(self, n, given=given, seed=seed, method=method)

    def sample_chunks(
        self,
        n: int | None = None,
        chunk: int = 1_000_000,
        *,
        seed: int | None = None,
        method: str = "synthetic",
    ) -> Iterator[Sample]:
        """`n` records in samples of at most `chunk`, drawn as they are asked for."""
        from understudy.model.sampling import synthetic_chunks

        return synthetic_chunks(self, n, chunk, seed=seed, method=method)

    # --- files -------------------------------------------------------------------------------------------

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header of plain values and named arrays that together are the field, for files of other kinds."""
        from understudy.model.field_file import to_arrays

        return to_arrays(self)

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> MarkovField:
        """The field of a header and arrays from `to_arrays`; anything else is refused."""
        from understudy.model.field_file import from_arrays

        return from_arrays(header, arrays)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the field to one file: a JSON header and arrays, no pickle."""
        from understudy.model.field_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> MarkovField:
        """The field of a file that `save` wrote; a damaged or hostile one is refused."""
        from understudy.model.field_file import load

        return load(path)


def _probabilities(clique: Clique, shape: tuple[int, ...], table: npt.ArrayLike) -> Array:
    """A read-only copy of a marginal, scaled to one."""
    values = np.asarray(table, dtype=np.float64)
    if values.size != math.prod(shape):
        raise ParameterError(f"the marginal of {clique!r} has {values.size} cells, not {math.prod(shape)}.")
    whole = float(values.sum())
    if not (math.isfinite(whole) and whole > 0 and float(values.min()) >= 0):
        raise ParameterError(
            f"the marginal of {clique!r} must be finite, without a negative cell, and not all zero."
        )
    # What sums to one already is kept to the last bit, so that a field survives its file exactly.
    scale = 1.0 if abs(whole - 1.0) < 1e-12 else 1.0 / whole
    scaled = np.array(values.reshape(shape) * scale)
    scaled.flags.writeable = False
    return scaled


def _entropy(table: Array) -> float:
    positive = table[table > 0]
    return -float((positive * np.log(positive)).sum())
