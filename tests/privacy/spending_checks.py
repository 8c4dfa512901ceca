"""What must hold of budgets and their books: what pays for an answer is checked, written down and on the disk.

As `product_checks`: each check raises AssertionError where a promise is broken, and `test_spending_mutations` plants
the bugs.
"""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from audit_worlds import Filled
from plain_engine import PlainEngine

from understudy.domain import Domain
from understudy.errors import BudgetError, LedgerError, UnderstudyError
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.privacy import (
    Approximate,
    Budget,
    Choice,
    Curator,
    Gaussian,
    Group,
    Job,
    Laplace,
    Ledger,
    Seeded,
)
from understudy.privacy.accounting import zcdp
from understudy.privacy.accounting.filters import SET_ASIDE, Filter
from understudy.privacy.accounting.losses import Slack
from understudy.privacy.accounting.spending import SLACK_SHARE
from understudy.privacy.curator.verification import recompute

BUDGET = Budget(1.0, 1e-5)


def _engine() -> PlainEngine:
    return PlainEngine({"a": [0, 1, 1]}, Domain({"a": 2}), {"city": ["Ely"] * 10})


# -- slack -----------------------------------------------------------------------------------------------


def check_slack_stays_within_its_share() -> None:
    """What noise tables and thresholds add to delta is refused once it passes what was set aside for it."""
    one = [Group("laplace", "laplace", Fraction(1), count=1)]
    batches = [Group(f"batch {i}", "measure", Fraction(1, 6), weights=(1.0,)) for i in range(6)]
    asked: list[Callable[[Curator], object]] = [
        lambda curator: curator.measure(["a"], budget=curator.left),
        lambda curator: curator.measure(["a"], budget=_planned(curator, batches, "batch 0")),
        lambda curator: curator.measure(["a"], budget=_planned(curator, one, "laplace")),
        lambda curator: curator.histogram("a", _planned(curator, one, "laplace"), 3),
        lambda curator: [curator.discover("city", loss) for loss in curator.commit(batches).values()],
    ]
    refused = 0
    for ask in asked:
        for delta in (1e-5, 1e-66, 1e-80):
            curator = Curator(_engine(), Budget(1.0, delta))
            try:
                ask(curator)
            except BudgetError:
                refused += 1
            slack = curator.certificate()["slack"]
            assert 2 * slack <= delta * SLACK_SHARE, f"slack {slack:.1e} of a delta of {delta:.0e}"
    assert refused > len(asked), "no budget was too small for its noise tables"


def _planned(curator: Curator, groups: list[Group], name: str) -> Any:
    return curator.commit(groups)[name]


def check_noise_is_never_below_what_was_charged() -> None:
    """Scales are rounded up from those that were paid for, in every kind of question."""
    for sigma in np.random.default_rng(0).uniform(20, 90, 50).tolist():
        curator = Curator(_engine(), BUDGET)
        (drawn,) = (m.stddev for m in curator.measure(["a"], budget=Gaussian(sigma)))
        assert drawn >= sigma, "less noise than was charged"
        curator = Curator(_engine(), BUDGET)
        epsilon = 1 / sigma
        (drawn,) = (m.stddev for m in curator.measure(["a"], budget=Laplace(epsilon)))
        assert drawn / np.sqrt(2) * (1 + 1e-15) >= 1 / epsilon, "less noise than was charged"
        assert curator.charges[-1].question["scales"][0] >= 1 / epsilon, "less noise than was charged"


def check_a_filter_fixes_its_limits_beforehand() -> None:
    """Nobody who has seen an answer may trade delta for rho: each has its limit, whatever was asked of the other."""
    before = Filter(BUDGET)
    slack = BUDGET.delta
    while not before.admits([Slack(slack)]):
        slack *= 0.99
    after = before.charge(Slack(slack))
    assert after.limit == before.limit, "the limit of rho moves with the slack that was charged"
    assert 1 / after.left == 1 / before.left
    full = before.charge(Gaussian((2 * before.limit) ** -0.5 * (1 + 1e-12)))
    assert full.admits([Slack(slack)]), "the limit of slack moves with the rho that was charged"
    whole = zcdp.delta(before.limit, BUDGET.epsilon) + 2 * slack
    assert whole <= BUDGET.delta, f"both limits together cost delta {whole:.3g}"


def check_a_filter_counts_every_kind_of_loss() -> None:
    """Whatever is asked again and again is refused once its rhos, by their textbook formulas, are used up."""
    asked: dict[str, tuple[float, Callable[[Curator], object]]] = {
        "gaussian": (0.5 / 12.0**2, lambda curator: curator.measure(["a"], budget=Gaussian(12.0))),
        "laplace": (0.5 * 0.1**2, lambda curator: curator.measure(["a"], budget=Laplace(0.1))),
        "choice": (0.3**2 / 8, lambda curator: curator.choose([("a",)], lambda _: np.zeros(2), Choice(0.3))),
        "approximate": (0.5 * 0.1**2, lambda curator: curator.discover("city", Approximate(0.1, 1e-9))),
    }
    limit = zcdp.rho(BUDGET.epsilon, BUDGET.delta)
    for name, (rho, ask) in asked.items():
        curator = Curator(_engine(), BUDGET)
        most = math.ceil(limit / rho)
        for _ in range(most):
            try:
                ask(curator)
            except BudgetError:
                break
        else:
            raise AssertionError(f"{name}: {most} answers cost more than the budget")


def check_filters_are_recomputed_as_filters() -> None:
    """Losses that answers may have chosen are composed by zCDP, at what the filter kept of its delta."""
    curator = Curator(_engine(), BUDGET)
    for sigma in (30.0, 11.0, 50.0):
        curator.measure(["a"], budget=Gaussian(sigma))
    rho = sum(0.5 / sigma**2 for sigma in (30.0, 11.0, 50.0))
    due = zcdp.epsilon(rho, BUDGET.delta * (1 - SET_ASIDE))
    assert recompute(curator.certificate()) >= due * (1 - 1e-9), "a filter is taken for a plan"


def check_choices_keep_the_order_of_their_plan() -> None:
    """Of two groups of choices, the first cannot be asked once the second was."""
    groups = [
        Group("wide", "choose", Fraction(1, 2), count=1),
        Group("narrow", "choose", Fraction(1, 2), count=8),
    ]
    curator = Curator(_engine(), BUDGET)
    losses = curator.commit(groups)
    curator.choose([("a",)], lambda _: np.zeros(2), losses["narrow"])
    try:
        curator.choose([("a",)], lambda _: np.zeros(2), losses["wide"])
    except BudgetError:
        return
    raise AssertionError("a choice is asked after one that was planned to follow it")


def check_nobody_gets_a_larger_weight_than_was_promised() -> None:
    """A plan that promised small weights was calibrated for them: a single marginal with all of it costs more."""
    for queries in (None, [Interactions((2, 3), [(0,)])]):
        engine = PlainEngine({"a": [0, 1, 1], "b": [0, 1, 2]}, Domain({"a": 2, "b": 3}))
        curator = Curator(engine, BUDGET)
        (pool,) = curator.commit([Group("pool", "measure", Fraction(1), largest=Fraction(1, 64))]).values()
        assert isinstance(pool, Gaussian)
        try:
            curator.measure([("a", "b")], None, pool.portion(Fraction(1, 32)), queries)
        except BudgetError:
            continue
        raise AssertionError("a marginal has twice the part of a plan that it was calibrated for")


# -- a filter in a plan ----------------------------------------------------------------------------------


def check_a_filter_of_a_plan_gives_no_more_than_its_share() -> None:
    """Choices and measurements at losses of one's own are refused once their rhos pass the filter's share."""
    groups = [
        Group("first", "measure", Fraction(1, 2), weights=(1.0,)),
        Group("rounds", "filter", Fraction(1, 2)),
    ]
    limit = zcdp.rho(BUDGET.epsilon, BUDGET.delta)
    for kinds in (("choose",), ("measure",), ("choose", "measure")):
        curator = Curator(_engine(), BUDGET, source=Seeded(1))
        rho = curator.commit(groups)["rounds"].rho
        asked = 0
        with suppress(BudgetError):
            for turn in range(40):
                if kinds[turn % len(kinds)] == "choose":
                    curator.choose_dependent([("a",)], Choice(math.sqrt(8 * rho / 10)))
                else:
                    curator.measure(["a"], budget=Gaussian(math.sqrt(5 / rho)))
                asked += 1
        assert 9 <= asked <= 10, "the filter gave more, or less, than its share"
        spent = math.fsum(loss.rho for charge in curator.charges for loss in charge.losses)
        assert spent <= limit / 2
        assert recompute(curator.certificate()) <= BUDGET.epsilon


# -- the door --------------------------------------------------------------------------------------------


def check_no_foreign_code_meets_exact_counts() -> None:
    """A query of a class of somebody's own is refused, or its methods are never called."""
    seen: list[np.ndarray] = []

    class Loud(Binned):
        def apply(self, cells: Any) -> Any:
            seen.append(np.array(cells))
            return 1000 * super().apply(cells)

    curator = Curator(_engine(), BUDGET, source=Seeded(1))
    with suppress(UnderstudyError):
        curator.measure(["a"], budget=Gaussian(20.0), queries=[Loud((np.array([0, 1]),))])
    assert not seen, "somebody's own code is handed exact counts"


def check_a_loss_is_what_it_was_when_it_was_checked() -> None:
    """A loss that says something else each time it is asked buys no more than it pays for."""

    class Growing(Gaussian):
        @property
        def scales(self) -> tuple[float, ...]:
            return (1e-3,)

    curator = Curator(_engine(), BUDGET, source=Seeded(1))
    with suppress(UnderstudyError):
        (found,) = curator.measure(["a"], budget=Growing(20.0, (1.0,)))
        assert float(found.stddev) >= 20.0, "a loss buys less noise than it pays for"


def check_no_question_is_asked_inside_another() -> None:
    """The outer question would put back the allowance out of which the inner one was paid."""
    curator = Curator(_engine(), BUDGET)
    answered = []

    def estimates(clique: Any) -> np.ndarray:
        answered.append(curator.measure(["a"], budget=Gaussian(30.0)))
        return np.zeros(2)

    with suppress(UnderstudyError):
        curator.choose([("a",)], estimates, Choice(0.1))
    rho = sum(loss.rho for charge in curator.charges for loss in charge.losses)
    parts = curator._session.allowance.parts
    paid = parts[-1].spent.spent if parts else 0.0  # type: ignore[union-attr]
    assert paid >= rho * (1 - 1e-12), "an answer was given that the allowance does not know of"


def check_a_source_is_private_by_its_type_alone() -> None:
    """Noise from a source of somebody's own is stamped, whatever the source says of itself."""

    class Mine(Seeded):
        private = True

    curator = Curator(_engine(), BUDGET, source=Mine(1))
    curator.measure(["a"], budget=Gaussian(20.0))
    assert curator.certificate()["private"] is False, "a source vouches for itself"


# -- the disk --------------------------------------------------------------------------------------------


class _Watched(sqlite3.Connection):
    """A connection that looks, at every commit, at what SQLite would do on a power cut."""

    commits = 0

    def execute(self, statement: str, *rest: Any) -> sqlite3.Cursor:
        if statement.strip().upper().startswith(("COMMIT", "END")):
            _Watched.commits += 1
            (synced,) = super().execute("PRAGMA synchronous").fetchone()
            (journal,) = super().execute("PRAGMA journal_mode").fetchone()
            assert synced == 3, f"a commit at synchronous = {synced}: a power cut may lose a charge"
            assert journal == "delete", f"a commit with journal_mode = {journal}"
        return super().execute(statement, *rest)


@contextmanager
def _watched_connections() -> Iterator[list[sqlite3.Connection]]:
    """Every connection that is opened meanwhile, each watched."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def watched(*given: Any, **settings: Any) -> sqlite3.Connection:
        found = connect(*given, **{**settings, "factory": _Watched})
        opened.append(found)
        return found

    sqlite3.connect = watched  # type: ignore[assignment]
    _Watched.commits = 0
    try:
        yield opened
    finally:
        sqlite3.connect = connect


def check_every_commit_outlives_a_power_cut(folder: Path) -> None:
    """At each commit of the ledger, the live connection syncs the file, its journal and the journal's removal."""
    with _watched_connections() as opened:
        ledger = Ledger(folder / "ledger.sqlite")
        ledger.set_limit("people", 5.0, 1e-4)
        curator = Curator(_engine(), BUDGET, ledger=ledger, job=Job("people", "one"))
        curator.measure(["a"], budget=BUDGET)
        curator.finish()
        Ledger(folder / "ledger.sqlite", create=False)
    assert len(opened) >= 5
    assert _Watched.commits == 5, "making, the limit, the job, its answer, its end"


@contextmanager
def _unsynced() -> Iterator[set[int]]:
    """The files, by number, that hold something written meanwhile which is not yet on the disk."""
    dirty: set[int] = set()
    write, sync = os.write, os.fsync

    def written(descriptor: int, text: bytes) -> int:
        dirty.add(os.fstat(descriptor).st_ino)
        return write(descriptor, text)

    def synced(descriptor: int) -> None:
        sync(descriptor)
        dirty.discard(os.fstat(descriptor).st_ino)

    os.write, os.fsync = written, synced  # type: ignore[assignment]
    try:
        yield dirty
    finally:
        os.write, os.fsync = write, sync


def check_the_mark_is_synced_before_a_count(folder: Path) -> None:
    """When a record is touched, the mark beside the ledger names the job, on the disk."""
    path = folder / "ledger.sqlite"
    seen: list[int] = []

    class Looking(Filled):
        def count(self, cliques: Any) -> Any:
            assert not dirty, "records were counted before the mark was synced"
            seen.append(len((folder / "ledger.sqlite.mark").read_bytes().split()))
            return super().count(cliques)

    with _unsynced() as dirty:
        ledger = Ledger(path)
        before = len((folder / "ledger.sqlite.mark").read_bytes().split())
        engine = Looking(np.zeros(2, dtype=np.int64), ("a",))
        Curator(engine, BUDGET, ledger=ledger, job=Job("people", "one")).measure(["a"], budget=BUDGET)
    assert seen == [before + 2], "the mark does not know the job that pays"


# -- a ledger that is not what it was --------------------------------------------------------------------


def _used(folder: Path) -> Path:
    """A ledger with one job."""
    path = folder / "ledger.sqlite"
    _ask(Ledger(path), "one")
    return path


def _ask(ledger: Ledger, job: str) -> np.ndarray:
    curator = Curator(_engine(), BUDGET, ledger=ledger, job=Job("people", job))
    return curator.measure(["a"], budget=BUDGET)[0].values


def _refused(look: Callable[[], object], what: str) -> None:
    with suppress(LedgerError):
        look()
        raise AssertionError(f"a ledger {what} is taken as it is")


def check_an_older_ledger_is_refused(folder: Path) -> None:
    path = _used(folder)
    copy = shutil.copy(path, folder / "copy")
    _ask(Ledger(path), "two")
    shutil.copy(copy, path)
    _refused(lambda: Ledger(path), "that was rolled back")


def _edit(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        for trigger in ("no_update", "no_delete", "in_order"):
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(statement)
    connection.close()


def check_an_edited_ledger_is_refused(folder: Path) -> None:
    path = _used(folder)
    _edit(path, """UPDATE entries SET body = replace(body, '"epsilon":1.0', '"epsilon":0.1')""")
    _refused(lambda: Ledger(path), "whose charges were lowered")


def check_an_edited_answer_is_refused(folder: Path) -> None:
    path = _used(folder)
    changed = "CAST(substr(answer, 1, length(answer) - 1) || x'07' AS BLOB)"
    _edit(path, f"UPDATE entries SET answer = {changed} WHERE answer IS NOT NULL")
    _refused(lambda: _ask(Ledger(path), "one"), "whose answers were changed")
