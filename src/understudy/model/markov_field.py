"""A fitted distribution: any marginal, any conditional, any event, and records drawn from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.display import html_table
from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.marginals import Marginal
from understudy.model import field_file
from understudy.model.queries.elimination import Elimination
from understudy.model.queries.event import Event, allowed_codes
from understudy.model.queries.field_summary import FieldSummary
from understudy.model.queries.likelihood import log_likelihood
from understudy.model.queries.raking import raked
from understudy.model.sampling.sample import Sample
from understudy.model.sampling.synthetic_data import synthetic_chunks, synthetic_data
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.factor import Array, Factor


class MarkovField(CalibratedTree):
    """A distribution over a whole table that can be asked and sampled: no question changes it or costs privacy.

    `us.estimate` makes one, and so does a mechanism.

    Parameters:
        tree: the junction tree that it lies on.
        marginals: the counts of every clique of the tree, which agree where cliques meet.
        total: the number of records that it stands for.
        fit: how well it fits the measurements; none by default.
        beside: pairs of columns for which the tree has no room, and their counts; none by default. The marginal of
            such a pair is theirs, that of more columns is brought to them, and synthetic records follow them;
            probabilities, conditionals and likelihoods are the tree's.

    Raises:
        ParameterError: the counts are not those of the tree's cliques, or of pairs.
    """

    def __repr__(self) -> str:
        return (
            f"<MarkovField: {len(self.domain)} columns, {len(self.cliques)} cliques, "
            f"{self.tree.cells:,} cells, {self.total:,.1f} records>"
        )

    def _repr_html_(self) -> str:
        """The largest cliques, for a notebook."""
        sizes = {clique: math.prod(self.domain[name] for name in clique) for clique in self.cliques}
        return html_table(
            f"Field over {len(self.domain)} columns, {self.total:,.1f} records",
            ["clique", "cells"],
            [[", ".join(clique), f"{sizes[clique]:,}"] for clique in sorted(sizes, key=lambda c: -sizes[c])],
            [f"{len(self.cliques)} cliques, {self.tree.cells:,} cells."],
        )

    # --- questions ---------------------------------------------------------------------------------------

    def marginal(self, clique: Clique | str) -> Marginal:
        """The expected counts of a clique, measured or not.

        Parameters:
            clique: its columns, or the name of its only one.

        Returns:
            The marginal, axes in the order given.

        Raises:
            DomainError: a column is not in the domain.
        """
        return self.marginals([clique])[0]

    def marginals(self, cliques: Iterable[Clique | str]) -> list[Marginal]:
        """The expected counts of many cliques; they share their work."""
        answers, asked = [], [self.domain.clique(clique) for clique in cliques]
        known = {names: self._known(names) for names in asked} if self.beside else {}
        of_tree = [names for names in asked if known.get(names) is None]
        if len(of_tree) > 1:
            self._questions.expect(of_tree)
        for names in asked:
            table = known.get(names)
            if table is not None:
                answers.append(Marginal(names, table * self.total))
                continue
            factor, _ = self._questions.joint(names)
            self._questions.forget()
            among = self._among(names)
            answers.append(
                Marginal(names, (raked(factor.values, names, among) if among else factor.values) * self.total)
            )
        return answers

    def _known(self, names: Clique) -> Array | None:
        """The table of a pair that stands beside the tree, axes in the order given; None of any other clique."""
        ordered = self.domain.order(names)
        table = self.beside.get(ordered)
        return table if table is None or names == ordered else table.T

    def _among(self, names: Clique) -> dict[Clique, Array]:
        """The pairs of these columns that stand beside the tree, each in their order."""
        if not self.beside or len(names) < 3:
            return {}
        found = {pair: self._known(pair) for pair in itertools.combinations(names, 2)}
        return {pair: table for pair, table in found.items() if table is not None}

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

        Exact for any number of columns, by propagation with the event as evidence.

        Parameters:
            event: a column -> one code, several, or one boolean a code: `{"sex": 0, "age": range(18, 65)}`.

        Returns:
            A number from 0 to 1.

        Raises:
            DomainError: a column is not in the domain, or a code not one of its.
        """
        return min(math.exp(self.log_probability(event)), 1.0)

    def conditional(self, clique: Clique | str, given: Event) -> Factor:
        """P(clique | given): how likely each cell is among the records of an event.

        Parameters:
            clique: its columns, or the name of its only one.
            given: a column -> one code, several, or one boolean a code, as for `probability`.

        Returns:
            A factor that sums to one, axes in the order given.

        Raises:
            DomainError: a column is not in the domain, or a code not one of its.
            ParameterError: the event has probability zero.
        """
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
        return log_likelihood(self, records)

    def entropy(self) -> float:
        """The entropy of one record, in nats: what the cliques have, less what their separators share."""
        whole = 0.0
        for i, table in enumerate(self.tables):
            whole += _entropy(table)
            whole -= _entropy(Factor(self.cliques[i], table).project(self.tree.separator(i)).values)
        return whole

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
            beside=len(self.beside),
        )

    @cached_property
    def _questions(self) -> Elimination:
        return Elimination(self.tree, self.tables)

    def with_beside(self, pairs: Mapping[Clique, npt.ArrayLike]) -> MarkovField:
        """The same field, with these counts for pairs that its tree has no room for."""
        return MarkovField(self.tree, self.tables, self.total, self.fit, pairs)

    # --- records -----------------------------------------------------------------------------------------

    def sample(
        self,
        n: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        seed: int | None = None,
        method: str = "synthetic",
    ) -> Sample:
        """Synthetic records. Free, as often as wanted: a seed harms no one.

        Parameters:
            n: how many; as many as the field stands for, or as `given` has, when left out.
            given: some columns -> codes, one for all records or one a record (-1 where a record lacks it); the rest
                of each record is drawn from the exact conditional.
            seed: steers the sampling; by default it differs each time.
            method: "synthetic" (rows whose marginals match the field's as closely as whole records can), "paper"
                (the appendix of the paper to the letter) or "iid" (independent draws).

        Returns:
            A sample: a mapping of columns to arrays of codes.

        Raises:
            ParameterError: a parameter is out of its range.
        """
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
        return synthetic_chunks(self, n, chunk, seed=seed, method=method)

    # --- files -------------------------------------------------------------------------------------------

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A header of plain values and named arrays that together are the field, for files of other kinds."""
        return field_file.to_arrays(self)

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> MarkovField:
        """The field of a header and arrays from `to_arrays`; anything else is refused."""
        return field_file.from_arrays(cls, header, arrays)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the field to one file: a JSON header and arrays, no pickle."""
        field_file.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> MarkovField:
        """The field of a file that `save` wrote; a damaged or hostile one is refused."""
        return field_file.load(cls, path)


def _entropy(table: Array) -> float:
    positive = table[table > 0]
    return -float((positive * np.log(positive)).sum())
