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

from understudy.data.engines.postgres.address import Address
from understudy.errors import OperatorError

_OPENING = (
    # Read-only, of one snapshot: taken by the first query below, kept until the connection is closed.
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    # A database without an encoding can hold texts that are not UTF-8, and the server would fail on them.
    "SELECT set_config('client_encoding', CASE current_setting('server_encoding') "
    "WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END, true)",
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
_AGAIN = "run it again; under the same --job label nothing is charged twice."
_LOST = ("the connection to the server was lost", _AGAIN)
_HALTED = (
    "the server gave up in the middle: the query fails on some record, or it was cancelled",
    "try it in psql, and see statement_timeout; under the same --job label nothing is charged twice.",
)
# SQLSTATE, or its first letters -> what went wrong, and the way out.
_STATES = {
    "42P01": ("there is no such table", "check the name, its schema and its capitals."),
    "3F000": ("there is no such schema", "check the name and its capitals."),
    "42501": ("the user may not read it", "ask for the right to SELECT."),
    "42": ("the query is not valid", "try it in psql first."),
    "25006": ("the query writes, and the transaction is read-only", "give a query that only reads."),
    "57014": ("the server cancelled the query", "raise statement_timeout, or run it again."),
    "57": ("the server ended the connection", _AGAIN),
    "08": ("the connection to the server was lost", _AGAIN),
    "53": ("the server has no memory, disk or connections left", "free some, and run it again."),
    "25P02": ("an earlier query failed", _AGAIN),
    "40": ("the server cancelled the transaction", _AGAIN),
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
        except (_driver().Error, pa.ArrowException, OSError, UnicodeError) as error:
            raise self._fault(error) from None
        finally:
            if cursor is not None:
                with suppress(Exception):  # of a connection that is gone
                    cursor.close()

    def _fault(self, error: Exception) -> OperatorError:
        """A fault in our words. One in the middle of an answer comes without its SQLSTATE: see `_aborted`."""
        state = _state(error)
        if not state and self._aborted():
            what, hint = _HALTED
        else:
            what, hint = _STATES.get(state) or _STATES.get(state[:2]) or _LOST
        shown = f" (SQLSTATE {state})" if state else ""
        return OperatorError(f"{self.address}: {what}{shown}.", hint=hint)

    def _aborted(self) -> bool:
        """Whether the server is still there, and refuses to go on after an error."""
        cursor = None
        try:
            cursor = self._connection.cursor()
            cursor.execute("SELECT 1")
        except Exception as error:
            return _state(error) == "25P02"
        finally:
            if cursor is not None:
                with suppress(Exception):
                    cursor.close()
        return False


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
