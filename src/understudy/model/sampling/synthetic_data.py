"""The paper's "Synthetic data": records, column by column, whose marginals match the field's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from understudy.domain.codes import Codes
from understudy.errors import ParameterError, SizeError
from understudy.model.queries.generation_order import Family, families, group_keys, weights_of
from understudy.model.queries.partial_records import column_names
from understudy.model.sampling.sample import Sample
from understudy.model.sampling.synthetic_column import Conditional, rounding_named, synthetic_column
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.processors import available_cores

THREADED_CODES = 1 << 18  # below this many codes a second thread costs more than it saves
LIMIT_ROWS = (1 << 32) - 1  # a shuffle draws its places from 32 bits


def synthetic_data(
    field: CalibratedTree,
    n: int | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    seed: int | None = None,
    method: str = "synthetic",
) -> Sample:
    """`n` records of a field (see `CalibratedTree.sample`)."""
    rounding = rounding_named(method)
    random = seeded(seed)
    if given is not None and column_names(given):
        from understudy.model.sampling.conditional_sampling import complete

        return complete(field, n, given, rounding, random)
    rows = row_count(n, field.total)
    order = families(field.tree)
    streams = dict(zip([family.column for family in order], random.spawn(len(order)), strict=True))

    def generate(family: Family, codes: Mapping[str, Codes]) -> Codes:
        table = weights_of(field, family)
        keys = group_keys(field.domain, family.parents, codes, rows)
        conditional = Conditional(len(table), table.shape[1], table.__getitem__)
        return synthetic_column(keys, conditional, rounding, streams[family.column])

    codes = _in_order(order, generate, rows * len(order))
    if field.beside and method == "synthetic":
        from understudy.model.sampling.moved_codes import moved

        codes = moved(field, codes, rows, random)
    return Sample(field.domain, codes, rows)


def synthetic_chunks(
    field: CalibratedTree, n: int | None, chunk: int, *, seed: int | None, method: str
) -> Iterator[Sample]:
    """`n` records in samples of at most `chunk`, drawn as they are asked for.

    Each sample matches the field by itself, so after m of them a count is off by the order of sqrt(m)
    records, not of sqrt(n).
    """
    rounding_named(method)
    rows = row_count(n, field.total)
    size = row_count(chunk, 0.0, "chunk")
    if size < 1:
        raise ParameterError("chunk 0 would never end.", hint="ask for at least one record a chunk.")
    random = seeded(seed)
    seeds = (int(random.integers(2**63)) for _ in range(0, rows, size))
    return (
        synthetic_data(field, min(size, rows - first), seed=next(seeds), method=method)
        for first in range(0, rows, size)
    )


def seeded(seed: int | None) -> np.random.Generator:
    """The randomness of a sample: a seed's, or the operating system's when there is none."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ParameterError(f"seed {seed!r} is not a whole number of at least 0.") from None


def row_count(n: int | None, total: float, name: str = "n") -> int:
    """The number of records asked for, once it is a whole number; `total` rounded where none is given."""
    if n is None:
        return round(total)
    try:
        rows = int(n)
    except (TypeError, ValueError, OverflowError):
        rows = -1
    if isinstance(n, bool) or rows != n or rows < 0:
        raise ParameterError(f"{name} {n!r} is not a whole number of at least 0.")
    if rows > LIMIT_ROWS:
        raise SizeError(f"{name} {rows:,} is more than {LIMIT_ROWS:,}.", hint="draw them with sample_chunks.")
    return rows


def _in_order(order: Sequence[Family], generate: Any, codes: int) -> dict[str, Codes]:
    """Every column once its parents are there; on all cores when there is enough to do.

    Columns are handed out parents first, and a worker waits only for columns handed out earlier, so some
    column can always go on. Every column has its own stream, so threads never change the result.
    """
    done: dict[str, Codes] = {}
    if codes < THREADED_CODES:
        for family in order:
            done[family.column] = generate(family, done)
        return done
    waiting: dict[str, Future[Codes]] = {}

    def when_ready(family: Family) -> Codes:
        parents = {name: waiting[name].result() for name in family.parents}
        column: Codes = generate(family, parents)
        return column

    with ThreadPoolExecutor(min(available_cores(), 8)) as pool:
        for family in order:
            waiting[family.column] = pool.submit(when_ready, family)
        return {name: future.result() for name, future in waiting.items()}
