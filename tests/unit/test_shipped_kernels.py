"""Kernels that a wheel brought along are used where they are sure to be the same as compiling, and nowhere else."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

from understudy import shipped_kernels
from understudy.shipped_kernels import BASELINE, Shipped, are_shipped, ship

MODULES = ("understudy.privacy.noise.table_lookup",)
NEWER = ",".join([*(f"+{name}" for name in BASELINE), "+avx512f"])


def given(place: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> bool:
    """Whether a file of this content, beside the product, is used."""
    place.write_bytes(content)
    monkeypatch.setattr(shipped_kernels, "PLACE", place)
    return are_shipped()


def test_kernels_of_another_numba_or_other_sources_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship([], tmp_path / "own.bin")
    own: Shipped = pickle.loads((tmp_path / "own.bin").read_bytes())
    assert given(tmp_path / "same.bin", monkeypatch, pickle.dumps(own))
    older = own._replace(made_with=(*own.made_with[:-1], "0.1"))
    assert not given(tmp_path / "older.bin", monkeypatch, pickle.dumps(older))
    changed = own._replace(modules=MODULES)  # of which it has no digest
    assert not given(tmp_path / "changed.bin", monkeypatch, pickle.dumps(changed))
    assert not given(tmp_path / "damaged.bin", monkeypatch, b"half a file")
    monkeypatch.setattr(shipped_kernels, "PLACE", tmp_path / "none.bin")
    assert not are_shipped()


@pytest.mark.parametrize(
    ("triple", "features", "used"),
    [
        ("x86_64-unknown-linux-gnu", NEWER, True),
        ("x86_64-unknown-linux-gnu", NEWER.replace("+avx2", "-avx2"), False),
        ("aarch64-unknown-linux-gnu", NEWER, False),
    ],
)
def test_kernels_are_not_used_on_a_processor_that_lacks_something(
    triple: str, features: str, used: bool
) -> None:
    codegen = SimpleNamespace(magic_tuple=lambda: (triple, "some", features))
    assert shipped_kernels._runs_baseline.__wrapped__(codegen) == used
