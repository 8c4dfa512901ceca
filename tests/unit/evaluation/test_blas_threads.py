"""A program that compares tables finds NumPy's threads as it left them, and none is waited for meanwhile."""

from __future__ import annotations

import pytest

from understudy.evaluation import blas_threads
from understudy.evaluation.blas_threads import one_blas_thread


def test_threads_are_one_inside_and_as_before_after_a_failure() -> None:
    found = blas_threads._openblas()
    if found is None:
        pytest.skip("NumPy has no OpenBLAS of its own here")
    get, put = found
    before = get()
    try:
        put(2)
        with pytest.raises(AssertionError), one_blas_thread():
            assert get() != 1
        assert get() == 2
    finally:
        put(before)


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "_openblas", lambda: None)
    with one_blas_thread():
        pass
