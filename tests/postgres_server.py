"""A PostgreSQL server of the tests' own: in a temporary folder, reached by a local socket, removed at the end."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest

import patience

OWNER = "owner"
GUARDED, PASSWORD = "guarded", "hunter2/@#:?secret"  # a user whom the server asks for a password
_SETTINGS = "-c listen_addresses= -c fsync=off -c shared_buffers=32MB -c max_connections=50"


class Server:
    """A running server with one superuser, who needs no password."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="understudy-pg-"))
        self._numbers = count()
        # The server refuses to run as root, so a root gives it to somebody else.
        self._user: str | None = None
        if os.geteuid() == 0:
            self._user = next(user for user in ("postgres", "nobody") if _exists(user))
            shutil.chown(self.folder, self._user)
        self.folder.chmod(0o755)
        self._run("initdb", "-D", "data", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        rules = self.folder / "data" / "pg_hba.conf"
        rules.write_text(f"local all {GUARDED} scram-sha-256\n" + rules.read_text())
        self.start()
        self.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'")

    def _run(self, program: str, *arguments: str) -> None:
        log = self.folder.parent / f"{self.folder.name}.log"
        with log.open("ab") as said:
            done = subprocess.run(
                [self._binaries / program, *arguments],
                cwd=self.folder,
                stdout=said,
                stderr=said,
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=patience.SECONDS,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                **(
                    {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid, "extra_groups": []}
                    if self._user
                    else {}
                ),
            )
        assert done.returncode == 0, f"{program}: {log.read_text()}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run(
            "pg_ctl", "-D", "data", "-w", "-l", "server.log", "-o", f"-k {self.folder} {_SETTINGS}", "start"
        )

    def stop(self) -> None:
        """Stop it at once, in the middle of whatever it does."""
        self._run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop it for good."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder.parent / f"{self.folder.name}.log").unlink(missing_ok=True)

    def uri(self, *, user: str = OWNER, password: str = "", database: str = "postgres") -> str:
        """An address without a table."""
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def address(self, table: str, **settings: str) -> str:
        """The address of a table."""
        return f"{self.uri(**settings)}#{quote(table)}"

    def execute(self, *commands: str, database: str = "postgres") -> None:
        """Run commands, each on its own."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.uri(database=database), autocommit=True) as connection:
            for command in commands:
                with connection.cursor() as cursor:
                    cursor.execute(command)

    def offers(self, query: str) -> bool:
        """Whether a query has an answer."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.uri()) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS ({query})")
            return bool(cursor.fetchone()[0])

    def load(self, table: Any, name: str | None = None) -> str:
        """A new table with these records, in their order; its name."""
        from adbc_driver_postgresql import dbapi

        name = name or f"table_{next(self._numbers)}"
        with dbapi.connect(self.uri()) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, pa.table(table), mode="create")
            connection.commit()
        return name


@cache
def binaries() -> Path | None:
    """Where the server's programs are: the newest of Debian's, or those on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(float(path.parent.name)))
    on_path = shutil.which("initdb")
    places = [*reversed(found), *([Path(on_path).parent] if on_path else [])]
    return next((place for place in places if (place / "initdb").exists()), None)


@cache
def server() -> Server:
    """The one server of this process; a test that asks for it is skipped where there is none."""
    place = binaries()
    if place is None:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    pytest.importorskip("adbc_driver_postgresql", reason="no driver here: pip install 'understudy[postgres]'")
    made = Server(place)
    atexit.register(made.remove)
    return made


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
