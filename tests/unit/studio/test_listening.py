"""Where a studio listens: who comes to an address that was told is not refused, however busy the machine."""

from __future__ import annotations

import socket

import pytest

from understudy.errors import OperatorError
from understudy.studio.server import _listen


def test_whoever_comes_before_the_server_runs_waits_and_is_not_refused():
    with _listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname(), timeout=5):
        accepted, _ = listening.accept()
        accepted.close()


def test_a_port_that_another_studio_has_is_refused_with_a_word():
    with _listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(OperatorError, match=f"port {port}"):
            _listen("127.0.0.1", port)
