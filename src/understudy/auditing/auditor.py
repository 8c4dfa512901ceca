"""An audit of the whole promise: neighbouring tables in through the public door, noisy logs told apart."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from understudy.auditing.attacker_view import Batch, Floats, Noise, View, Worlds, look
from understudy.auditing.bounds import advantage, epsilon_of, epsilon_outright, expected_advantage
from understudy.auditing.neighbouring_tables import TARGETS, NeighbouringTables
from understudy.auditing.recording_ledger import RecordingLedger
from understudy.auditing.replay import Replay
from understudy.auditing.verdict import Audit, Finding
from understudy.auditing.ways import WAYS, way_of
from understudy.domain import Clique
from understudy.errors import ParameterError
from understudy.marginals import Counter
from understudy.mechanisms import Mechanism
from understudy.mechanisms.registry import DEFAULT, mechanism_kind
from understudy.pipeline import fit, table
from understudy.pipeline.run_plan import plan_of
from understudy.privacy import Budget, Group, Neighbours, Role, compose

RUNS = {"replay": 500_000, "fit": 300}
FITS = 8  # runs of `fit` a world, where the other runs are replays
CLIQUES: tuple[Clique, ...] = (
    ("zip", "level"),
    ("age", "income"),
)  # for a mechanism that needs to be told its cliques
_KINDS = {"measure": "measurements", "choose": "choices", "laplace": "Laplace answers"}
_ASKED = {"filter": ("measure", "choose")}  # what is asked of a group, where its kind does not say
Stage = Callable[[str], None]


def audit(
    mechanism: Mechanism | str = DEFAULT,
    *,
    epsilon: float,
    delta: float,
    runs: int | None = None,
    way: str | Sequence[str] = "csv",
    target: str | Sequence[str] = TARGETS,
    through: str = "replay",
    neighbours: str = "add-remove",
    max_records_per_unit: int = 1,
    confidence: float = 0.99,
    allow_large_epsilon: bool = False,
    stage: Stage = lambda _: None,
) -> Audit:
    """The epsilon that an attacker proves of a mechanism, on neighbouring tables that are made up here.

    Privacy: no private record is read and no budget spent. Noise is the operating system's.

    Parameters:
        mechanism: the name of one, or any object that is one; that of `fit` by default. Its cliques name the
            columns of the tables: zip, level, active, age, income.
        epsilon: the claim to attack: above 0, at most 20 unless allowed.
        delta: the claim's other half: above 0 and below 1.
        runs: how often each of two tables is run, at least 2; by default 500,000 replays or 300 fits, which take
            about as long. More runs prove more of what is there to be proved.
        way: how the tables reach `fit`: the names of ways in, or "all". "csv" by default, the commonest.
        target: the unit by which the tables differ: names, or "all"; all of them by default.
        through: "replay" draws runs from the curator, once `fit` has shown what it asks and of what counts;
            "fit" makes every run a run of `fit`, which is slower and trusts less.
        neighbours: "add-remove" or "replace", as for `fit`.
        max_records_per_unit: the records of the unit by which the tables differ, at least 1.
        confidence: with which what is proved holds, from 0.5 to below 1; 0.99 by default.
        allow_large_epsilon: accept an epsilon above 20.
        stage: called with a few words whenever a new step begins; by default nobody is told.

    Returns:
        An `Audit`: what was proved beside the claim, and what is wrong, in words, where something is.

    Raises:
        ParameterError: a parameter is out of its range, or a name is not known.

    Example:
        >>> import understudy as us
        >>> us.audit("independent", epsilon=1.0, delta=1e-6, runs=200, target="twin").holds
        True
    """
    if through not in RUNS:
        raise ParameterError(f"through {through!r} is not known.", hint='use "replay" or "fit".')
    runs = RUNS[through] if runs is None else runs
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 2:
        raise ParameterError(f"runs {runs!r} is not a whole number of at least 2.")
    if not 0.5 <= confidence < 1:
        raise ParameterError(f"confidence {confidence!r} is not at least 0.5 and below 1.", hint="use 0.99.")
    ways, targets = _several(way, WAYS), _several(target, TARGETS)
    relation = Neighbours(neighbours, max_records_per_unit)
    setting = _Setting(
        known_mechanism(mechanism) if isinstance(mechanism, str) else mechanism,
        Budget(epsilon, delta, allow_large_epsilon=allow_large_epsilon),
        relation,
        through,
        runs,
        (1 - confidence) / (2 * len(ways) * len(targets)),
        stage,
    )
    findings = []
    for name in ways:
        for kind in targets:
            with tempfile.TemporaryDirectory(prefix="understudy-audit-") as folder:
                findings.append(setting.finding(name, kind, Path(folder)))
    return Audit(
        setting.mechanism.name,
        setting.budget.epsilon,
        setting.budget.delta,
        confidence,
        relation.to_dict(),
        tuple(findings),
    )


def known_mechanism(name: str, **given: Any) -> Mechanism:
    """The mechanism of that name, with cliques and a public table of the audit's own where it needs some."""
    kind = mechanism_kind(name)
    for setting in kind.settings:
        if setting.kind == "cliques" and setting.required and not given.get(setting.option):
            given[setting.option] = CLIQUES
    try:
        return kind.make(**given)
    except ParameterError:
        tables = [s.option for s in kind.settings if s.kind == "table" and not given.get(s.option)]
        if not tables:
            raise
    return kind.make(**given | {option: _public() for option in tables})


def _public() -> Counter:
    """A public table that is like the private ones."""
    pair = NeighbouringTables("twin", Neighbours(), typed=True)
    columns = dict(zip(pair.columns, zip(*pair.without, strict=True), strict=True))
    return table(columns, pair.schema)


def _several(given: str | Sequence[str], known: Sequence[str] | dict[str, Any]) -> list[str]:
    if given == "all":
        return list(known)
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise ParameterError("there is nothing to audit.", hint=f"choose of {', '.join(known)}.")
    return names


@dataclass(frozen=True, eq=False)
class _Setting:
    """Everything that the pairs of tables of one audit have in common; `alpha` is each bound's own."""

    mechanism: Mechanism
    budget: Budget
    neighbours: Neighbours
    through: str
    runs: int
    alpha: float
    stage: Stage

    def finding(self, way: str, target: str, folder: Path) -> Finding:
        """What one pair of tables shows."""
        chosen = way_of(way)
        pair = NeighbouringTables(target, self.neighbours, chosen.typed)
        given: list[Any] = []
        for name, rows in (("without", pair.without), ("with", pair.with_)):
            (folder / name).mkdir()
            given.append(chosen.give(pair.columns, rows, folder / name))
        worlds = Worlds(*(table(data, pair.schema) for data in given))
        fits = self.runs if self.through == "fit" else FITS
        views = [
            [
                self._run(
                    data, pair, worlds, f"{way}, {target}: run {run + 1:,} of {fits:,}", present=present
                )
                for run in range(fits)
            ]
            for present, data in ((False, given[0]), (True, given[1]))
        ]
        return self._told_apart(way, pair, worlds.moved(), views)

    def _run(self, data: Any, pair: NeighbouringTables, worlds: Worlds, said: str, *, present: bool) -> View:
        """One run of `fit`, as the attacker sees it."""
        self.stage(said)
        ledger = RecordingLedger()
        release = fit(
            data,
            pair.schema,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            allow_large_epsilon=self.budget.allow_large_epsilon,
            mechanism=self.mechanism,
            neighbours=self.neighbours.relation,
            ledger=ledger,
        )
        return look(ledger.log, worlds, release, present=present)

    def _told_apart(self, way: str, pair: NeighbouringTables, moved: int, views: list[list[View]]) -> Finding:
        first = views[1][0]
        without, with_ = (np.array([sight.ratio for sight in world]) for world in views)
        runs = self.runs
        plan = plan_of(pair.schema, self.mechanism)
        if self.through == "replay":
            self.stage(f"{way}, {pair.target}: {runs:,} replays a world")
            without, with_ = self._replayed(first.batches, plan)
        losses = first.losses
        asked = [group.kind for group in plan if group.role not in (Role.PRIOR, Role.CHECK)]
        kinds = {kind for group in asked for kind in _ASKED.get(group, (group,))}
        return Finding(
            way=way,
            target=pair.target,
            through=self.through,
            runs=runs,
            moved=moved,
            declared=self.neighbours.l1,
            proved=epsilon_of(advantage(without, with_, self.alpha), losses, self.budget.delta),
            outright=epsilon_outright(without, with_, self.budget.delta, self.alpha),
            reach=epsilon_of(expected_advantage(losses, runs, self.alpha), losses, self.budget.delta),
            ceiling=compose(losses).epsilon(self.budget.delta) if losses else 0.0,
            seen=tuple(_KINDS[kind] for kind in _KINDS if kind in kinds and kind != "choose"),
            unseen=(
                *(_KINDS[kind] for kind in _KINDS if kind in kinds and kind == "choose"),
                *(
                    "how far a public table is"
                    for group in plan[:1]
                    if any(g.role is Role.PRIOR for g in plan)
                ),
                *("the check of errors" for group in plan if group.role is Role.CHECK),
            ),
            noise=sum((sight.noise for world in views for sight in world), Noise()).fault,
        )

    def _replayed(self, batches: tuple[Batch, ...], plan: tuple[Group, ...]) -> tuple[Floats, Floats]:
        """The statistics of both worlds; pairs of tables whose batches are equal share one draw."""
        known = self._replays
        if batches not in known:
            again = Replay(batches, plan, self.budget, self.neighbours)
            known[batches] = (again.ratios(self.runs, present=False), again.ratios(self.runs, present=True))
        return known[batches]

    @cached_property
    def _replays(self) -> dict[tuple[Batch, ...], tuple[Floats, Floats]]:
        return {}
