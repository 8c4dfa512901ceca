"""The paper's algorithm, step by step: from a private table to a release.

1  Calibrate noise      the curator commits the whole plan to (epsilon, delta)
2  Encode domain        the schema gives every column its codes; what it leaves out is learned privately
3  Transform data       columns split or rounded by public rules, before they are coded
4  Compress domain      measure one-way marginals, merge rare codes      } by the mechanism,
5  Select marginals     on public data, or privately                     } which sees a curator
6  Measure marginals    noisy counts of what was selected                } and never a record
7  Synthesize data      estimate a field (mechanism), generate records (release.sample)
8  Reverse              undo compression, coding and transforms (release.sample)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, Required, TypedDict, Unpack

from understudy.data.engines.stream import LEAST_MEMORY, MEMORY, check_memory
from understudy.data.forms.table_form import NO_FORM
from understudy.domain import Schema
from understudy.domain.given_schema import given_schema
from understudy.domain.ordered_differences import through_differences
from understudy.marginals import Counter
from understudy.mechanisms import Mechanism
from understudy.mechanisms.registry import DEFAULT, as_mechanism, describe
from understudy.memory_left import affordable, check_memory_left
from understudy.pipeline import learning
from understudy.pipeline.accuracy import error_check
from understudy.pipeline.certificate import staged
from understudy.pipeline.draft import DRAFTED, schema_of_types
from understudy.pipeline.drawing.made_up import form_with_made
from understudy.pipeline.forecast import forecast
from understudy.pipeline.generation import check_seed, checked_rows
from understudy.pipeline.holding import breaches
from understudy.pipeline.holding.determined import guessed
from understudy.pipeline.holding.upheld import uphold
from understudy.pipeline.progress import Progress
from understudy.pipeline.release import Release
from understudy.pipeline.run_plan import calibrate_soon, foreseen, neighbours_of, plan_of
from understudy.pipeline.sources.records import (
    Reading,
    Records,
    Uncoded,
    check_columns,
    encode_alone,
    form_of,
)
from understudy.pipeline.sources.registry import name_of, open_records
from understudy.pipeline.sources.replayed import ready
from understudy.pipeline.sources.run_job import RunOnData, as_ledger, job_of, job_words
from understudy.pipeline.unit_bound import check_countable, learn_bound
from understudy.privacy import (
    Budget,
    Curator,
    Group,
    Ledger,
    OperatingSystem,
    Randomness,
    Role,
)
from understudy.privacy.accounting.budget import LARGE_EPSILON
from understudy.report.misfits import misfits, warn_of
from understudy.transforms.derive import TableTransform

Stage = Callable[[str], None]

AHEAD_BYTES = (
    250 << 20
)  # that a run takes once it is charged: kernels that are compiled, and blocks of records


def fit(
    data: Any,
    schema: Schema | str | os.PathLike[str] | None = None,
    *,
    epsilon: float,
    delta: float,
    mechanism: Mechanism | str = DEFAULT,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    name: str | None = None,
    job: str | None = None,
    unit: str | None = None,
    max_records_per_unit: int | Literal["learn"] | None = None,
    neighbours: str = "add-remove",
    check: bool = True,
    transforms: Sequence[TableTransform] = (),
    delimiter: str | None = None,
    memory: int = MEMORY,
    allow_large_epsilon: bool = False,
    source: Randomness | None = None,
    stage: Stage = lambda _: None,
) -> Release:
    """A release of the table: everything learned from its records within (epsilon, delta).

    Privacy: (epsilon, delta), by docs/privacy.md, "The curator". It is charged before anything is drawn.

    Parameters:
        data: the private table: a path (CSV, Excel, JSON lines, Parquet, Arrow), a frame, anything that speaks
            Arrow, or an address such as "postgresql://...".
        schema: what is publicly known of the table, or the path of a schema file. Left out, only column names,
            and the types that a source declares, are taken as public; all else is learned privately, out of the
            budget.
        epsilon: how much may be revealed of any one person: above 0, at most 20 unless allowed. Smaller is safer.
        delta: the chance that the bound does not hold: above 0, well below 1 / records. Like epsilon it has no
            default: it is a decision of the data holder's.
        mechanism: what to measure: a mechanism, or the name of one. "adaptive" by default, which needs nothing
            but the table.
        ledger: the file that records what is spent, or a `Ledger`; by default one for this user
            ($UNDERSTUDY_LEDGER), so that no run goes unrecorded.
        name: the table's name in the ledger; by default the schema's, else the file's, else "table".
        job: a label: the same call under the same label is charged once and answers the same. By default an
            unchanged file is the same job, the same address goes on with a run that was broken off, and a frame in
            memory is a new job every time.
        unit: the column that identifies a person; by default the schema's, else one record is one person.
        max_records_per_unit: the most records of one person that are used, at least 1; by default the schema's,
            else it is learned privately, from a twentieth of epsilon. More records cost more noise.
        neighbours: tables to be told apart differ by one person more ("add-remove", the usual promise), or by
            one person changed ("replace").
        check: ask at the end, with 3% of the budget, how far off the model is on every pair of columns, so that the
            release can state its errors (`expected_error`); on by default. A table of one column has none.
        transforms: columns to split or round by public rules before they are coded; none by default.
        delimiter: what separates the fields of a CSV file; found from its header by default.
        memory: how many bytes a streamed table may take beyond the counts asked for; a gibibyte by default, which
            any laptop has.
        allow_large_epsilon: accept an epsilon above 20, where the promise is next to empty, and record it.
        source: where noise comes from; the operating system's randomness by default. Any other is for tests,
            and the release is stamped NOT PRIVATE.
        stage: called with a few words whenever a new step begins; by default nobody is told.

    Returns:
        A `Release`: sampling from it, asking it and verifying it cost nothing more.

    Raises:
        ParameterError: a parameter is out of its range; nothing was charged.
        BudgetError: less is left of the table's limit than is asked for; nothing was charged.
        SchemaError: the schema cannot be used, or describes a column that is not there; nothing was charged.
        FileError: a file cannot be read; nothing was charged.
        LedgerError: the ledger is damaged, or not the one that was in use.

    Example:
        >>> import understudy as us
        >>> release = us.fit("people.csv", "people.toml", epsilon=1.0, delta=1e-9, mechanism="independent")
        >>> release.verify().holds
        True
    """
    budget = Budget(epsilon, delta, allow_large_epsilon=allow_large_epsilon)
    mechanism, schema = as_mechanism(mechanism), None if schema is None else given_schema(schema)
    name = name or (schema.name if schema else None) or name_of(data) or "table"
    if schema is not None:
        schema = through_differences(_with_unit(schema, unit, max_records_per_unit))
        _check(schema, mechanism, check)
        calibrate_soon(schema, mechanism, budget, neighbours, check=check)  # while the table is read

    stage("reading the table")
    records = open_records(data, Reading(schema, delimiter, tuple(transforms), _affordable(memory)))
    given = schema is not None
    if schema is None:
        schema = schema_of_types(records.types, name=name, untyped=records.untyped)
        schema = _with_unit(schema, unit, max_records_per_unit)
        _check(schema, mechanism, check)
    dropped = check_columns(records, schema)
    relation, learned = neighbours_of(schema, neighbours), check_countable(records, schema)
    mechanism = foreseen(schema, mechanism, budget, relation, rows=schema.rows, check=check).mechanism
    ledger = as_ledger(ledger)
    this = job_of(
        RunOnData(data, name, job, records.snapshot, source),
        job_words(schema, mechanism, budget, relation, transforms, check),
        ledger,
        title=mechanism.name,
    )
    records = ready(records, schema if given else None, finished=ledger.finished(this))
    described, plan, engine, bound = schema, plan_of(schema, mechanism, check=check), None, None
    if not schema.unlearned:  # read whole before anything is charged: a fault of the data costs nothing
        stage("coding the records")
        engine = _coded(
            records, replace(schema, max_records_per_unit=1) if learned else schema, mechanism, plan
        )
    progress = Progress(stage, plan)
    curator = Curator(
        Uncoded(records, schema),
        _within_memory(budget, schema, mechanism),
        ledger=ledger,
        job=this,
        neighbours=relation,
        source=OperatingSystem() if source is None else source,
        watch=progress,
    )

    if learned:
        curator, schema, bound = learn_bound(curator, records, schema)
        engine = engine if bound.most == 1 else None
    # 1. Calibrate noise, over what is to be learned first and over the mechanism's own plan.
    stage("calibrating the noise")
    losses = progress.allotted(curator.commit(plan))
    # 2. Encode domain, learning what the schema leaves out. 3. Transforms were applied as the table was read.
    schema, instants = learning.learn_types(schema, curator, lambda grid: encode_alone(records, grid), losses)
    instants |= {field.name for field in records.types if getattr(field.type, "tz", None)}
    asked = learning.questions(described, schema)
    progress.learns(asked)
    schema = through_differences(
        learning.learn(schema, curator, lambda grid: encode_alone(records, grid), losses, instants=instants)
    )
    if engine is None:
        stage("coding the records")
        engine = _coded(records, schema, mechanism, plan)
    coded = curator.over(engine)
    broken = breaches.count(coded, schema, losses)
    # 4. Compress. 5. Select. 6. Measure. 7. Synthesize: estimate.
    found = mechanism(coded, engine.domain, losses)
    unfit = [*misfits(described, schema, found, written=given), *guessed(schema, found)]
    # 7. Synthesize: the field holds what constraints it can, and the rest is held in each record.
    upheld = uphold(found, schema, broken)
    found, schema = upheld.fit, upheld.schema
    # How far off the model is, told with what was set aside for it.
    errors = error_check.ask(coded, found, losses)
    # 7. Synthesize: generate, and 8. Reverse, are the release's own: free, and as often as wanted.
    certificate = staged(curator.certificate(), plan, asked) | {
        "mechanism": describe(mechanism),
        "decisions": list(found.decisions),
        "dropped": list(dropped),
        "warnings": [
            *warnings(described, budget, found.field.total),
            *unfit,
            *([] if bound is None else [bound.said]),
        ],
        **upheld.certified(),
    }
    curator.finish()
    warn_of(unfit)
    return Release(
        schema,
        found.field,
        found.compression,
        found.measurements,
        certificate,
        tuple(transforms),
        records.kind,
        form_with_made(form_of(records, schema, transforms), schema),
        errors,
    )


def table(data: Any, schema: Schema | str | os.PathLike[str], *, delimiter: str | None = None) -> Counter:
    """A table's records as codes under a complete schema: an engine to count, or to give to a curator.

    Parameters:
        data: a table of any kind that `fit` takes.
        schema: a complete schema, with nothing left to learn, or the path of its file.
        delimiter: what separates the fields of a CSV file; found from its header by default.

    Returns:
        An engine: it has a `domain`, and counts the records of any clique, exactly. Only a curator adds noise.

    Raises:
        SchemaError: a column is missing, or something is left to be learned.
        FileError: a file cannot be read.

    Example:
        >>> import understudy as us
        >>> records = us.table({"sex": ["F", "M", "F"]}, us.Schema({"sex": us.Category(("F", "M"))}))
        >>> records.domain  # F, M, and whatever else
        Domain({'sex': 3})
    """
    known = given_schema(schema)
    records = open_records(data, Reading(known, delimiter))
    check_columns(records, known)
    return records.encode(known)


class FitSettings(TypedDict, total=False):
    """What `synth` hands on to `fit`: all that `fit` takes beyond the table and its schema."""

    epsilon: Required[float]
    delta: Required[float]
    mechanism: Mechanism | str
    ledger: Ledger | str | os.PathLike[str] | None
    name: str | None
    job: str | None
    unit: str | None
    max_records_per_unit: int | Literal["learn"] | None
    neighbours: str
    check: bool
    transforms: Sequence[TableTransform]
    delimiter: str | None
    memory: int
    allow_large_epsilon: bool
    source: Randomness | None
    stage: Stage


def synth(
    data: Any,
    schema: Schema | str | os.PathLike[str] | None = None,
    *,
    rows: int | None = None,
    seed: int | None = None,
    **settings: Unpack[FitSettings],
) -> Any:
    """Synthetic records in one go: `fit`, then `sample`.

    Privacy: (epsilon, delta), as `fit`. Keep the release instead (`fit`) to sample again without spending again.

    Parameters:
        data: the private table, of any kind that `fit` takes.
        schema: what is publicly known of it, as for `fit`.
        rows: how many records to generate, from 0; by default the noisy total. The private table's own number
            is not public: it tells of one record whether it is there.
        seed: steers the sampling, which protects no one; never the noise. By default every call draws anew.
        settings: everything else that `fit` takes; epsilon and delta are always asked for.

    Returns:
        Synthetic records in the kind of table given: pandas for pandas, Polars for Polars, else Arrow.

    Raises:
        UnderstudyError: whatever `fit` and `sample` refuse.

    Example:
        >>> import understudy as us
        >>> us.synth("people.csv", "people.toml", rows=10, epsilon=1.0, delta=1e-9, mechanism="independent").num_rows
        10
    """
    check_seed(seed)  # before anything is charged
    known = None if schema is None else given_schema(schema)
    if rows is not None:
        checked_rows(known or Schema({}), NO_FORM, rows)
    return fit(data, known, **settings).sample(rows, seed=seed)


def _coded(records: Records, schema: Schema, mechanism: Mechanism, plan: Sequence[Group]) -> Counter:
    """The records as the engine that the run needs: one for columns alone where it asks for no more."""
    together = any(len(clique) > 1 for clique in mechanism.cliques(schema.domain()))
    together = together or any(group.role in (Role.PRIOR, Role.CHECK) for group in plan)
    return records.encode(schema) if together else encode_alone(records, schema)


def _affordable(memory: int) -> int:
    return affordable(check_memory(memory), LEAST_MEMORY)


def _within_memory(budget: Budget, schema: Schema, mechanism: Mechanism) -> Budget:
    """The budget, once the model of the run is likely to fit in the memory that is left, by what is public."""
    found = forecast(schema, mechanism, budget)
    # A larger model is refused by whoever would fit it, or the mechanism fits none.
    model = found.model_bytes if found.expected_cells <= found.limit_cells else 0
    check_memory_left(
        AHEAD_BYTES + model,
        f"a run of {mechanism.name!r} on this table",
        "raise that limit; or give columns fewer codes (bins, a shorter list), or choose another mechanism. "
        "Nothing was charged.",
    )
    return budget


def warnings(schema: Schema, budget: Budget, noisy_rows: float) -> list[str]:
    """What a person should know before trusting a run; recorded in its certificate.

    From public knowledge, and from the noisy number of records, which was paid for.
    """
    found = []
    rows = max(schema.rows or 1, round(noisy_rows))
    if not budget.delta <= 1 / rows:
        about = "" if rows == schema.rows else "about "
        found.append(
            f"delta {budget.delta:g} is above 1 / {about}{rows} rows: it could expose a whole record. "
            f"Choose one well below {1 / rows:.0e}."
        )
    if budget.epsilon > LARGE_EPSILON:
        found.append(
            f"epsilon {budget.epsilon:g} is above {LARGE_EPSILON:g}, where the promise is next to empty."
        )
    if DRAFTED in schema.comment:
        found.append(
            "the schema is a draft made by looking at the data; once reviewed, remove its first comment."
        )
    return found


def _with_unit(schema: Schema, unit: str | None, most: int | Literal["learn"] | None) -> Schema:
    if unit is None and most is None:
        return schema
    most = schema.max_records_per_unit if most is None else most
    return replace(schema, unit=schema.unit if unit is None else unit, max_records_per_unit=most)


def _check(schema: Schema, mechanism: Mechanism, check: bool) -> None:
    """Refuse what cannot work before any data is opened: a mechanism whose cliques the schema does not have, or a
    column that cannot be made up here."""
    for column in schema.made.values():
        column.ready()
    if not schema.synthesised:
        schema.domain()  # refuses it
    plan_of(schema, mechanism, check=check)
    if not schema.unlearned:
        mechanism.cliques(schema.domain())
