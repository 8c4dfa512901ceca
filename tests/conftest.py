"""What tests of several rooms share.

By default a run of the suite draws the same random numbers as the last one: examples of laws from Hypothesis's own
seed, and the words of the operating system from the name of the test that asks for them. So what fails once fails
again, and nobody's change is held up by a rare draw of another's test. `UNDERSTUDY_NIGHTLY=1` (`make nightly`) draws
afresh.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from named_words import deal
from nightly import NIGHTLY
from postgres_server import Server, server
from understudy.cli import main

# No deadline: how long an example takes says more of the machine's other work than of the law.
settings.register_profile(
    "suite",
    max_examples=100 if NIGHTLY else 25,
    deadline=None,
    derandomize=not NIGHTLY,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

LONGEST = 100  # letters of a value in the name of a test
SPARK = "spark"
ALONE = "tests/conformance/one_unit/"


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long value is named by its beginning: names of tests pass between processes, and one had forty megabytes."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST:
        return None
    return f"{val[:LONGEST]!a} and so on, {len(val)} in all"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Spark first, in one process: to start a session twice takes longer than most of them.

    Those in a browser are there too: beside Spark a walk through pages may wait longer than it has patience for. Of
    the others a file is run by one process, which makes what its tests share once. Last come those that share nothing
    and take minutes together: dealt out one by one, they let both processes end at the same time.
    """
    items.sort(key=lambda item: (not _on_spark(item), ALONE in item.nodeid))
    for item in items:
        if _on_spark(item):
            item.add_marker(pytest.mark.xdist_group(SPARK))
        elif ALONE not in item.nodeid and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_finish() -> None:
    """The tests and all that they import stay to the end: no search for garbage need look at them again.

    Hypothesis asks at its first law who holds its random numbers, and Python 3.14 does not name who is frozen: so a
    law without content comes first.
    """
    given(none())(lambda nothing: None)()
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


def _on_spark(item: pytest.Item) -> bool:
    names = item.function.__code__.co_names if isinstance(item, pytest.Function) else ()
    return "spark" in item.nodeid.lower() or "session" in names or "tests/browser/" in item.nodeid


def _name(item: pytest.Item) -> str:
    """The name of a test, without the group that xdist adds to it."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid if group is None else item.nodeid.removesuffix(f"@{group.args[0]}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    deal(_name(item))


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> None:
    if fixturedef.scope != "function":  # one that several tests share: the same whichever comes first
        deal(f"{request.node.nodeid} {fixturedef.argname}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    deal(f"{_name(item)} itself")


@pytest.fixture
def postgres() -> Server:
    """A real PostgreSQL server; the test is skipped where the machine has none."""
    return server()


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def understudy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """A command line to type at: returns the exit code, what was printed, and what was said on the side."""

    def run(*words: str) -> Said:
        monkeypatch.setattr("sys.argv", ["understudy", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Said(code, *capsys.readouterr())

    return run
