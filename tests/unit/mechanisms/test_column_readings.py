"""Reading columns that nothing but their noisy counts is known of: nearer to the truth than any one reading is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from understudy.data import Table
from understudy.domain import Domain
from understudy.marginals import Marginal, Measurement
from understudy.mechanisms.one_way import OneWay, compressed, smoothed
from understudy.mechanisms.tables.column_readings import read_columns
from understudy.mechanisms.tables.least_risk import shrunk_column
from understudy.model.fitting.least_squares import on_simplex
from understudy.privacy import Budget, Curator

Cells = npt.NDArray[np.float64]
RECORDS = 1000.0


def _tables() -> dict[str, Cells]:
    """Columns as tables have them: ordered ones, a few common codes among many, one code that nearly all have."""
    rng = np.random.default_rng(7)
    ordered = np.exp(-0.5 * ((np.arange(30) - 12) / 5) ** 2)
    common = rng.dirichlet(np.full(24, 0.3))
    rare = np.append(0.9, np.full(15, 0.1 / 15))
    two, three = np.array([0.7, 0.3]), np.array([0.5, 0.4, 0.1])
    shares = {"age": ordered, "job": common, "native": rare, "sex": two, "kind": three}
    return {name: RECORDS * share / share.sum() for name, share in shares.items()}


def _error(found: dict[str, Cells], true: dict[str, Cells]) -> float:
    return float(np.mean([np.abs(found[name] - cells).sum() / 2 / RECORDS for name, cells in true.items()]))


@pytest.mark.parametrize("sigma", [200.0, 60.0, 15.0])
def test_columns_are_nearer_than_by_least_risk_alone(sigma: float) -> None:
    """On little data independent columns are most of what there is to win: worse reading is worse data."""
    rng, true = np.random.default_rng(3), _tables()
    together, alone = 0.0, 0.0
    for _ in range(30):
        noisy = {name: cells + sigma * rng.standard_normal(cells.size) for name, cells in true.items()}
        found = read_columns([Measurement((name,), cells, sigma) for name, cells in noisy.items()], RECORDS)
        together += _error(found, true)
        risk = {n: c if c.size < 6 else shrunk_column(c, sigma) for n, c in noisy.items()}
        alone += _error({name: on_simplex(cells, RECORDS, 0.0) for name, cells in risk.items()}, true)
    assert together < alone * (0.9 if sigma > 100 else 0.98)


@pytest.mark.parametrize("sigma", [0.5, 1e6])
def test_all_of_a_column_together_hold_the_records(sigma: float) -> None:
    rng, true = np.random.default_rng(1), _tables()
    noisy = {name: cells + sigma * rng.standard_normal(cells.size) for name, cells in true.items()}
    found = read_columns([Measurement((name,), cells, sigma) for name, cells in noisy.items()], RECORDS)
    assert list(found) == list(true)
    for name, cells in found.items():
        assert cells.shape == true[name].shape
        assert cells.min() >= 0
        assert cells.sum() == pytest.approx(RECORDS)


def test_what_is_well_known_stays() -> None:
    """With little noise a code holds what was measured, to a small part of its noise and a record."""
    true = {name: np.rint(cells) for name, cells in _tables().items()}
    found = read_columns([Measurement((name,), cells, 0.1) for name, cells in true.items()], RECORDS)
    assert all(np.abs(found[name] - cells).max() < 1.5 for name, cells in true.items())


@pytest.mark.parametrize("values", [[5.0], [-3.0, -8.0], [0.0, 0.0, 0.0]])
def test_columns_of_noise_alone_can_be_read(values: list[float]) -> None:
    """One code, negative counts, nobody at all: tables that people have, or that are left of them."""
    found = read_columns([Measurement(("a",), np.array(values), 4.0)], 1.0)
    assert found["a"].sum() == pytest.approx(1.0)
    assert np.isfinite(found["a"]).all()


def test_merged_codes_share_their_records_by_what_columns_have_in_common() -> None:
    """Rare codes are merged, and their records spread again: by neighbours alone they are spread worse."""
    rng, sigma = np.random.default_rng(5), 20.0
    falling = {
        f"n{i}": 0.8 ** (np.arange(32) * (1 + i / 4)) for i in range(12)
    }  # amounts, as most tables have them
    held = {name: RECORDS * share / share.sum() for name, share in falling.items()}
    domain = Domain({name: cells.size for name, cells in held.items()})
    curator = Curator(Table(domain, {name: [0] for name in domain}), Budget(1.0, 1e-9))
    together, alone = 0.0, 0.0
    for _ in range(20):
        log = [
            Measurement((name,), cells + sigma * rng.standard_normal(cells.size), sigma)
            for name, cells in held.items()
        ]
        smooth = {m.clique[0]: smoothed(m, domain.layout(m.clique[0])) for m in log}
        together += _error(_spread(compressed(curator, log, 3.0, pair_noise=sigma), domain), held)
        alone += _error(_spread(compressed(curator, log, 3.0, pair_noise=sigma, likely=smooth), domain), held)
    assert together < 0.97 * alone


def _spread(step: OneWay, domain: Domain) -> dict[str, Cells]:
    """What each column's codes hold once merged ones have their share again."""
    found = {}
    for m in step.log:
        marginal = Marginal(m.clique, on_simplex(m.values, RECORDS, 0.0))
        found[m.clique[0]] = np.asarray(step.compression.spread(marginal, domain).counts, np.float64)
    return found
