"""What must hold of the questions that the rivals ask: dependent columns, cut-off histograms, Laplace noise.

As `product_checks`, of the curator's newer questions: each check goes through its own door, and raises AssertionError
where a promise of privacy is broken. `test_rival_mutations` plants the bugs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

import numpy as np
from audit_bounds import epsilon_proved
from audit_worlds import Filled
from plain_engine import PlainEngine
from product_checks import ALPHA, AMPLE, LARGE
from rows_engine import rows
from sampling_checks import cell_probabilities, check_choice_law, check_tails, chi_square, p_value
from scipy import stats

from nightly import NIGHTLY
from understudy.data import Table
from understudy.domain import Domain
from understudy.errors import BudgetError
from understudy.privacy import Budget, Choice, Curator, Group, Laplace, Neighbours
from understudy.privacy.curator import private_choice

NEIGHBOURS = (Neighbours(), Neighbours("replace"), Neighbours(records=3))
BUDGET = Budget(1.0, 1e-5)


# -- dependent columns ---------------------------------------------------------------------------------


def _dependence(counts: np.ndarray) -> int:
    """The distance of a table from the product of its margins, by its definition in fractions, rounded down."""
    table = counts.reshape(counts.shape[0], -1).tolist()
    ones, others = [sum(line) for line in table], [sum(line) for line in zip(*table, strict=True)]
    total = sum(ones)
    if not total:
        return 0
    gaps = (
        abs(cell - Fraction(one * other, total))
        for one, line in zip(ones, table, strict=True)
        for other, cell in zip(others, line, strict=True)
    )
    return math.floor(sum(gaps, Fraction(0)))


def _followers() -> PlainEngine:
    """A column `a`, and others that follow it in all of 40 records, in most of them, in half of them."""
    a = np.arange(40) % 2
    columns = {"a": a} | {f"b{k}": np.where(np.arange(40) < k, 1 - a, a) for k in (0, 4, 8, 20)}
    return PlainEngine(columns, Domain(dict.fromkeys(columns, 2)))


def check_dependent_choices_follow_half_the_exponent() -> None:
    engine = _followers()
    candidates = [("a", name) for name in engine.domain if name != "a"]
    scores = [_dependence(marginal.counts) for marginal in engine.count(candidates)]
    for neighbours in NEIGHBOURS:
        curator = Curator(engine, AMPLE, neighbours=neighbours)

        def pick(_: np.ndarray, epsilon: float, __: int, curator: Curator = curator) -> int:
            return curator.choose_dependent(candidates, Choice(epsilon))

        check_choice_law(pick, scores, 0.8, 4 * neighbours.l1, draws=2000 if NIGHTLY else 800)


@contextmanager
def _seen_scores() -> Iterator[list[np.ndarray]]:
    """Every array of scores from which the curator would draw a choice."""
    seen: list[np.ndarray] = []
    draw = private_choice.choose
    private_choice.choose = lambda scores, *_: seen.append(np.array(scores)) or 0
    try:
        yield seen
    finally:
        private_choice.choose = draw


def check_dependences_are_exact_integers_of_sensitivity_four() -> None:
    """Scores are the distance from independence rounded down, and one record moves each by at most four."""
    rng = np.random.default_rng(0)
    domain = Domain({"a": 3, "b": 2, "c": 5})
    candidates = [("a", "b"), ("b", "c"), ("c", "a", "b")]
    for _ in range(60):
        records = np.column_stack([rng.integers(0, size, 23) for size in domain.values()])
        with _seen_scores() as seen:
            for codes in (records, records[1:]):
                Curator(rows(domain, codes), AMPLE).choose_dependent(candidates, Choice(1.0))
        exact = [_dependence(marginal.counts) for marginal in rows(domain, records).count(candidates)]
        assert seen[0].dtype == np.int64, "scores are not integers"
        assert seen[0].tolist() == exact, "scores are not the distance from independence, rounded down"
        assert np.abs(seen[0] - seen[1]).max() <= 4, "a record moves a score by more than four"


# -- misfits beyond a blur -----------------------------------------------------------------------------


def _beyond(x: int, c: int) -> int:
    """The distance that would make a misfit x with a blur c, made less steep, by its definition in fractions."""
    if 4 * x <= 5 * c:
        return math.floor(Fraction(5 * x - 4 * c, 5))
    return math.isqrt(math.floor(Fraction(9 * (x * x - c * c), 25)))


def check_blurred_choices_move_by_no_more_than_a_record() -> None:
    """Scores beyond a blur are exact integers, and one record moves each by at most one."""
    rng = np.random.default_rng(0)
    domain = Domain({"a": 3, "b": 2, "c": 5})
    candidates = [("a", "b"), ("b", "c"), ("c", "a")]
    tables = {clique: np.zeros(domain.shape(clique)) for clique in candidates}
    for blurs in ([0, 0, 0], [1, 10, 14], [15, 16, 17], [18, 22, 10**9]):
        for _ in range(20):
            records = np.column_stack([rng.integers(0, size, 20) for size in domain.values()])
            with _seen_scores() as seen:
                for codes in (records, records[1:]):
                    Curator(rows(domain, codes), AMPLE).choose(
                        candidates, tables.__getitem__, Choice(1.0), blurs=blurs
                    )
            assert seen[0].dtype == np.int64, "scores are not integers"
            assert seen[0].tolist() == [_beyond(20, c) for c in blurs], "another score than was promised"
            assert np.abs(seen[0] - seen[1]).max() <= 1, "a record moves a score by more than one"


# -- Laplace noise on marginals ------------------------------------------------------------------------


def _noise(epsilon: float, size: int, neighbours: Neighbours = NEIGHBOURS[0], columns: int = 1) -> np.ndarray:
    """Released Laplace noise on empty counts, one row a marginal."""
    names = tuple(f"c{i}" for i in range(columns))
    curator = Curator(Filled(np.zeros(size, np.int64), names), LARGE, neighbours=neighbours)
    values = np.stack([one.values for one in curator.measure(names, budget=Laplace(epsilon))])
    assert np.array_equal(values, np.rint(values)), "a released count is not an integer"
    return values.astype(np.int64)


def check_laplace_noise_has_the_scale_of_its_loss() -> None:
    """Each marginal's noise is l1 / epsilon, however many marginals are asked at once."""
    for epsilon in (0.9, 0.05):
        for neighbours in NEIGHBOURS:
            for drawn in _noise(epsilon, 200_000, neighbours, columns=2):
                scale = neighbours.l1 / epsilon
                assert chi_square(1, scale, drawn) > ALPHA, f"another law at {epsilon}, {neighbours}"


def check_laplace_tails_are_whole() -> None:
    check_tails(1, 2.0, lambda scale, size: _noise(1 / scale, size)[0])


def check_no_laplace_noise_is_used_twice() -> None:
    every = np.vstack([_noise(0.1, 2000, columns=4), _noise(0.1, 2000, columns=4)])
    related = np.corrcoef(every) - np.eye(len(every))
    assert np.abs(related).max() < 8 / math.sqrt(2000), "two measurements share their noise"


def _audited(epsilon: float, answer: Callable[[np.ndarray, Neighbours], np.ndarray]) -> None:
    """Cells that a unit's records fill, against cells that it does not: no test proves more than epsilon."""
    for neighbours in (Neighbours(), Neighbours(records=3)):
        without, with_ = (
            answer(np.full(200_000, count, np.int64), neighbours) for count in (0, neighbours.records)
        )
        proved = max(
            epsilon_proved(without, with_, 1e-9, 1e-4),
            epsilon_proved(with_ - neighbours.records, without - neighbours.records, 1e-9, 1e-4),
            epsilon_proved(-without, -with_, 1e-9, 1e-4),
            epsilon_proved(neighbours.records - with_, neighbours.records - without, 1e-9, 1e-4),
        )
        assert proved <= epsilon, f"an attacker proves epsilon {proved:.2f} of {epsilon}, {neighbours}"
        assert proved >= 0.8 * epsilon, "the attack proves too little to find anything"


def check_audit_of_laplace_answers() -> None:
    def answer(cells: np.ndarray, neighbours: Neighbours) -> np.ndarray:
        curator = Curator(Filled(cells, ("a",)), LARGE, neighbours=neighbours)
        return curator.measure(["a"], budget=Laplace(1.0))[0].values

    _audited(1.0, answer)


# -- histograms with a cut-off -------------------------------------------------------------------------


def _histogram(
    cells: np.ndarray, epsilon: float, threshold: int, neighbours: Neighbours = NEIGHBOURS[0], *, sparse: bool
) -> np.ndarray:
    """The noisy count of every cell that is released, and one below the threshold for every other."""
    codes = {"a": np.repeat(np.arange(cells.size), cells)}
    engine = Table({"a": cells.size}, codes) if sparse else Filled(cells, ("a",))
    found = Curator(engine, LARGE, neighbours=neighbours).histogram("a", Laplace(epsilon), threshold)
    assert np.array_equal(found.places, np.unique(found.places)), "a cell is released twice"
    assert (found.counts >= threshold).all(), "a count below the threshold is released"
    noisy = np.full(cells.size, threshold - 1)
    noisy[found.places] = found.counts
    return noisy


def check_histograms_are_noise_on_every_cell_then_a_cut_off() -> None:
    """Cells are released as often, and as high, as if each had its noise: empty, thin or full."""
    for sparse in (True, False):
        for neighbours in NEIGHBOURS:
            for epsilon, threshold in ((0.7, 4), (0.2, 1)):
                cells = np.tile(np.array([0, 2, 0, 9]), 30_000)
                noisy = _histogram(cells, epsilon, threshold, neighbours, sparse=sparse)
                for count in (0, 2, 9):
                    noise = noisy[cells == count] - count
                    assert _follows(noise, neighbours.l1 / epsilon, threshold - count), (
                        f"cells of {count} records follow another law at {epsilon}, {neighbours}"
                    )


def _follows(noise: np.ndarray, scale: float, least: int) -> bool:
    """Whether noise that is known from `least` on follows the law, what is below it taken together."""
    steps = np.arange(0, 6 * scale, max(1, int(scale / 3))).astype(np.int64)
    edges = least + steps
    expected = cell_probabilities(1, scale, edges) * noise.size
    seen = np.bincount(np.searchsorted(edges, noise, side="right"), minlength=expected.size).astype(float)
    return p_value(expected, seen) > ALPHA


def check_audit_of_histograms() -> None:
    """An empty cell and one that holds a unit's records can be told apart by no more than epsilon."""
    for sparse in (True, False):

        def answer(cells: np.ndarray, neighbours: Neighbours, sparse: bool = sparse) -> np.ndarray:
            return _histogram(cells, 1.0, 2, neighbours, sparse=sparse) - 1.0

        _audited(1.0, answer)


def check_empty_cells_tell_nothing_of_the_filled_ones() -> None:
    """How many empty cells are released, and which, is a coin for each of them: no count of others is in it."""
    cells = np.zeros(1000, np.int64)
    cells[::5] = 50
    empty = np.flatnonzero(cells == 0)
    chance = float(cell_probabilities(1, 2.0, np.array([3]))[1])
    released = np.array([_histogram(cells, 0.5, 3, sparse=True)[empty] >= 3 for _ in range(60)])
    parts = np.stack([half.sum(axis=1) for half in np.array_split(released, 2, axis=1)])
    spread = float(((parts - 400 * chance) ** 2).sum() / (400 * chance * (1 - chance)))
    assert min(stats.chi2.cdf(spread, 120), stats.chi2.sf(spread, 120)) > ALPHA, "their number is no chance"
    again = float(((released.sum(axis=1) - 800 * chance) ** 2).sum() / (800 * chance * (1 - chance)))
    assert min(stats.chi2.cdf(again, 60), stats.chi2.sf(again, 60)) > ALPHA, "their number is no chance"


# -- charges -------------------------------------------------------------------------------------------

Question = Callable[[Curator, object], object]
QUESTIONS: dict[str, tuple[str, Question]] = {
    "dependent": ("choose", lambda curator, loss: curator.choose_dependent([("a", "b"), ("b", "a")], loss)),
    "histogram": ("laplace", lambda curator, loss: curator.histogram(("a", "b"), loss, 3)),
    "measure": ("laplace", lambda curator, loss: curator.measure([("a", "b")], budget=loss)),
}


def _pair() -> Table:
    return Table({"a": 3, "b": 2}, {"a": [0, 1, 2, 2], "b": [0, 1, 0, 1]})


def check_every_answer_is_charged_in_full() -> None:
    """A plan of two answers gives two, each at the loss planned, and then no more."""
    for name, (kind, ask) in QUESTIONS.items():
        curator = Curator(_pair(), BUDGET)
        loss = curator.commit([Group("questions", kind, Fraction(1), count=2)])["questions"]
        for _ in range(2):
            ask(curator, loss)
        assert math.isclose(curator.spent.rho, loss.rho), f"{name}: another loss is on the books"
        _refused(curator, partial(ask, curator, loss), name)
    curator = Curator(_pair(), BUDGET)
    loss = curator.commit([Group("questions", "laplace", Fraction(1), count=3)])["questions"]
    curator.measure(["a", "b"], budget=loss)
    assert math.isclose(curator.spent.rho, 2 / 3 * loss.rho), "two marginals were not charged as two answers"
    _refused(curator, lambda: curator.measure(["a", "b"], budget=loss), "two marginals for one answer left")


def _refused(curator: Curator, ask: Callable[[], object], what: str) -> None:
    before = len(curator.charges)
    try:
        ask()
    except BudgetError:
        assert len(curator.charges) == before
        return
    raise AssertionError(f"{what}: an answer beyond the plan")


class _Watched:
    """An engine that notes how many questions were charged whenever a record is touched."""

    def __init__(self, engine: Table) -> None:
        self.engine, self.domain, self.charged = engine, engine.domain, list[int]()
        self.curator: Curator | None = None

    def count(self, cliques: object) -> object:
        return self._touched().count(cliques)  # type: ignore[arg-type]

    def count_cells(self, clique: object) -> object:
        return self._touched().count_cells(clique)  # type: ignore[arg-type]

    def _touched(self) -> Table:
        assert self.curator is not None
        self.charged.append(len(self.curator.charges))
        return self.engine


def check_every_question_is_charged_before_a_record_is_touched() -> None:
    for name, (kind, ask) in QUESTIONS.items():
        engine = _Watched(_pair())
        curator = engine.curator = Curator(engine, BUDGET)  # type: ignore[arg-type]
        ask(curator, curator.commit([Group("questions", kind, Fraction(1))])["questions"])
        assert engine.charged, f"{name}: nothing was counted"
        assert min(engine.charged) == 1, f"{name}: records were counted before the charge"
