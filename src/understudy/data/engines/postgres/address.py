"""Where a table in PostgreSQL lies: a connection address of libpq, and which table or query is meant.

    postgresql://reader@db.example.org/town#people                   a table, found as the server would
    postgresql://reader@db.example.org/town#census.people            a table of a schema
    postgresql://reader@db.example.org/town?table=census.people      the same
    postgresql://reader@db.example.org/town?query=SELECT ...         the records of a query

Everything else in the address is libpq's, which also reads PGHOST, PGUSER, PGPASSWORD, ~/.pgpass and the like.
A name is taken letter by letter, capitals included; one with a dot stands in double quotes. What follows
`query=` is taken to the end as it is, so it comes last; one without a blank is taken for %-escaped. An address may
hold a password: nothing here shows more of it than the server and the database.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from understudy.errors import ParameterError

FORM = 'write "postgresql://user@host/database#table", in quotes.'
_ADDRESS = re.compile(r"postgres(?:ql)?://(?P<server>[^/?#]*)(?P<database>/[^?#]*)?(?P<rest>.*)", re.DOTALL)
_PART = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^".]+))(?P<dot>\.|$)', re.DOTALL)
_LONGEST_NAME = 1_000  # characters of schema and table; the server itself cuts each at 63 bytes
_APPLICATION = "fallback_application_name=understudy"
# What a connection may be told in an address; libpq refuses the rest with a message that quotes it.
SETTINGS = (
    *("host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "options"),
    *("application_name", "fallback_application_name", "client_encoding", "connect_timeout"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"),
    *(
        "ssl",
        "sslmode",
        "sslcert",
        "sslkey",
        "sslpassword",
        "sslcertmode",
        "sslrootcert",
        "sslcrl",
        "sslcrldir",
    ),
    *("sslsni", "sslcompression", "sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version"),
    *(
        "requirepeer",
        "require_auth",
        "channel_binding",
        "gssencmode",
        "krbsrvname",
        "gsslib",
        "gssdelegation",
    ),
    *("target_session_attrs", "load_balance_hosts"),
)


@dataclass(frozen=True)
class Address:
    """One table or one query of one database."""

    uri: str = field(repr=False)  # may hold a password
    server: str
    table: tuple[str, ...] = ()  # schema and name, or name
    query: str = field(default="", repr=False)

    def __str__(self) -> str:
        """What a message may show: the table and the server, never a user or a password."""
        what = f"table {'.'.join(self.table)!r}" if self.table else "the query"
        return f"{what} at {self.server!r}"

    @property
    def name(self) -> str:
        """What the ledger calls the table."""
        if not self.table:
            raise ParameterError(
                "the records of a query have no name for the ledger.",
                hint="give one with --name, or as name in the schema's [table].",
            )
        return self.table[-1]


def parse(address: str) -> Address:
    """The parts of an address; nothing is connected to."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ParameterError("a PostgreSQL address does not begin with postgresql://.", hint=FORM)
    server, database = found["server"], found["database"] or ""
    shown = "postgresql://" + server.rpartition("@")[2] + database
    rest, query = _query(found["rest"])
    if "\x00" in unquote(server + database + rest) + (query or ""):
        raise ParameterError("a PostgreSQL address holds a NUL character.", hint=FORM)
    rest, hashed, fragment = rest.partition("#")
    _check_escapes(server, database, rest, fragment)
    settings, table = _settings(rest.removeprefix("?"))
    named = [text for text in (table, unquote(fragment) if hashed else None) if text is not None]
    if len(named) + (query is not None) != 1:
        raise ParameterError(
            f"the address of {shown!r} names {'no' if not named and query is None else 'more than one'} "
            "table or query.",
            hint=FORM,
        )
    uri = f"postgresql://{server}{database}?{'&'.join([*settings, _APPLICATION])}"
    if query is not None:
        return Address(uri, shown, query=query)
    return Address(uri, shown, table=_split(named[0]))


def _query(rest: str) -> tuple[str, str | None]:
    """What stands before `query=`, and the query."""
    found = re.search(r"[?&]query=", rest)
    if found is None:
        return rest, None
    written = rest[found.end() :].strip()
    query = (written if re.search(r"\s", written) else unquote(written)).rstrip("; \t\r\n")
    if not query:
        raise ParameterError("query= is empty.", hint="write ?query=SELECT ... at the end of the address.")
    return rest[: found.start()], query


def _check_escapes(server: str, *after: str) -> None:
    """Refuse what is likely a password with a character of its own meaning, and would be shown as a name."""
    user, _, host = server.rpartition("@")
    port = host.rpartition("]")[2] if "]" in host else host
    numbers = all(re.fullmatch(r"[^:]*(:\d*)?", part) for part in port.split(","))
    if "@" in user or not numbers or any("@" in text for text in after):
        raise ParameterError(
            "a PostgreSQL address has an @ after its server, or a port that is not a number.",
            hint="write @ / : # ? in a user, a password or a name as %40 %2F %3A %23 %3F.",
        )


def _settings(text: str) -> tuple[list[str], str | None]:
    """The settings that are libpq's, and the table."""
    kept, table = [], None
    for part in text.split("&") if text else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError("a setting in a PostgreSQL address has no value.", hint="write key=value.")
        if key == "table":
            table = unquote(value)
        elif key not in SETTINGS:
            raise ParameterError(
                f"setting {key!r} in a PostgreSQL address is not known.",
                hint="write ?table= or ?query=, or a setting of libpq such as sslmode.",
            )
        else:
            kept.append(part)
    return kept, table


def _split(text: str) -> tuple[str, ...]:
    """Schema and table, or the table alone."""
    if (
        len(text) > _LONGEST_NAME
    ):  # before it is matched, which takes memory for every character of a quoted name
        raise ParameterError(
            f"a table's name of {len(text):,} characters is longer than {_LONGEST_NAME:,}.", hint=FORM
        )
    parts: list[str] = []
    place = 0
    while place < len(text) or (parts and text.endswith(".")):
        found = _PART.match(text, place)
        if found is None:
            break
        quoted = found["quoted"]
        parts.append(found["plain"] if quoted is None else quoted.replace('""', '"'))
        place = found.end()
        if not found["dot"]:
            break
    if place < len(text) or not 1 <= len(parts) <= 2 or text.endswith("."):
        raise ParameterError(
            f"{text!r} does not name a table.",
            hint='write table or schema.table; a name with a dot or a quote in it as "a.b", quotes doubled.',
        )
    return tuple(parts)
