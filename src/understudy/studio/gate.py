"""Who may talk to the studio: the browser that was given the token, from the studio's own pages, and nobody else.

A request passes only if it asks for this server by its own name (another name means that a page elsewhere had it
resolved to this machine: DNS rebinding), carries the cookie that the token was exchanged for, and, where it changes
anything, comes from a page of the studio itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Scripts, styles and pictures from this server alone, none of them inside a page; no page of others may frame one.
CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # "no-referrer" would make the origin of a form "null"
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")

# The cookie goes only where a page of the studio leads, so the browser is sent on by a page and not by a redirect.
ENTERED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Understudy studio</title>
<meta http-equiv="refresh" content="0; url={start}"></head>
<body><p><a href="{start}">Enter the studio</a></p></body></html>"""
LOCKED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Understudy studio: locked</title></head>
<body><main><h1>This studio is locked</h1><p>Open it by the address that <code>understudy studio</code> printed when
it was started; it holds a key that only you can see.</p></main></body></html>"""


@dataclass(frozen=True)
class Locks:
    """What a request must show.

    origins   how pages of this server begin: "http://127.0.0.1:8500"
    start     the page that the opened address leads to
    token     what the opened address holds
    session   what it is exchanged for, in a cookie
    """

    origins: tuple[str, ...]
    start: str = "/"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names, with the port, by which this server may be asked for."""
        return tuple(origin.partition("://")[2] for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The cookie's name: two studios on one machine, on two ports, do not take each other's."""
        return f"understudy_{self.origins[0].rpartition(':')[2]}"

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"{self.origins[0]}/?token={self.token}"


class Gate:
    """Lets requests through to the application, or refuses them."""

    def __init__(self, app: ASGIApp, locks: Locks, fault: Callable[[Exception], Response]) -> None:
        self._app, self._locks, self._fault = app, locks, fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            sending = Sending(send)
            try:
                await (self._refusal(scope) or self._app)(scope, receive, sending)
            except Exception as error:
                # It goes no further: a server would log its words, which may quote a record.
                if not sending.begun:
                    await self._fault(error)(scope, receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, locks = Headers(scope=scope), self._locks
        if headers.get("host", "").lower() not in locks.hosts:
            return PlainTextResponse("This studio has another name.\n", 421)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if token and scope["path"] == "/" and scope["method"] == "GET":
            return self._exchange(token[0])
        if not secrets.compare_digest(_cookie(headers, locks.cookie), locks.session):
            return HTMLResponse(LOCKED, 401)
        site = headers.get("sec-fetch-site", "same-origin")
        if scope["method"] not in SAFE:
            if headers.get("origin") not in locks.origins or site != "same-origin":
                return PlainTextResponse("Only the studio's own pages may ask for this.\n", 403)
        elif site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return PlainTextResponse("Only the studio's own pages may ask for this.\n", 403)
        return None

    def _exchange(self, token: str) -> Response:
        if not secrets.compare_digest(token.encode(), self._locks.token.encode()):
            return HTMLResponse(LOCKED, 401)
        response = HTMLResponse(ENTERED.format(start=self._locks.start))
        secure = self._locks.origins[0].startswith("https:")
        response.set_cookie(
            self._locks.cookie, self._locks.session, httponly=True, samesite="strict", path="/", secure=secure
        )
        return response


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    value = found.value if found else ""
    return value if value.isascii() else ""


class Sending:
    """Sends a response with the headers above, and knows whether it has begun; what a page has set itself stands."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
