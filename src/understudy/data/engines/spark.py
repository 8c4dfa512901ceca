"""The Spark engine: a DataFrame's records, coded and counted where they lie.

The first count has every worker code its own partitions (see `spark_tasks`); Spark keeps the codes, a byte or
two a cell, in its executors' memory and disk, and later counts read those. Where workers read files themselves,
the first count is of all pairs of columns, if they are small, and codes are kept only if more is asked for.

Counts are added in a tree: batches within a task, tasks in a reducer for each chunk of cells, reducers on the
driver (which adds a few small ones by itself). No record leaves its worker, but for one shuffle where there is a
unit column, which brings all of a unit's records to one task. Only what a successful attempt of a
task yields enters a sum, so a worker that dies neither loses nor doubles.

Works on Spark Connect: nothing here needs a Spark context, and what the workers need travels in the closure.
"""

from __future__ import annotations

import logging
import math
import re
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.data.counting.bytes_of_values import values_of_bytes
from understudy.data.counting.filled_cells import FilledCells
from understudy.data.counting.histogram import RESULT_BYTES, check_results
from understudy.data.counting.open_values import merge_tallies, nameable
from understudy.data.counting.recoding import recoded
from understudy.data.counting.units import check_most
from understudy.data.engines import spark_tasks as tasks
from understudy.data.engines.spark_tasks import Coder
from understudy.domain import Clique, Domain
from understudy.domain.codes import Codes
from understudy.errors import FileError, OperatorError
from understudy.marginals import Marginal
from understudy.marginals.clique_runs import runs_within
from understudy.marginals.counter import Recoding

# Counts of one job: each task holds as much, and so does the driver (spark.driver.maxResultSize is 1 GiB).
JOB_BYTES = 1 << 28
# Partial counts of one job that may be written for the reducers, all tasks together.
PARTIAL_BYTES = 1 << 33
# Partial counts of one job, all tasks together, that the driver adds up itself: a stage of Spark's less.
GATHERED_BYTES = 1 << 26
REMEMBERED_BYTES = 1 << 27
MOST_REMEMBERED = 1 << 17  # codes of a column whose own counts are always kept
PAIR_CELLS = 1 << 20  # of all pairs of columns together, up to which the first scan of files counts them
PARALLELISM = 200  # Spark's own default for reducers

Integers = npt.NDArray[np.int64]
T = TypeVar("T")


class SparkTable:
    """Records of a Spark DataFrame as an engine: `coder` turns an Arrow table of them into codes.

    The coder runs on the workers, where Understudy must be installed. Without `keep` every count codes the
    records anew. `source` is a task that makes records of the DataFrame's rows first (see `spark_tasks.Scan`),
    the same whenever it is run. `parts` is how many partitions the DataFrame has, where that is known. Of every
    `unit`, where that is given, at most `most` records are counted.
    """

    def __init__(
        self,
        frame: Any,
        domain: Domain,
        coder: Coder,
        *,
        keep: bool = True,
        source: tasks.Task | None = None,
        parts: float = math.inf,
        unit: str | None = None,
        most: int = 1,
    ) -> None:
        pack: tasks.Task = tasks.Pack(domain, coder)
        if unit is not None:
            frame = owned(frame, tasks.Own(unit, domain, coder), source)
            source, pack, parts = (
                None,
                tasks.Keep(domain, check_most(most)),
                shuffle_partitions(frame.sparkSession),
            )
        self._packs = _Packs(frame, domain, pack if source is None else tasks.Then(source, pack), keep, parts)
        self._early = keep and source is not None  # whether the first scan may count pairs and keep nothing
        self._domain, self._maps = domain, dict[str, Codes]()
        self._known: dict[Clique, Integers] = {}

    @property
    def domain(self) -> Domain:
        """The coded columns and their sizes."""
        return self._domain

    def __repr__(self) -> str:
        return f"SparkTable({len(self._domain)} columns)"

    def count(self, cliques: Sequence[Clique]) -> list[Marginal]:
        """The exact marginal of every clique, in order, as int64; in as few jobs as memory allows."""
        wanted = [self._domain.clique(clique) for clique in cliques]
        check_results(self._domain, wanted, RESULT_BYTES)
        counted: dict[Clique, Integers] = {}
        sorted_ = dict.fromkeys(self._domain.order(clique) for clique in wanted)
        unknown = [clique for clique in sorted_ if clique not in self._known]
        if unknown:
            self._packs.keep()
        for part in runs_within(self._domain, unknown, JOB_BYTES // 8):
            counted |= self._job(part)
        answers = [Marginal(clique, self._answer(clique, counted)) for clique in wanted]
        self._remember(counted)
        return answers

    def count_cells(self, clique: Clique) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The cells that hold a record, as places in C order (rising), and how many each holds.

        Filled cells are summed by Spark, and all of them come to the driver: noise decides which are released.
        """
        filled = FilledCells(self._domain, clique)
        used = {name: codes for name, codes in self._maps.items() if name in filled.clique}
        table = self._packs.grouped(tasks.CountCells(self._packs.domain, self._domain, used, filled.clique))
        filled.merge(*(table.column(name).to_numpy() for name in ("place", "records")))
        return filled.cells()

    def recode(self, maps: Mapping[str, Recoding]) -> SparkTable:
        """The same records with code c of column k replaced by maps[k][c], on the workers."""
        other = object.__new__(SparkTable)
        other._packs, other._early = self._packs, self._early
        other._domain, other._maps = recoded(self._domain, self._maps, maps)
        other._known = {
            clique: _merged(clique, table, maps, other._domain)
            for clique, table in self._known.items()
            if len(clique) == 1 or other._domain.size(clique) <= table.size
        }
        return other

    def prepare(self) -> SparkTable:
        """The engine itself, once every record was read and coded, so that no fault of the source is left.

        Also counts every column alone in the same job, and of files every pair of columns, if they are small:
        that costs a worker less than handing its codes to Spark and reading them again.
        """
        first = _small_pairs(self._domain) if self._early else []
        if not first:
            self._packs.keep()
            first = [(name,) for name, size in self._domain.items() if size <= MOST_REMEMBERED]
        self._known |= _with_columns_alone(self._job([*first, ()]))
        return self

    def _answer(self, clique: Clique, counted: Mapping[Clique, Any]) -> Integers:
        """A fresh table for a clique, its axes in the order asked."""
        plain = self._domain.order(clique)
        table = counted[plain] if plain in counted else self._known[plain]
        return np.array(table.transpose([plain.index(name) for name in clique]), np.int64, order="C")

    def _remember(self, counted: Mapping[Clique, Integers]) -> None:
        """Keep small tables: a mechanism measures what it has just chosen among."""
        left = REMEMBERED_BYTES - sum(table.nbytes for table in self._known.values())
        for clique, table in counted.items():
            if table.nbytes <= left:
                self._known[clique] = table
                left -= table.nbytes

    def _job(self, cliques: Sequence[Clique]) -> dict[Clique, Integers]:
        """The counts of a run of cliques, in one pass over the packs."""
        asked = tuple(clique for clique in cliques if clique)
        sizes = [self._domain.size(clique) for clique in asked]
        cells = sum(sizes) + 1
        used = {name: codes for name, codes in self._maps.items() if any(name in c for c in asked)}
        count = tasks.Count(self._packs.domain, self._domain, used, asked)
        flat = self._packs.summed(count, cells)
        ends = np.cumsum(sizes).tolist()
        tables = {
            clique: flat[end - size : end].reshape(self._domain.shape(clique))
            for clique, size, end in zip(asked, sizes, ends, strict=True)
        }
        return tables | ({(): flat[-1]} if () in cliques else {})


class _Packs:
    """The records as packs of codes: made anew for each count, or kept in Spark while this object lives."""

    def __init__(self, frame: Any, domain: Domain, pack: tasks.Task, keepable: bool, parts: float) -> None:
        self.domain, self._parts = domain, parts
        self._frame, self._pack, self._keepable, self._kept = frame, pack, keepable, False
        self._reducers = shuffle_partitions(frame.sparkSession)

    def grouped(self, count: tasks.CountCells) -> pa.Table:
        """The filled cells of all packs together, each once."""
        from pyspark.sql import functions as sql

        task = count if self._kept else tasks.Then(self._pack, count)
        cells = on_workers(self._frame, task, tasks.CELLS)
        records = sql.sum("records").alias("records")
        return collected(cells.groupBy("place").agg(records), "count the records")

    def keep(self) -> None:
        """Have Spark keep the packs that the next count makes, unless it keeps them already or must not."""
        if self._kept or not self._keepable:
            return
        packs = on_workers(self._frame, self._pack, tasks.PACKS)
        self._frame, self._kept = attempted(packs.persist, "plan the count"), True
        # Spark's end is the end of what it keeps
        weakref.finalize(self, _forget, self._frame).atexit = False

    def summed(self, count: tasks.Count, cells: int) -> Integers:
        """The counts of all packs, added up."""
        chunks = tasks.chunks_of(cells)
        # Fewer tasks, each over several partitions, where dense counts of every partition would be many.
        frame = self._frame.coalesce(max(self._reducers, PARTIAL_BYTES // (8 * cells)))
        task = count if self._kept else tasks.Then(self._pack, count)
        sums = on_workers(frame, task, tasks.PARTIALS)
        if self._parts * 8 * cells > GATHERED_BYTES:
            with quiet():
                meeting = sums.repartition(min(chunks, self._reducers), "chunk")
                sums = meeting.mapInArrow(tasks.Add(cells), tasks.PARTIALS)
        table = collected(sums, "count the records")
        flat = np.zeros(cells, np.int64)
        for chunk, counts in zip(*table.columns, strict=True):
            start = chunk.as_py() * tasks.CHUNK_CELLS
            part = tasks.widened(counts.as_buffer(), tasks.cells_in(chunk.as_py(), cells))
            flat[start : start + len(part)] += part
        return flat


def owned(frame: Any, own: tasks.Task, source: tasks.Task | None = None) -> Any:
    """The records as units and contents (see `spark_tasks`), all of a unit's in one partition.

    The one step of this engine that moves records. Which of a unit's count is decided there, by their contents
    (see `counting.units`): in which order they came, from which file or task and at which attempt, has no part in it.
    """
    rows = on_workers(frame, own if source is None else tasks.Then(source, own), tasks.OWNED)
    # A number of partitions that is given is one that Spark does not change by what it sees of the records.
    return rows.repartition(shuffle_partitions(frame.sparkSession), "unit")


def count_spark_values(frame: Any, column: str, unit: str | None = None, most: int = 1) -> dict[Any, int]:
    """How many records have each value of an open column, of every unit at most so many; missing values left out.

    Counted by value on the workers and summed by Spark. Exact and private: every distinct value and its count
    comes to the driver, since noise decides which are named and rare ones must have their chance of it.
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import to_arrow_type

    values = frame.select(sql.col(quoted(column)).alias("value"))
    if unit is not None:
        chosen = frame.select(*map(quoted, dict.fromkeys([unit, column])))
        apart = owned(chosen, tasks.OwnValues(unit, column))
        values = on_workers(apart, tasks.KeepValues(check_most(most)), tasks.VALUES)
    counted = values.groupBy("value").agg(sql.count(sql.lit(1)).alias("records"))
    table = collected(counted.where(sql.col("value").isNotNull()).orderBy("value"), "count the values")
    found = table.column("value")
    if unit is not None:
        kind = nameable(pa.array([], to_arrow_type(frame.schema[column].dataType))).type
        found = values_of_bytes(found, kind)
    return merge_tallies([(found, table.column("records"))])


def count_spark_units(frame: Any, unit: str) -> dict[int, int]:
    """A number of records -> how many units have so many; counted by Spark. Exact and private, as above."""
    from pyspark.sql import functions as sql

    whose = owned(frame.select(quoted(unit)), tasks.OwnAlone(unit))
    each = whose.groupBy("unit").agg(sql.count(sql.lit(1)).alias("records"))
    table = collected(each.groupBy("records").agg(sql.count(sql.lit(1)).alias("units")), "count the units")
    return dict(zip(table["records"].to_pylist(), table["units"].to_pylist(), strict=True))


def on_workers(frame: Any, task: tasks.Task, types: Any) -> Any:
    """The DataFrame that a task makes of each partition's Arrow batches; columns may have any name."""
    from pyspark.sql import functions as sql

    names = tuple(frame.columns)
    with quiet():  # Spark's own mapping trips over dots and backticks, so it sees numbers for names
        numbered = [sql.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(names)]
        return frame.select(*numbered).mapInArrow(tasks.Named(names, task), types)


def collected(frame: Any, what: str) -> pa.Table:
    """The rows of a small DataFrame; an error of Spark's without what it says of the records."""
    return attempted(frame.toArrow, what)


def attempted(work: Callable[[], T], what: str) -> T:
    """What `work` gives; an error of Spark's as one of ours, without what it says: it may quote a value."""
    try:
        with quiet():
            return work()
    except Exception as error:  # Spark's, Py4J's, gRPC's and Arrow's share no class
        said = str(error)
        task = re.search(r"OperatorError: (a Spark task could not [^\n]*)", said)
        if task is not None:
            raise OperatorError(task[1]) from None
        fault = re.search(r"errors\.FileError: ([^\n]*)", said)
        if fault is not None:
            raise FileError(fault[1]) from None
        file = re.search(r"FAILED_READ_FILE.*? reading file ([^\s]+)", said)
        if file is not None:
            raise FileError(
                f"Spark cannot read file {file[1].rstrip('.')!r}.", hint="write it again."
            ) from None
        if "No module named 'understudy'" in said:
            raise OperatorError(
                "Understudy is not installed where Spark's workers run.",
                hint="install it there, or set PYSPARK_PYTHON to a Python that has it.",
            ) from None
        raise OperatorError(
            f"Spark could not {what}: {type(error).__name__}{_condition(error)}.",
            hint="Spark's own logs say more; they may quote records.",
        ) from None


def shuffle_partitions(spark: Any) -> int:
    """How many reducers the session asks for."""
    try:
        return max(1, int(spark.conf.get("spark.sql.shuffle.partitions")))
    except Exception:  # "auto" on some platforms, or not for us to ask
        return PARALLELISM


def quoted(name: str) -> str:
    """A column's name as Spark's column expressions take it."""
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def quiet() -> Iterator[None]:
    """Without PySpark's warnings of versions of pandas, which has no part in this, and without its log of
    errors, which quotes records: they are raised, without their words."""
    logs = logging.getLogger("SQLQueryContextLogger")
    before, logs.disabled = logs.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, message=".*pandas.*")
            yield
    finally:
        logs.disabled = before


def _small_pairs(domain: Domain) -> list[Clique]:
    """All pairs of columns; an empty list where they have too many cells together."""
    pairs: list[Clique] = list(combinations(domain, 2))
    return pairs if sum(domain.size(pair) for pair in pairs) <= PAIR_CELLS else []


def _with_columns_alone(tables: Mapping[Clique, Integers]) -> dict[Clique, Integers]:
    """The tables, and in addition the table of every single column that occurs in a pair."""
    pairs = [(clique, table) for clique, table in tables.items() if len(clique) == 2]
    alone = {(clique[axis],): table.sum(1 - axis) for clique, table in pairs for axis in (0, 1)}
    return alone | dict(tables)


def _merged(clique: Clique, table: Integers, maps: Mapping[str, Recoding], domain: Domain) -> Integers:
    """The table of a clique once the codes of its columns are merged."""
    for axis, name in enumerate(clique):
        if name in maps:
            merged = np.zeros((*table.shape[:axis], domain[name], *table.shape[axis + 1 :]), np.int64)
            np.add.at(np.moveaxis(merged, axis, 0), np.asarray(maps[name]), np.moveaxis(table, axis, 0))
            table = merged
    return table


def _condition(error: Exception) -> str:
    """The name that Spark gives an error, if it has one."""
    name = None
    with suppress(Exception):
        name = getattr(error, "getCondition")()  # noqa: B009 - only errors of PySpark have it
    return f" {name}" if isinstance(name, str) else ""


def _forget(frame: Any) -> None:
    with suppress(Exception):  # the session may be over, and what it kept with it
        frame.unpersist()
