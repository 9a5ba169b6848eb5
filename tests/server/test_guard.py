"""A web page cannot borrow the browser's reach to this machine."""

import asyncio
import json

import pytest

from handrail.server.app import create_app
from handrail.server.services import Services
from tests.server.conftest import Caller, serving


async def knock(
    address: str, host: str | None, origin: str | None = None, request: str = "GET /health"
) -> tuple[int, str]:
    """Say exactly these headers; gives the status and the problem's type."""
    name, _, port = address.removeprefix("http://").partition(":")
    lines = [f"{request} HTTP/1.1", "Connection: close"]
    for header, value in (("Host", host), ("Origin", origin)):
        if value is not None:
            lines.append(f"{header}: {value.replace('PORT', port)}")
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write("\r\n".join([*lines, "", ""]).encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body).get("type", "")


FOREIGN = (403, "urn:handrail:foreign-origin")
HOSTS: dict[str | None, tuple[int, str]] = {
    "127.0.0.1": (200, ""),
    "127.0.0.1:PORT": (200, ""),
    "localhost": (200, ""),
    "localhost:PORT": (200, ""),
    "LocalHost:PORT": (200, ""),
    "[::1]": (200, ""),
    "[::1]:PORT": (200, ""),
    "evil.example": FOREIGN,
    "evil.example:PORT": FOREIGN,
    "127.0.0.1.evil.example": FOREIGN,
    "localhost.evil.example:PORT": FOREIGN,
    "evil-localhost": FOREIGN,
    "127.0.0.2:PORT": FOREIGN,
    "0.0.0.0:PORT": FOREIGN,
    "[::]:PORT": FOREIGN,
    "[::2]:PORT": FOREIGN,
    "": FOREIGN,
}
ORIGINS: dict[tuple[str, str], tuple[int, str]] = {
    ("127.0.0.1:PORT", "http://127.0.0.1:PORT"): (200, ""),
    ("localhost:PORT", "http://localhost:PORT"): (200, ""),
    ("localhost:PORT", "http://LOCALHOST:PORT"): (200, ""),
    ("[::1]:PORT", "http://[::1]:PORT"): (200, ""),
    ("127.0.0.1:PORT", "http://evil.example"): FOREIGN,
    ("127.0.0.1:PORT", "https://evil.example:PORT"): FOREIGN,
    ("127.0.0.1:PORT", "http://127.0.0.1"): FOREIGN,
    ("127.0.0.1:PORT", "http://127.0.0.1:1"): FOREIGN,
    ("127.0.0.1:PORT", "http://localhost:PORT"): FOREIGN,
    ("127.0.0.1:PORT", "http://127.0.0.1:PORT.evil.example"): FOREIGN,
    ("127.0.0.1:PORT", "http://127.0.0.1:PORT@evil.example"): FOREIGN,
    ("[::1]:PORT", "http://127.0.0.1:PORT"): FOREIGN,
    ("127.0.0.1:PORT", "null"): FOREIGN,
    ("127.0.0.1:PORT", ""): FOREIGN,
    ("evil.example", "http://evil.example"): FOREIGN,
}


async def test_only_names_of_this_machine_are_answered_to(caller: Caller) -> None:
    answers = {host: await knock(caller.address, host) for host in HOSTS}

    assert answers == HOSTS


@pytest.mark.parametrize("header", ["Host", "Origin", "Authorization"])
async def test_a_header_that_decides_who_asks_stands_there_once(
    caller: Caller, header: str
) -> None:
    twice = f"127.0.0.1:PORT\r\n{header}: 127.0.0.1:PORT\r\n{header}: 127.0.0.1:PORT"

    assert await knock(caller.address, twice) == (400, "urn:handrail:bad-input")


async def test_without_a_name_nothing_is_answered(caller: Caller) -> None:
    assert await knock(caller.address, None) == FOREIGN


async def test_only_pages_of_this_server_may_talk_to_it(caller: Caller) -> None:
    answers = {pair: await knock(caller.address, *pair) for pair in ORIGINS}

    assert answers == ORIGINS


async def test_no_path_and_no_method_is_left_unguarded(caller: Caller) -> None:
    paths = ("/", "/openapi.json", "/health", "/my/projects/x/tools/execute", "/none")
    requests = [f"{method} {path}" for method in ("GET", "POST", "OPTIONS") for path in paths]

    answers = {
        request: await knock(caller.address, "127.0.0.1:PORT", "http://evil.example", request)
        for request in requests
    }

    assert answers == dict.fromkeys(requests, FOREIGN)


async def test_nobody_is_invited_to_read_across_origins(caller: Caller) -> None:
    answer = await caller.ask("GET", "/health", headers={"origin": caller.address})

    assert answer.status == 200
    assert [name for name in answer.headers if name.lower().startswith("access-control")] == []


async def test_further_names_can_be_allowed(services: Services) -> None:
    app = create_app(services, hosts=frozenset({"handrail.example"}))
    async with serving(services, app=app) as address:
        assert await knock(address, "handrail.example") == (200, "")
        assert await knock(address, "127.0.0.1:PORT") == (200, "")
        assert await knock(address, "other.example") == FOREIGN


async def test_a_star_in_a_certificate_stands_for_one_word(services: Services) -> None:
    app = create_app(services, hosts=frozenset({"*.team.example"}))
    async with serving(services, app=app) as address:
        assert await knock(address, "rail.team.example") == (200, "")
        assert await knock(address, "a.rail.team.example") == FOREIGN
        assert await knock(address, "team.example") == FOREIGN


async def test_the_pages_of_a_declared_proxy_are_our_own(services: Services) -> None:
    app = create_app(services, origin="https://rail.example")
    async with serving(services, app=app) as address:
        assert await knock(address, "127.0.0.1:PORT", "https://rail.example") == (200, "")
        assert await knock(address, "127.0.0.1:PORT", "https://evil.example") == FOREIGN
        assert await knock(address, "127.0.0.1:PORT", "http://rail.example") == FOREIGN


async def test_an_origin_that_is_none_is_refused(caller: Caller) -> None:
    assert await knock(caller.address, "127.0.0.1:PORT", "http://[") == FOREIGN


async def test_a_name_behind_an_address_is_another_name(caller: Caller) -> None:
    assert await knock(caller.address, "[::1].evil.example") == FOREIGN
