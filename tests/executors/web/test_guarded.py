"""One request: what is sent, what is taken of the answer, and how long it may last."""

import asyncio
import gzip
import ssl
from typing import Any

import pytest
import trustme

from handrail.core.errors import ErrorType, WebError
from handrail.core.web import WebRequest, WebResponse
from handrail.executors.web.guarded import GuardedWeb
from handrail.executors.web.pinned import PinnedBackend, RequestRefused
from handrail.policy.network.addresses import reach_of
from handrail.policy.network.hosts import HostList
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST, WebHosts
from tests.executors.web.world import (
    HELLO,
    PUBLIC,
    Answer,
    Everywhere,
    Listener,
    Names,
    listening,
    saying,
)

URL = "http://public.example.com/a?b=c"


def web_of(listener: Listener, **given: Any) -> GuardedWeb:
    return GuardedWeb(
        lambda: ANY_PUBLIC_HOST, resolve=Names([PUBLIC]), network=Everywhere(listener), **given
    )


async def answered(answer: Answer, *, max_bytes: int = 1_000, seconds: float = 20) -> WebResponse:
    async with listening(answer) as listener:
        request = WebRequest(URL, timeout_seconds=seconds)
        return await web_of(listener).request(request, max_bytes=max_bytes)


def message(body: bytes, *headers: str) -> Answer:
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]
    return saying("\r\n".join(head).encode() + body)


# What is sent


async def test_what_is_sent_is_what_was_asked_and_little_else() -> None:
    async with listening() as listener:
        request = WebRequest(
            "http://public.example.com/ä/%2e%2e?q=ü&r=%20#part",
            "POST",
            (("X-Key", "one"), ("Content-Type", "application/json")),
            b'{"a": 1}',
        )
        await web_of(listener).request(request, max_bytes=100)
        head, _, body = listener.asked[0].partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        assert lines[0] == "POST /%C3%A4/%2e%2e?q=%C3%BC&r=%20 HTTP/1.1"
        assert body == b'{"a": 1}'
        said = {line.partition(": ")[0].lower() for line in lines[1:]}
        ours = {"host", "user-agent", "accept", "accept-encoding", "connection", "content-length"}
        assert said == {*ours, "x-key", "content-type"}


async def test_headers_that_steer_a_connection_are_not_sent() -> None:
    async with listening() as listener:
        for name in ("Host", "Proxy-Authorization", "Transfer-Encoding", "X\r\nY"):
            request = WebRequest(URL, headers=((name, "x"),))
            with pytest.raises(RequestRefused, match="the header"):
                await web_of(listener).request(request, max_bytes=100)
        assert listener.connections == 0


async def test_only_known_methods_are_sent() -> None:
    async with listening() as listener:
        for method in ("CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\nX: y"):
            with pytest.raises(RequestRefused, match="the method is one of GET, HEAD"):
                await web_of(listener).request(WebRequest(URL, method), max_bytes=100)
        assert listener.connections == 0


async def test_a_head_has_no_body_even_if_it_says_that_one_is_packed() -> None:
    said = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nContent-Encoding: gzip\r\n\r\n"
    async with listening(saying(said)) as listener:
        response = await web_of(listener).request(WebRequest(URL, "HEAD"), max_bytes=100)
        assert (response.body, response.truncated) == (b"", False)


# What is taken


async def test_a_body_that_fits_is_taken_whole() -> None:
    response = await answered(message(b"x" * 1_000))
    assert (len(response.body), response.truncated) == (1_000, False)


async def test_of_a_body_that_does_not_fit_the_beginning_is_taken() -> None:
    response = await answered(message(b"x" * 1_001))
    assert (len(response.body), response.truncated) == (1_000, True)


async def test_a_body_without_an_end_is_left_when_enough_was_taken() -> None:
    async def endless(asked: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()

    response = await answered(endless, max_bytes=50_000)
    assert (len(response.body), response.truncated) == (50_000, True)


async def test_a_packed_body_is_unpacked() -> None:
    packed = gzip.compress(b"hello ") + gzip.compress(b"again")
    response = await answered(message(packed, "Content-Encoding: gzip"))
    assert (response.body, response.truncated) == (b"hello again", False)


async def test_a_packed_body_is_cut_like_any_other() -> None:
    words = b"".join(b"%d " % (number * 7919 % 10_007) for number in range(2_000))
    response = await answered(message(gzip.compress(words), "Content-Encoding: gzip"))
    assert (response.body, response.truncated) == (words[:1_000], True)


async def test_a_packed_body_that_ends_early_is_said_to_be_cut() -> None:
    packed = gzip.compress(b"hello" * 10)
    response = await answered(message(packed[:-9], "Content-Encoding: gzip"))
    assert response.truncated
    assert b"hello".startswith(response.body[:5])


@pytest.mark.behaviour("web.bounded")
@pytest.mark.parametrize("times", [1, 2])
async def test_a_bomb_is_refused_before_it_is_unpacked(times: int) -> None:
    bomb = gzip.compress(b"\0" * 20_000_000) * times
    assert len(bomb) < 50_000
    with pytest.raises(WebError, match="more than 100 times its size"):
        await answered(message(bomb, "Content-Encoding: gzip"), max_bytes=3_000_000)


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "nonsense"])
async def test_what_is_packed_in_another_way_is_refused(encoding: str) -> None:
    with pytest.raises(WebError, match="a compression that was not requested"):
        await answered(message(b"x", f"Content-Encoding: {encoding}"))


async def test_what_only_says_that_it_is_packed_is_refused() -> None:
    with pytest.raises(WebError, match="claims to be gzip, but is not"):
        await answered(message(b"plain", "Content-Encoding: gzip"))


@pytest.mark.parametrize(
    "nonsense",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000,
    ],
    ids=["not http", "no status", "nothing", "cut short", "endless head"],
)
async def test_nonsense_is_an_error_in_words(nonsense: bytes) -> None:
    with pytest.raises(WebError, match=r"^the request to public\.example\.com:80 failed: ."):
        await answered(saying(nonsense))


# How long it may last


async def test_who_drips_is_left_when_the_time_is_over() -> None:
    async def drip(asked: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    with pytest.raises(WebError, match=r"did not answer completely within 0\.3 s"):
        await answered(drip, max_bytes=1_000_000, seconds=0.3)


async def test_who_says_nothing_is_left_when_the_time_is_over() -> None:
    async def silent(asked: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    with pytest.raises(WebError, match=r"did not answer completely within 0\.2 s"):
        await answered(silent, seconds=0.2)


async def test_a_name_server_that_never_answers_is_left_too() -> None:
    async def never(name: str, port: int) -> list[str]:
        await asyncio.sleep(30)
        return []

    web = GuardedWeb(lambda: ANY_PUBLIC_HOST, resolve=never)
    with pytest.raises(WebError, match=r"within 0\.2 s"):
        await web.request(WebRequest(URL, timeout_seconds=0.2), max_bytes=100)


async def test_who_never_ends_a_tls_greeting_is_left_and_nothing_stays_open() -> None:
    async with listening() as listener:
        request = WebRequest("https://public.example.com/", timeout_seconds=0.3)
        with pytest.raises(WebError, match=r"within 0\.3 s"):
            await web_of(listener).request(request, max_bytes=100)


# Whom it may reach


async def test_the_list_is_read_anew_for_each_request() -> None:
    listed = ANY_PUBLIC_HOST
    async with listening() as listener:
        web = GuardedWeb(lambda: listed, resolve=Names([PUBLIC]), network=Everywhere(listener))
        await web.request(WebRequest(URL), max_bytes=100)
        listed = WebHosts(HostList.read(["other.example.com"]))
        with pytest.raises(RequestRefused, match="is not on the operator's list"):
            await web.request(WebRequest(URL), max_bytes=100)
        listed = WebHosts(HostList.read(["*.example.com"]))
        await web.request(WebRequest(URL), max_bytes=100)
        assert listener.connections == 2


async def test_an_address_that_is_listed_with_its_port_is_reached_by_itself_and_by_a_name() -> None:
    async with listening() as listener:
        place = f"127.0.0.1:{listener.port}"
        hosts = WebHosts(HostList.read([place, f"wiki.internal:{listener.port}"]))
        web = GuardedWeb(lambda: hosts, resolve=Names(["127.0.0.1"]))
        for url in (f"http://{place}/", f"http://wiki.internal:{listener.port}/"):
            assert (await web.request(WebRequest(url), max_bytes=100)).body == b"hello"


async def test_an_address_of_a_dead_end_is_followed_by_the_next() -> None:
    async with listening() as listener:
        place = f"127.0.0.1:{listener.port}"
        dead = f"127.0.0.2:{listener.port}"
        hosts = WebHosts(HostList.read([place, dead, f"wiki.internal:{listener.port}"]))
        url = f"http://wiki.internal:{listener.port}/"
        both = GuardedWeb(lambda: hosts, resolve=Names(["127.0.0.2", "127.0.0.1"]))
        assert (await both.request(WebRequest(url), max_bytes=100)).status == 200
        one = GuardedWeb(lambda: hosts, resolve=Names(["127.0.0.2"]))
        with pytest.raises(WebError, match="could not be reached: ") as caught:
            await one.request(WebRequest(url), max_bytes=100)
        assert caught.value.error_type is ErrorType.EXECUTION


async def test_sockets_of_the_machine_are_not_asked() -> None:
    async with listening() as listener:
        backend = PinnedBackend(
            ANY_PUBLIC_HOST,
            resolve=Names([PUBLIC]),
            reach=reach_of,
            network=Everywhere(listener),
            seconds=1,
        )
        with pytest.raises(RequestRefused, match="sockets of this machine"):
            await backend.connect_unix_socket("/var/run/docker.sock")


# TLS


def certified(*names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a server with these names, and of somebody who believes it."""
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


async def test_the_name_is_verified_although_the_connection_goes_to_an_address() -> None:
    server, client = certified("public.example.com")
    async with listening(HELLO, tls=server) as listener:
        web = web_of(listener, tls=client)
        url = "https://public.example.com/"
        assert (await web.request(WebRequest(url), max_bytes=100)).body == b"hello"
        with pytest.raises(WebError, match="CERTIFICATE_VERIFY_FAILED"):
            await web.request(WebRequest("https://other.example.com/"), max_bytes=100)
        assert len(listener.asked) == 1


async def test_a_certificate_that_nobody_vouches_for_is_not_believed() -> None:
    server, _ = certified("public.example.com")
    async with listening(HELLO, tls=server) as listener:
        with pytest.raises(WebError, match=r"failed: .*CERTIFICATE_VERIFY_FAILED"):
            await web_of(listener).request(WebRequest("https://public.example.com/"), max_bytes=100)
        assert listener.asked == []
