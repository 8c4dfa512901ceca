"""One connection to PostgreSQL in one read-only transaction: every query of a run sees the same records.

The messages of the server and of its driver may quote a record, a query or a password. None is passed on:
a fault is told in our words, by its SQLSTATE.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import pyarrow as pa

from understudy.data.postgres_address import Address
from understudy.errors import OperatorError

_OPENING = (
    # Read-only, of one snapshot: taken by the first query below, kept until the connection is closed.
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL TIME ZONE 'UTC'",
    "SET LOCAL datestyle = 'ISO'",
    "SET LOCAL intervalstyle = 'iso_8601'",
    "SET LOCAL idle_in_transaction_session_timeout = 0",  # between two scans a model may be fitted for an hour
)
# What a message of libpq says -> what we say; none of it is a value.
_REFUSALS = {
    "password authentication failed": "the server did not accept the user and the password",
    "no password supplied": "the server asks for a password",
    "authentication failed": "the server did not accept the user",
    "no pg_hba.conf entry": "the server does not let this user in from here",
    "could not translate host name": "the name of the server is not known",
    "too many clients": "the server has no connection left",
    "remaining connection slots": "the server has no connection left",
    "starting up": "the server is still starting",
    "shutting down": "the server is shutting down",
    "timeout expired": "the server did not answer in time",
    "SSL": "the server and this machine do not agree on SSL",
}
_DATABASE = re.compile(r'database ".*" does not exist', re.DOTALL)
# SQLSTATE, or its first letters -> what went wrong, and the way out.
_STATES = {
    "42P01": ("there is no such table", "check the name, its schema and its capitals."),
    "3F000": ("there is no such schema", "check the name and its capitals."),
    "42501": ("the user may not read it", "ask for the right to SELECT."),
    "42": ("the query is not valid", "try it in psql first."),
    "25006": ("the query writes, and the transaction is read-only", "give a query that only reads."),
    "57014": ("the server cancelled the query", "raise statement_timeout, or run it again."),
    "57": ("the server ended the connection", "run it again."),
    "08": ("the connection to the server was lost", "run it again."),
    "53": ("the server has no memory, disk or connections left", "free some, and run it again."),
    "40": ("the server cancelled the transaction", "run it again."),
    "0A": ("the server cannot do this for such a table", "copy it to a plain table first."),
    "22": ("the query fails on some record", "try it in psql first."),
}


class Session:
    """A connection that reads from one snapshot; closed by `close`, or when nobody holds it any more."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._turn = Lock()
        self._connection = _connected(address)
        # Not this object's own method: that would keep it alive.
        self.close = weakref.finalize(self, _close, self._connection)
        for command in _OPENING:
            with self._cursor() as cursor:
                cursor.execute(command)

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The answer to a query as it arrives, in batches of some megabytes."""
        with self._turn, self._cursor() as cursor:
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            try:
                yield from reader
            finally:
                reader.close()

    def table(self, query: str) -> pa.Table:
        """The whole answer to a query with a small one."""
        with self._turn, self._cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor whose faults are told without their words."""
        cursor = None
        try:
            cursor = self._connection.cursor()
            yield cursor
        except (_driver().Error, pa.ArrowException, OSError) as error:
            raise self._fault(error) from None
        finally:
            if cursor is not None:
                with suppress(Exception):  # of a connection that is gone
                    cursor.close()

    def _fault(self, error: Exception) -> OperatorError:
        state = _state(error)
        found = _STATES.get(state) or _STATES.get(state[:2])
        if found is None:
            lost = "the connection to the server was lost, or the server could not go on"
            found = (lost, "run it again; under the same --job label nothing is charged twice.")
        what, hint = found
        if hint == "run it again.":
            hint = "run it again; under the same --job label nothing is charged twice."
        shown = f" (SQLSTATE {state})" if state else ""
        return OperatorError(f"{self.address}: {what}{shown}.", hint=hint)


def _driver() -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise OperatorError(
            "reading PostgreSQL needs its ADBC driver, which is not installed.",
            hint='pip install "understudy[postgres]"',
        ) from None
    return dbapi


def _connected(address: Address) -> Any:
    driver = _driver()
    try:
        return driver.connect(address.uri, autocommit=True)
    except (driver.Error, OSError, ValueError) as error:
        said = str(error)
    if _DATABASE.search(said):
        why = "there is no such database"
    else:
        why = next((ours for theirs, ours in _REFUSALS.items() if theirs in said), "no server answers there")
    raise OperatorError(
        f"{address}: {why}.", hint="check the address, or try it with psql; nothing was charged."
    )


def _close(connection: Any) -> None:
    with suppress(Exception):  # whatever state it is in, there is nothing left to save
        connection.close()


def _state(error: Exception) -> str:
    """The SQLSTATE of a fault, five letters and digits; empty when there is none."""
    state = str(getattr(error, "sqlstate", None) or "")
    if not state:
        found = re.search(r"SQLSTATE: ([0-9A-Z]{5})\b", str(error))
        state = found[1] if found else ""
    return state if re.fullmatch(r"[0-9A-Z]{5}", state) and state != "00000" else ""
