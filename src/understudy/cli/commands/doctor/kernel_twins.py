"""Compiled kernels against their twins in NumPy: noise and counts that are not what they should be protect nobody."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np

from understudy.cli.commands.doctor.symptom import Symptom, fault, fine, note
from understudy.compiled import UncachedKernelsWarning


def kernels() -> Iterator[Symptom]:
    """Whether each answers as its twin does."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UncachedKernelsWarning)
        agree = {
            "counting": _counting(),
            "noise": _noise(),
            "sums of the model": _sums(),
            "ends of records": _ends(),
        }
    seconds = time.perf_counter() - start
    wrong = [name for name, same in agree.items() if not same]
    if wrong:
        yield fault(
            "kernels",
            f"{', '.join(wrong)}: not what NumPy says",
            "do not use this machine; install numba and llvmlite anew, and report it",
        )
    elif any(issubclass(warning.category, UncachedKernelsWarning) for warning in said):
        yield note(
            "kernels",
            f"{len(agree)} agree with NumPy; they are compiled anew for every run",
            "set NUMBA_CACHE_DIR to a folder that can be written",
        )
    else:
        yield fine("kernels", f"{len(agree)} agree with NumPy ({seconds:.1f} s)")


def _counting() -> bool:
    """The counts of a pair and of a column, as bincount has them."""
    from understudy.data.counting.histogram import Histogram
    from understudy.domain import Domain

    rng = np.random.default_rng(1)
    codes = {"a": rng.integers(0, 5, 4096, np.uint8), "b": rng.integers(0, 300, 4096, np.uint16)}
    counted = Histogram(Domain({"a": 5, "b": 300}), [("a", "b"), ("b",)], threads=1)
    counted.add(codes)
    pair, alone = counted.counts()
    cells = np.bincount(codes["a"].astype(np.int64) * 300 + codes["b"], minlength=1500)
    return np.array_equal(pair.ravel(), cells) and np.array_equal(
        alone, np.bincount(codes["b"], minlength=300)
    )


def _noise() -> bool:
    """Places of words in a table of thresholds, as a binary search has them."""
    from understudy.privacy.noise.table_lookup import find

    rng = np.random.default_rng(2)
    thresholds = np.append(np.sort(rng.integers(1, 2**62, 64, np.uint64)), np.uint64(2**63 - 1))
    words = rng.integers(0, 2**63, 4096, np.uint64)
    words.flags.writeable = False
    found = np.empty(words.size, np.int64)
    undecided = find(words, thresholds, np.zeros(1, np.int64), found)
    places = np.searchsorted(thresholds, words >> np.uint64(1), side="right")
    return undecided == 0 and np.array_equal(found, places)


def _sums() -> bool:
    """A table summed onto either of its columns, as NumPy sums it, to within rounding."""
    from understudy.model.tree.projection_kernels import sum_onto

    table = np.random.default_rng(3).random((7, 11))
    for axis, strides in ((1, (1, 0)), (0, (0, 1))):
        shapes = (np.array([[0, 2, 1]]), np.array([7, 11]), np.array(strides))
        summed = np.zeros(table.shape[1 - axis])
        sum_onto(table.ravel(), 0, 1.0, summed, 0, 0, shapes)
        if not np.allclose(summed, table.sum(axis=axis), rtol=1e-12):
            return False
    return True


def _ends() -> bool:
    """Where the last whole record of a text ends, quotes heeded."""
    from understudy.data.files.text.record_ends import end_of_records

    text = b'a,b\n1,"x\ny"\n2,"z'
    return end_of_records(text, ",") == len(b'a,b\n1,"x\ny"\n')
