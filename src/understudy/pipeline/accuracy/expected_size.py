"""How large the model of a run will be, from public knowledge alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from understudy.domain import Clique, Domain
from understudy.mechanisms import Mechanism
from understudy.mechanisms.mechanism import Growing, Sized
from understudy.model.tree.junction_tree import BYTES_PER_CELL, LOOPED_BYTES_PER_CELL, tree_cells
from understudy.privacy import Loss


@dataclass(frozen=True)
class ModelSize:
    """The largest cliques that could be measured, and the cells of the model: at most, and expected."""

    cliques: list[Clique]
    cells: int
    expected: int
    looped: bool  # whether cliques are chosen that make loops

    @property
    def bytes(self) -> int:
        """The memory that fitting a model of the expected size takes."""
        return self.expected * (LOOPED_BYTES_PER_CELL if self.looped else BYTES_PER_CELL)


def model_size(
    mechanism: Mechanism,
    domain: Domain,
    losses: Mapping[str, Loss],
    rows: int | None,
    l1: int,
    epsilon: float,
    *,
    choosing: bool,
    rounds: int,
) -> ModelSize:
    """The size of what a mechanism makes of a domain at these losses.

    `choosing` says whether it chooses what it measures, in so many `rounds` as it will likely make.
    """
    cliques, cells = _largest(mechanism, domain, losses, rows, l1)
    expected = min(cells, _average_tree(domain)) if choosing else cells
    if isinstance(mechanism, Growing):
        whole = domain.size()  # one table has all that rounds could add
        cells, expected = (
            min(mechanism.grown_cells(tree, epsilon), max(tree, whole)) for tree in (cells, expected)
        )
    return ModelSize(cliques, cells, expected, rounds > 1)


def _largest(
    mechanism: Mechanism, domain: Domain, losses: Mapping[str, Loss], rows: int | None, l1: int
) -> tuple[list[Clique], int]:
    """The largest cliques that could be measured, and the cells of the model that is made of them."""
    if not isinstance(mechanism, Sized):
        cliques = mechanism.cliques(domain)
        return cliques, tree_cells(domain, cliques)
    cliques = mechanism.cliques(domain) if rows is None else mechanism.largest(domain, losses, rows, l1)
    return cliques, mechanism.model_cells(domain, cliques, rows)


def _average_tree(domain: Domain) -> int:
    """The cells of a tree whose pairs are as large as the average pair."""
    sizes = list(domain.values())
    products = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) / 2
    return max(1, round(2 * products / max(1, len(sizes))))
