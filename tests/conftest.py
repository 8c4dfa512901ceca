"""What tests of several rooms share."""

from __future__ import annotations

import pytest

from postgres_server import Server, server


@pytest.fixture
def postgres() -> Server:
    """A real PostgreSQL server; the test is skipped where the machine has none."""
    return server()
