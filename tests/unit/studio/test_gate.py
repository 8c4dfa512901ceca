"""Nobody gets in but the browser that was given the token, and nobody sends forms but the studio's own pages."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from studio_visit import ORIGIN, Visit

from understudy.errors import ParameterError
from understudy.studio.application import application
from understudy.studio.gate import Locks
from understudy.studio.server import check_host
from understudy.studio.workspace import Workspace

PAGES = [
    "/",
    "/ledger",
    "/style.css",
    "/static/studio.js",
    "/static/htmx.min.js",
    "/runs/0123456789ab",
    "/nothing",
]


@pytest.mark.parametrize("address", PAGES)
def test_no_cookie_is_refused_everywhere(studio: Visit, address: str) -> None:
    stranger = TestClient(application(studio.here, studio.locks), base_url=ORIGIN)
    assert stranger.get(address).status_code == 401
    stranger.cookies.set(studio.locks.cookie, "guessed")
    assert stranger.get(address).status_code == 401


def test_a_wrong_token_is_refused_and_the_right_one_becomes_a_cookie_for_this_site_alone(
    studio: Visit,
) -> None:
    stranger = TestClient(application(studio.here, studio.locks), base_url=ORIGIN)
    assert stranger.get("/?token=wrong").status_code == 401
    entered = stranger.get(f"/?token={studio.locks.token}")
    assert entered.status_code == 200
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and studio.locks.token.lower() not in cookie
    assert studio.locks.token not in entered.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8500", "127.0.0.1:9", "127.0.0.1", "", "a.localhost"]
)
def test_a_forged_host_is_misdirected(studio: Visit, host: str) -> None:
    assert studio.client.get("/", headers={"host": host}).status_code == 421
    assert studio.client.get(f"/?token={studio.locks.token}", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1", None]
)
def test_a_form_of_another_site_is_refused(studio: Visit, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    for address in ("/tables", "/demo", "/upload", "/ledger/limit", "/tables/0123456789ab/spend"):
        assert studio.client.post(address, data={"data": "people.csv"}, headers=headers).status_code == 403
    assert not studio.here.tables()


def test_a_form_that_a_browser_says_is_of_another_site_is_refused(studio: Visit) -> None:
    headers = {"origin": ORIGIN, "sec-fetch-site": "cross-site"}
    assert studio.client.post("/demo", headers=headers).status_code == 403
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert studio.client.get("/style.css", headers=embedded).status_code == 403


@pytest.mark.parametrize("address", ["/", "/nothing", "/tables/../../people.csv", "/static/studio.css"])
def test_every_answer_forbids_inline_scripts_frames_and_copies(studio: Visit, address: str) -> None:
    headers = studio.client.get(address).headers
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "address",
    [
        "/static/",
        "/static/../gate.py",
        "/static/%2e%2e/gate.py",
        "/people.csv",
        "/tables/people.csv",
        "/runs/..%2f..%2fpeople.csv",
        "/runs/0123456789ab/download/..%2f..%2fledger.db",
    ],
)
def test_no_folder_is_listed_and_no_file_outside_is_served(studio: Visit, address: str) -> None:
    answer = studio.client.get(address)
    assert answer.status_code >= 400
    assert "Qanary" not in answer.text and "import" not in answer.text


def test_all_files_are_for_this_user_alone(studio: Visit) -> None:
    studio.table()
    kept = [studio.here.folder, *studio.here.folder.rglob("*")]
    assert len(kept) > 4
    for path in kept:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org", "2130706433"])
def test_a_host_that_others_can_reach_is_refused_unless_told(host: str) -> None:
    with pytest.raises(ParameterError, match="TLS"):
        check_host(host, allow_network=False)
    check_host(host, allow_network=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_leave(host: str) -> None:
    check_host(host, allow_network=False)


def test_locks_are_new_each_time_and_not_shown(tmp_path: Path) -> None:
    one, other = Locks((ORIGIN,)), Locks((ORIGIN,))
    assert len({one.token, other.token, one.session, other.session}) == 4
    assert one.token not in repr(one) and one.session not in repr(one)
    assert Workspace(tmp_path).folder.stat().st_mode & 0o777 == 0o700
