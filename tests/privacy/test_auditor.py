"""The audit of every mechanism comes near what it could prove, proves no more than is claimed, catches breaches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import understudy as us
from understudy.auditing import Finding, auditor
from understudy.auditing.bounds import epsilon_of, epsilon_outright, expected_advantage, least, most
from understudy.auditing.neighbouring_tables import TARGETS, NeighbouringTables
from understudy.auditing.ways import WAYS
from understudy.cli import understudy as cli
from understudy.data import Table
from understudy.data.files import frame_columns
from understudy.errors import ParameterError
from understudy.mechanisms.registry import kinds
from understudy.pipeline import synthesizer
from understudy.privacy import Gaussian, Laplace, Neighbours, compose
from understudy.privacy.curator import noisy_marginals
from understudy.privacy.noise.discrete_noise import discrete_gaussian, discrete_laplace

SURE = 0.9999  # of a hundred thousand honest runs of this file, a few would fail


@pytest.fixture(autouse=True)
def _few_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of `fit` a world beside the replays: they show what is asked, and replays how it is answered."""
    monkeypatch.setattr(auditor, "FITS", 2)


def check(found: us.Audit) -> None:
    """Between 0.85 of the ceiling and the claim, with nothing wrong."""
    assert found.holds, found.faults
    assert 0.85 * found.ceiling <= found.proved <= found.epsilon
    assert found.ceiling <= found.epsilon


@pytest.mark.parametrize("mechanism", [kind.name for kind in kinds()])
def test_every_mechanism_gives_away_what_it_claims_and_no_more(mechanism):
    check(us.audit(mechanism, epsilon=2.0, delta=1e-5, runs=100_000, target="twin", confidence=SURE))


@pytest.mark.parametrize(
    ("mechanism", "relation"), [("independent", "replace"), ("field-groups", "add-remove")]
)
def test_units_and_replaced_records_are_protected_as_much(mechanism, relation):
    """Laplace noise is made for a unit in one cell; one that moves between two cells gives away less."""
    more = {"neighbours": relation, "max_records_per_unit": 3, "way": "arrow", "target": "twin"}
    check(us.audit(mechanism, epsilon=2.0, delta=1e-5, runs=100_000, confidence=SURE, **more))


@pytest.mark.parametrize("way", WAYS)
def test_on_every_way_in_one_unit_moves_what_it_may(way):
    found = us.audit(
        "fixed", epsilon=1.0, delta=1e-5, runs=2000, way=way, max_records_per_unit=2, confidence=SURE
    )
    assert found.holds, found.faults
    assert [finding.target for finding in found.findings] == list(TARGETS)
    assert all(finding.moved == finding.declared == 2 for finding in found.findings)


def test_an_audit_through_fit_itself_finds_nothing_wrong():
    found = us.audit(
        "mst", epsilon=8.0, delta=1e-5, runs=12, through="fit", target="stranger", confidence=SURE
    )
    assert found.holds
    (finding,) = found.findings
    assert finding.runs == 12
    assert finding.proved <= finding.ceiling < 8
    assert finding.unseen == ("choices", "the check of errors")


# -- breaches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "draw"), [("independent", discrete_gaussian), ("privbayes", discrete_laplace)]
)
def test_half_the_noise_is_caught(monkeypatch, mechanism, draw):
    monkeypatch.setattr(
        noisy_marginals, draw.__name__, lambda scale, size, source: draw(float(scale) / 2, size, source)
    )
    found = us.audit(mechanism, epsilon=1.0, delta=1e-5, runs=50_000, target="twin", confidence=SURE)
    assert not found.holds
    assert found.proved > found.epsilon


def _one_odd_cell_recodes_all(real: Callable[[Iterable[Any]], Any]) -> Callable[[Iterable[Any]], Any]:
    """How object columns were once read: cell by cell, unless one was a text among others; then all otherwise."""

    def read(cells: Iterable[Any]) -> Any:
        known = list(cells)
        mixed = "x" in known and any(type(cell) is not str for cell in known)
        return real([f"<{cell}>" for cell in known] if mixed else known)

    return read


def test_an_odd_record_that_recodes_others_is_caught(monkeypatch):
    monkeypatch.setattr(frame_columns, "of_cells", _one_odd_cell_recodes_all(frame_columns.of_cells))
    settings = ["audit", "--mechanism", "independent", "--epsilon", "1", "--delta", "1e-5", "--way", "pandas"]
    for more in (["--runs", "5000"], ["--runs", "60", "--through", "fit"]):
        shown = CliRunner().invoke(cli, [*settings, *more, "--target", "odd", "--json"])
        assert shown.exit_code == 1, shown.output
        said = json.loads(shown.stdout)
        assert not said["holds"]
        (finding,) = said["findings"]
        assert finding["moved"] > 1000
        assert min(finding["proved"], finding["outright"]) > 1.2, "the runs alone prove it too"
    shown = CliRunner().invoke(cli, [*settings, "--runs", "2000"])
    assert shown.exit_code == 1
    assert "THE CLAIM IS BROKEN: pandas, odd: one unit moves a marginal by" in shown.output
    assert "BROKEN: pandas, twin" not in shown.output


def test_a_unit_of_more_records_than_it_may_have_is_caught(monkeypatch):
    monkeypatch.setattr(Table, "bound", lambda coded, *more: coded)
    found = us.audit(
        "fixed", epsilon=1.0, delta=1e-5, runs=2000, way="arrow", target="twin", max_records_per_unit=2
    )
    assert "arrow, twin: one unit moves a marginal by 3 records, and the noise is made for 2." in found.faults


class Silent:
    """Randomness that is none."""

    private = True

    def words(self, count: int) -> np.ndarray:
        return np.zeros(count, np.uint64)


def test_noise_that_only_fit_leaves_out_is_caught(monkeypatch):
    monkeypatch.setattr(synthesizer, "OperatingSystem", Silent)
    found = us.audit("independent", epsilon=1.0, delta=1e-5, runs=2000, target="twin")
    assert found.faults == ["csv, twin: the noise of fit is 0.00 times as wide as declared."]


# -- the audit's own figures -----------------------------------------------------------------------------------


def test_the_audits_bounds_are_those_of_clopper_and_pearson():
    for runs in (1, 7, 300, 1_000_000):
        for hits in {0, 1, runs // 3, runs - 1, runs}:
            for alpha in (0.05, 1e-6):
                above = 1.0 if hits == runs else stats.beta.ppf(1 - alpha, hits + 1, runs - hits)
                below = 0.0 if hits == 0 else stats.beta.ppf(alpha, hits, runs - hits + 1)
                assert most(hits, runs, alpha) == pytest.approx(above, abs=1e-9)
                assert least(hits, runs, alpha) == pytest.approx(below, abs=1e-9)


def test_what_an_audit_proves_is_true_of_noise_of_known_size():
    rng = np.random.default_rng(1)
    for losses in ([Gaussian(4.0), Gaussian(2.0)], [Laplace(0.4, 2)]):
        true = compose(losses).epsilon(1e-5)
        distance = compose(losses).delta(0.0)
        assert epsilon_of(distance, losses, 1e-5) == pytest.approx(true, rel=1e-3)
        assert 0.9 * true < epsilon_of(expected_advantage(losses, 10**6, 1e-3), losses, 1e-5) < true
        twice = [Gaussian(2.0), Gaussian(1.0)] if isinstance(losses[0], Gaussian) else [Laplace(0.8, 2)]
        known = epsilon_of(compose(twice).delta(0.0), losses, 1e-5)
        assert known == pytest.approx(compose(twice).epsilon(1e-5), rel=1e-3)
    # Whole numbers: the last bits of a float tell the worlds apart by themselves, and the bound would show it.
    out, in_ = (rng.geometric(1 - np.exp(-1), (2, 200_000)) for _ in range(2))
    out, in_ = out[0] - out[1], in_[0] - in_[1] + 1
    ratio = [np.abs(x) - np.abs(x - 1.0) for x in (out, in_)]
    assert 0.9 < epsilon_outright(*ratio, 1e-5, 1e-3) < 1
    assert epsilon_outright(out, out[::-1], 1e-5, 1e-6) < 0.1


def test_an_audit_is_a_value_that_explains_itself():
    finding = Finding("csv", "twin", "replay", 10, 1, 1, 0.4, 0.2, 0.5, 0.9, ("measurements",), ())
    found = us.Audit("mst", 1.0, 1e-5, 0.99, {}, (finding,))
    assert repr(found) == "<Audit of 'mst': epsilon 0.400 proved, 0.900 the ceiling, 1 claimed; holds>"
    assert json.loads(json.dumps(found.to_dict()))["proved"] == 0.4
    nan = Finding("csv", "twin", "replay", 10, 1, 1, float("nan"), 0.2, 0.5, 0.9, (), ())
    assert not us.Audit("mst", 1.0, 1e-5, 0.99, {}, (nan,)).holds


@pytest.mark.parametrize(
    "settings",
    [
        {"runs": 1},
        {"runs": True},
        {"confidence": 1.0},
        {"confidence": float("nan")},
        {"way": "telex"},
        {"way": ()},
        {"target": "friend"},
        {"through": "door"},
        {"mechanism": "gan"},
        {"neighbours": "cousins"},
    ],
    ids=str,
)
def test_what_cannot_be_audited_is_refused(settings):
    with pytest.raises(ParameterError):
        us.audit(**({"epsilon": 1.0, "delta": 1e-5} | settings))


def test_the_two_tables_are_neighbours():
    for target in TARGETS:
        for neighbours in (Neighbours(), Neighbours("replace"), Neighbours(records=3)):
            pair = NeighbouringTables(target, neighbours, typed=True)
            more = len(pair.with_) - len(pair.without)
            assert more == (0 if neighbours.relation == "replace" else 1 if neighbours.records == 1 else 4)
            shared = min(len(pair.with_), len(pair.without))
            differ = sum(a != b for a, b in zip(pair.without, pair.with_, strict=False))
            assert differ == shared - 1000
