"""The door takes values, not behaviour: nothing that is handed in is asked twice, or runs where counts are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from plain_engine import PlainEngine, people

from understudy.domain import Domain
from understudy.errors import BudgetError, DomainError, ParameterError
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
    Neighbours,
    Seeded,
    recompute,
)
from understudy.privacy.curator import misfit
from understudy.privacy.plain_values import plain_cliques

BUDGET = Budget(1.0, 1e-9)
PAIRS = [("sex", "age"), ("sex", "school")]
ONE = Neighbours()
ONE_PLAN = [Group("one-way", "measure", Fraction(1), weights=(1.0,))]


class Witness(PlainEngine):
    """An engine that keeps what it was asked for."""

    def count(self, cliques):  # type: ignore[no-untyped-def]
        self.asked = [*getattr(self, "asked", []), *cliques]
        return super().count(cliques)


def witness() -> Witness:
    plain = people()
    return Witness(plain.columns, plain.domain, plain.open)


class Peeking(Binned):
    """A query that keeps the exact counts, and scales them."""

    seen: Any = None

    def apply(self, cells: Any) -> Any:
        Peeking.seen = cells.copy()
        return cells * 1000


class Free(Gaussian):
    """A loss that equals whatever was planned, at hardly any noise."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Gaussian.__hash__


class FreeChoice(Choice):
    rho = 0.0  # type: ignore[assignment]


class FreeLaplace(Laplace):
    rho = 0.0  # type: ignore[assignment]


class FreeApproximate(Approximate):
    rho = slack = 0.0  # type: ignore[assignment]


class Sure(Budget):
    """A budget that is written down smaller than it is used."""

    def __getattribute__(self, name: str) -> Any:
        return (
            1e-6
            if name == "epsilon" and np.random.default_rng().random() < 0.5
            else super().__getattribute__(name)
        )


class Nobody(Neighbours):
    """Neighbours that are not apart."""

    l1, l2 = 0, 1e-9  # type: ignore[assignment]


class Steep(Group):
    """A group whose loss is not what its share buys."""

    def loss(self, rho: float, neighbours: Neighbours = ONE) -> Any:
        return Gaussian(1e-3, self.weights)


class Text(str):
    """A text that is another each time it is looked at."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Number(int):
    """A number that passes for any other."""

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __lt__

    def __float__(self) -> float:
        return 1.0


class Short:
    """A list that is longer than it says."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return iter([1.0, 1e-6])


BINS = (np.array([0, 1]),)
HOSTILE: dict[str, Callable[[Curator], object]] = {
    "a query": lambda c: c.measure(["sex"], budget=Gaussian(20.0), queries=[Peeking(BINS)]),
    "a loss": lambda c: (c.commit(ONE_PLAN), c.measure(["sex"], budget=Free(1e-6, None)))[1],
    "a loss of the filter": lambda c: c.measure(["sex"], budget=Free(20.0)),
    "a choice": lambda c: c.choose_dependent(PAIRS, FreeChoice(50.0)),
    "a choice of misfits": lambda c: c.choose(PAIRS, lambda q: np.zeros(c.domain.shape(q)), FreeChoice(50.0)),
    "a pure loss": lambda c: c.measure(["sex"], budget=FreeLaplace(50.0)),
    "a histogram's loss": lambda c: c.histogram(("sex", "age"), FreeLaplace(50.0), 3),
    "an approximate loss": lambda c: c.discover("city", FreeApproximate(50.0, 1e-10)),
    "a discovery's loss": lambda c: c.discover("city", Free(1e-6)),
    "a budget": lambda c: c.measure(["sex"], budget=Sure(1.0, 1e-9)),
    "a discovery's budget": lambda c: c.discover("city", Sure(1.0, 1e-9)),
    "a group": lambda c: c.commit([Steep("one", "measure", Fraction(1), weights=(1.0,))]),
    "neighbours": lambda c: c.discover("city", Gaussian(20.0, (1.0,), Nobody())),
    "weights": lambda c: c.measure(["sex"], Short(), budget=Gaussian(20.0)),  # type: ignore[arg-type]
    "costs": lambda c: c.choose_dependent(PAIRS, Choice(0.1), costs=[Number(2**62), 0]),
    "a threshold": lambda c: c.histogram(("sex", "age"), Laplace(0.1), Number(-5)),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_behaviour_in_place_of_a_value_is_refused_before_anything_is_counted(what: str) -> None:
    engine = people()
    curator = Curator(engine, BUDGET)
    with pytest.raises(ParameterError):
        HOSTILE[what](curator)
    assert engine.reads == 0
    assert curator.charges == ()
    assert Peeking.seen is None


def test_a_curator_takes_no_budget_or_neighbours_of_another_kind() -> None:
    with pytest.raises(BudgetError, match="exactly"):
        Curator(people(), Sure(1.0, 1e-9))
    with pytest.raises(BudgetError, match="exactly"):
        Curator(people(), BUDGET, neighbours=Nobody())


def test_names_reach_the_engine_and_the_books_as_plain_texts() -> None:
    engine = witness()
    curator = Curator(engine, BUDGET)
    curator.measure([Text("sex"), (Text("age"), "school")], budget=Gaussian(20.0))
    curator.choose_dependent([(Text("sex"), Text("age")), ("sex", "school")], Choice(0.1))
    curator.recode({Text("sex"): np.array([0, 0])}).measure([("sex",)], budget=Gaussian(20.0))
    assert {type(name) for clique in engine.asked for name in clique} == {str}
    assert {type(clique) for clique in engine.asked} == {tuple}
    with pytest.raises(DomainError):
        curator.measure([Text("wage")], budget=Gaussian(20.0))


def test_a_number_is_the_one_that_was_checked() -> None:
    assert Choice(0.1, Number(10**6)).count == 1
    assert Neighbours("replace", Number(5)).records == 1
    relation = Neighbours(Text("replace")).relation
    assert type(relation) is str
    group = Group(Text("a"), "measure", Fraction(1))
    assert type(group.name) is str


def test_bins_that_change_after_they_were_checked_change_nothing() -> None:
    query = Binned((np.array([0, 0, 1]),))

    def swap(words: Any, answered: bool) -> None:
        query.bins[0][:] = 2

    curator = Curator(people(), BUDGET, watch=swap)
    (measured,) = curator.measure(["labforce"], budget=Gaussian(20.0), queries=[query])
    assert measured.values.shape == (2,)
    assert measured.query is not query


def test_estimates_are_computed_once_and_before_the_door_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misfit, "_HELD", 0)  # not even one fits in memory
    engine = people()
    curator = Curator(engine, BUDGET)
    seen = []

    def estimate(clique: Any) -> Any:
        seen.append((clique, engine.reads, len(curator.charges)))
        return np.zeros(curator.domain.shape(clique))

    curator.choose(PAIRS, estimate, Choice(0.1))
    assert seen == [(pair, 0, 0) for pair in PAIRS]


class Eager(np.ndarray):
    """An array that keeps what it is reckoned with."""

    seen: ClassVar[list[Any]] = []

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        Eager.seen.append(inputs)
        return getattr(ufunc, method)(*(np.asarray(i) for i in inputs), **kwargs)


def test_an_array_with_code_of_its_own_never_meets_a_count() -> None:
    curator = Curator(people(), BUDGET)
    curator.choose(PAIRS, lambda clique: np.zeros(curator.domain.shape(clique)).view(Eager), Choice(0.1))
    curator.recode({"sex": np.array([0, 0]).view(Eager)}).measure(["sex"], budget=Gaussian(20.0))
    curator.measure(["age"], np.ones(1).view(Eager), budget=Gaussian(20.0))  # type: ignore[arg-type]
    assert Eager.seen == []


def test_a_question_inside_a_question_is_refused_not_lost_from_the_books() -> None:
    curator = Curator(people(), BUDGET)

    def asks(clique: Any) -> Any:
        curator.measure(["sex"], budget=Gaussian(10.0))
        return np.zeros(curator.domain.shape(clique))

    with pytest.raises(ParameterError, match="another one"):
        curator.choose(PAIRS, asks, Choice(0.1))
    assert curator.charges == ()

    watched: list[Curator] = []
    inner = Curator(
        people(),
        BUDGET,
        watch=lambda words, answered: watched[0].measure(["sex"], budget=Gaussian(10.0)),  # type: ignore[arg-type]
    )
    watched.append(inner)
    with pytest.raises(ParameterError, match="another one"):
        inner.measure(["age"], budget=Gaussian(20.0))


def test_who_watches_cannot_rewrite_the_books() -> None:
    def forge(words: Any, answered: bool) -> None:
        words["scales"][:] = [1e-9]
        words["question"] = "nothing"

    curator = Curator(people(), BUDGET, watch=forge)
    curator.measure(["sex"], budget=Gaussian(20.0))
    (charge,) = curator.certificate()["charges"]
    assert (charge["question"], charge["scales"][0] >= 20.0) == ("measure", True)


class Claims(Seeded):
    """A seed that says it is none."""

    private = True


def test_only_the_operating_systems_own_noise_is_called_private(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    curator = Curator(people(), BUDGET, source=Claims(1), ledger=ledger, job=Job("people", "x"))
    certificate = curator.certificate()
    assert certificate["private"] is False and "NOT PRIVATE" in certificate["statement"]
    (job,) = ledger.account("people").jobs.values()
    assert job.private is False


def test_the_domain_of_a_curator_is_a_domain_and_no_other_thing() -> None:
    class Larger(Domain):
        def __getitem__(self, name: str) -> int:
            return super().__getitem__(name) + 1

    engine = people()
    engine.domain = Larger(dict(engine.domain))
    assert type(Curator(engine, BUDGET).domain) is Domain


@pytest.mark.parametrize("neighbours", [Neighbours("add-remove", 5), Neighbours("replace")])
def test_a_discovery_at_a_loss_of_ones_own_is_as_noisy_as_the_neighbours_demand(
    neighbours: Neighbours,
) -> None:
    curator = Curator(people(), Budget(8.0, 1e-6), neighbours=neighbours)
    found = curator.discover("city", Gaussian(20.0))  # whose own neighbours are one record
    assert found.scale >= 20.0 * neighbours.l2
    assert recompute(curator.certificate()) <= 8.0


def test_one_name_with_code_of_its_own_among_many_plain_ones_is_copied() -> None:
    offered = plain_cliques([("a", "b"), ("a", Text("c")), ("b", "c")])
    assert offered == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {type(name) for clique in offered for name in clique} == {str}
