"""The studio's server: on loopback, with a token, for the user who started it."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from understudy.errors import OperatorError, ParameterError
from understudy.studio.gate import Locks
from understudy.studio.workspace import Workspace, write_private

PORT = 8500  # the first that is tried

OPENING = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Understudy studio</title>
<meta http-equiv="refresh" content="0; url={address}"></head>
<body><a href="{address}">Open the studio</a></body></html>
"""


def serve(
    workspace: Workspace,
    *,
    path: str = "/",
    host: str = "127.0.0.1",
    port: int | None = None,
    allow_network: bool = False,
    certificate: str | None = None,
    key: str | None = None,
    open_browser: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a folder until interrupted, from the page `path` on; `tell` hears the address, which holds the token."""
    import uvicorn

    from understudy.studio.application import application

    check_host(host, allow_network)
    if find_spec("fcntl") is None:
        raise OperatorError(
            "the studio keeps its runs by locks of files that this system does not have.",
            hint="use the commands, or run it in a Linux container or under WSL.",
        )
    os.umask(
        0o077
    )  # whatever is written from here on, by this server or what it starts, is this user's alone
    listening = _listen(host, port)
    locks = Locks(_origins(host, listening.getsockname()[1], secure=certificate is not None), path)
    config = uvicorn.Config(
        application(workspace, locks),
        log_level="critical",
        access_log=False,  # addresses hold no private value, and nobody needs a list of them
        server_header=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    tell(locks.address)
    if open_browser:
        threading.Thread(target=_open, args=(workspace, locks), daemon=True).start()
    threading.Thread(target=_warm, daemon=True).start()
    uvicorn.Server(config).run(sockets=[listening])


def check_host(host: str, allow_network: bool) -> None:
    """Refuse to be reached from other machines, unless that is asked for in so many words."""
    if not (_is_loopback(host) or allow_network):
        raise ParameterError(
            f"host {host!r} is not this machine's own: others on the network could reach the studio, and read what "
            "passes by unless it is encrypted.",
            hint="leave --host out and use an SSH tunnel; or say --allow-network, with --certificate and --key "
            "for TLS.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens: on the port that is asked for, else on the studio's own, else on any."""
    refused: OSError | None = None
    for candidate in (PORT, 0) if port is None else (port,):
        try:
            return _listening(host, candidate)
        except OSError as fault:
            refused = fault
    raise OperatorError(
        f"nothing can listen on {host!r}, port {port or PORT}: {refused.strerror if refused else ''}.",
        hint="choose another --port.",
    )


def _listening(host: str, port: int) -> socket.socket:
    """A socket at this port. Who comes before the server runs waits, and is not refused."""
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen()
    except OSError:
        found.close()
        raise
    return found


def _origins(host: str, port: int, *, secure: bool) -> tuple[str, ...]:
    """How the studio's pages begin, by every name that this machine has for it; the first is opened."""
    scheme = "https" if secure else "http"
    if _is_loopback(host):
        shown = "[::1]" if ":" in host else "127.0.0.1" if host.lower() == "localhost" else host
        names = dict.fromkeys([shown, "127.0.0.1", "localhost", "[::1]"])
    else:
        own = f"[{host}]" if ":" in host else host
        names = dict.fromkeys(
            [*([] if host in ("0.0.0.0", "::") else [own]), socket.gethostname(), socket.getfqdn()]
        )
    return tuple(f"{scheme}://{name.lower()}:{port}" for name in names)


def _open(workspace: Workspace, locks: Locks) -> None:
    """Open the browser by way of a file of this user's: a command line with the token is there for all to read."""
    page: Path = workspace.folder / "open.html"
    write_private(page, OPENING.format(address=locks.address))
    webbrowser.open(page.as_uri())


def _warm() -> None:
    """Load what a plan needs, so that the first one is as quick as the others."""
    import understudy as us

    us.plan(us.Schema({"a": us.Boolean(), "b": us.Boolean()}, rows=100), epsilon=1.0, delta=1e-9)
