"""What the tests of documents share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from warm_programs import WarmPrograms


@pytest.fixture(scope="session")
def warm_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmPrograms]:
    """Commands and programs that start at once."""
    programs = WarmPrograms(tmp_path_factory.mktemp("warm"))
    yield programs
    programs.close()
