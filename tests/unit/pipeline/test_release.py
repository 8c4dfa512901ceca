"""A release stands on its own: saved, loaded elsewhere, sampled, asked and verified without the data."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import understudy as us
from understudy.errors import ParameterError, ReleaseError, SizeError
from understudy.pipeline import release_file
from understudy.pipeline.drawing.samples import NotPrivateWarning
from understudy.presets import town
from understudy.report.release_page import release_page

PEOPLE = town.simulate(2000, seed=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("release")
    schema = us.Schema.from_toml(town.SCHEMA)
    release = us.fit(PEOPLE, schema, epsilon=2.0, delta=1e-9, mechanism="mst", ledger=folder / "ledger.db")
    release.save(folder / "town.release")
    return folder, release


def test_what_is_loaded_is_what_was_saved(made) -> None:
    folder, release = made
    loaded = us.load(folder / "town.release")
    assert loaded.schema == release.schema
    assert json.dumps(loaded.certificate) == json.dumps(release.certificate)
    assert loaded.rows == release.rows and loaded.compression.maps.keys() == release.compression.maps.keys()
    for ours, theirs in zip(release.measurements, loaded.measurements, strict=True):
        assert ours.clique == theirs.clique
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.stddev, theirs.stddev)
    assert loaded.sample(500, seed=4).equals(release.sample(500, seed=4))
    np.testing.assert_array_equal(
        loaded.marginal(("sex", "home")).counts, release.marginal(("sex", "home")).counts
    )


def test_a_later_process_needs_the_file_alone(made, tmp_path: Path) -> None:
    folder, release = made
    script = (
        "import sys, understudy as us\n"
        "release = us.load(sys.argv[1])\n"
        "assert release.verify().holds\n"
        "print(release.sample(300, seed=9).to_pydict()['age'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(folder / "town.release")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(release.sample(300, seed=9).to_pydict()["age"])


def test_the_kind_of_table_given_is_the_kind_returned(tmp_path: Path) -> None:
    schema = us.Schema.from_toml(town.SCHEMA)
    frames = {pa.Table: PEOPLE, pd.DataFrame: PEOPLE.to_pandas(), pl.DataFrame: pl.from_arrow(PEOPLE)}
    for kind, frame in frames.items():
        settings = {"epsilon": 1.0, "delta": 1e-9, "ledger": tmp_path / "ledger.db"}
        synthetic = us.synth(frame, schema, mechanism=us.Independent(), rows=40, seed=1, **settings)
        assert isinstance(synthetic, kind)
        assert list(getattr(synthetic, "column_names", getattr(synthetic, "columns", None))) == list(
            schema.columns
        )
        assert len(synthetic) == 40


def test_rows_are_what_is_asked_else_the_noisy_total(made) -> None:
    _, release = made
    assert release.sample(0).num_rows == 0 and release.sample(7).num_rows == 7
    assert release.sample().num_rows == release.rows != PEOPLE.num_rows or release.private
    for rows in (-1, 1.5, True, "many", 10**12):
        with pytest.raises(ParameterError, match="rows"):
            release.sample(rows)
    with pytest.raises(SizeError, match="sample_chunks"):
        release.sample(10**10)


def test_a_seed_repeats_a_sample_and_no_seed_does_not(made) -> None:
    _, release = made
    assert release.sample(200, seed=1).equals(release.sample(200, seed=1))
    assert not release.sample(200).equals(release.sample(200))


def test_chunks_add_up_to_the_rows_asked_for(made) -> None:
    _, release = made
    chunks = list(release.sample_chunks(1000, seed=2, chunk=300))
    assert sum(chunk.num_rows for chunk in chunks) == 1000 and max(chunk.num_rows for chunk in chunks) <= 300


def test_the_release_holds_nothing_but_what_was_released(made) -> None:
    folder, _ = made
    content = release_file.read(folder / "town.release")
    assert set(content.sections) == {
        "schema",
        "certificate",
        "compression",
        "transforms",
        "measurements",
        "field",
        "form",
        "errors",
    }
    assert all(name.startswith(("measurement ", "field ")) for name in content.arrays)


def forged(path: Path, change) -> Path:
    """The release with its content changed and its digest made to fit."""
    content = release_file.read(path)
    sections = json.loads(json.dumps(content.sections))
    change(sections)
    target = path.with_name("forged.release")
    release_file.write(target, release_file.Content(sections, content.arrays))
    return target


def test_a_smaller_epsilon_than_was_spent_does_not_hold(made) -> None:
    folder, release = made
    assert release.verify().holds and release.verify().epsilon <= 2.0

    def boast(sections) -> None:
        sections["certificate"]["epsilon"] = 0.5

    verdict = us.load(forged(folder / "town.release", boast)).verify()
    assert not verdict.holds and verdict.why


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.pop("schema"),
        lambda s: s.update(schema="[table"),
        lambda s: s.update(schema='[columns.x]\ntype = "boolean"\n'),
        lambda s: s.update(measurements=[{"clique": ["nobody"], "bins": None}]),
        lambda s: s.update(measurements=7),
        lambda s: s.update(field={}),
        lambda s: s.update(compression={"maps": {"sex": [5, 5]}}),
        lambda s: s.update(transforms=[{"kind": "os.system"}]),
        lambda s: s.update(certificate=None),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(made, change) -> None:
    with pytest.raises(ReleaseError):
        us.load(forged(made[0] / "town.release", change)).verify()


def test_any_single_byte_changed_is_noticed(made) -> None:
    path = made[0] / "town.release"
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in [0, 5, 30, len(whole) - 1, *rng.integers(0, len(whole), 40).tolist()]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        target = path.with_name("damaged.release")
        target.write_bytes(bytes(damaged))
        with pytest.raises(ReleaseError):
            us.load(target)


def test_a_header_that_lies_about_sizes_is_refused_without_allocating_them(tmp_path: Path) -> None:
    for arrays in (
        [{"name": "x", "dtype": "<f8", "shape": [10**12]}],
        [{"name": "x", "dtype": "|O", "shape": [1]}],
        [{"name": "x", "dtype": "<f8", "shape": [-1]}],
        [{"name": "x", "dtype": "<f8", "shape": [1] * 40}],
        [{"name": "x", "dtype": "<f8", "shape": [0]}, {"name": "x", "dtype": "<f8", "shape": [0]}],
        "x",
        None,
    ):
        header = json.dumps({"sections": {}, "arrays": arrays}).encode()
        body = release_file.MAGIC + len(header).to_bytes(8, "little") + header
        target = tmp_path / "lying.release"
        target.write_bytes(body + hashlib.sha256(body).digest())
        with pytest.raises(ReleaseError):
            us.load(target)


def test_seeded_noise_is_stamped_for_good(tmp_path: Path) -> None:
    from understudy.privacy import Seeded

    release = us.fit(
        PEOPLE,
        us.Schema.from_toml(town.SCHEMA),
        epsilon=1.0,
        delta=1e-9,
        mechanism=us.Independent(),
        ledger=tmp_path / "ledger.db",
        source=Seeded(1),
    )
    release.save(tmp_path / "x.release")
    loaded = us.load(tmp_path / "x.release")
    assert not loaded.private and "NOT PRIVATE" in repr(loaded)
    for draw in (loaded.sample, lambda rows: list(loaded.sample_chunks(rows))):
        with pytest.warns(NotPrivateWarning, match="NOT PRIVATE"):
            draw(3)
    assert replace(release, kind="pandas").sample(3).shape[0] == 3


def test_a_release_says_in_a_line_what_it_is(made) -> None:
    said = repr(made[1])
    assert said.startswith("<Release of 'town': epsilon 2, delta 1e-09, 15 columns") and len(said) < 200


def test_a_release_says_when_its_fit_is_not_certified(made) -> None:
    release = made[1]
    assert release.fit_claim.startswith("certified: its loss, ")
    field = release.field
    short = replace(field.fit, converged=False, gap=1e6)
    unsure = replace(release, field=us.Field(field.tree, field.tables, field.total, short))
    words = "The fit of the model is not certified: its loss, "
    assert words in release_page(unsure) and words in unsure._repr_html_()
    assert "is at most 1e+06 above the least of any model" in unsure.fit_claim
