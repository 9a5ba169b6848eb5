"""No way inside: not by a spelling, not by a name, not by an answer, not by a redirect."""

import tomllib
from pathlib import Path

import pytest

from handrail.core.errors import ErrorType, WebError
from handrail.core.risk import RiskLevel
from handrail.core.web import WebRequest
from handrail.executors.web.guarded import GuardedWeb
from handrail.executors.web.pinned import RequestRefused
from handrail.policy.network.addresses import Reach
from handrail.policy.network.hosts import HostList
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST, WebHosts
from handrail.policy.security import Scene
from handrail.tools.builtin.http_request import HttpRequest, HttpRequestParams
from tests.executors.web.world import PUBLIC, Everywhere, Listener, Names, listening, saying

CORPUS = tomllib.loads((Path(__file__).parents[2] / "corpus" / "ssrf.toml").read_text("utf-8"))
URLS = [(url, group["rule"]) for group in CORPUS["group"] for url in group["urls"]]
ANSWERS = [tuple(found) for answer in CORPUS["answer"] for found in answer["addresses"]]
INNOCENT = "http://innocent.example.com/"


def guarded(listener: Listener, names: Names) -> tuple[GuardedWeb, Everywhere]:
    network = Everywhere(listener)
    return GuardedWeb(lambda: ANY_PUBLIC_HOST, resolve=names, network=network), network


def test_there_are_enough_ways_to_try() -> None:
    assert len(set(URLS)) + len(set(ANSWERS)) >= 300


@pytest.mark.parametrize(("url", "rule"), [one for one in URLS if one[0]], ids=ascii)
def test_a_way_inside_is_refused_by_its_words_with_a_sentence(url: str, rule: str) -> None:
    findings = HttpRequest().pre_validate(HttpRequestParams(url=url), Scene("/work"))
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]
    assert len(findings[0].reason.split()) > 3


@pytest.mark.behaviour("web.not-inside")
async def test_of_all_ways_inside_none_makes_a_connection() -> None:
    async with listening() as listener:
        names = Names(["127.0.0.1"])
        web, network = guarded(listener, names)
        for url, _ in URLS:
            with pytest.raises(RequestRefused):
                await web.request(WebRequest(url), max_bytes=100)
        assert (listener.connections, network.dialled, names.asked) == (0, [], [])


async def test_whatever_a_name_server_answers_nobody_inside_is_dialled() -> None:
    async with listening() as listener:
        for answer in ANSWERS:
            web, network = guarded(listener, Names(answer))
            with pytest.raises(RequestRefused, match=r"^innocent.example.com:80 resolves to "):
                await web.request(WebRequest(INNOCENT), max_bytes=100)
            assert network.dialled == []
        assert listener.connections == 0


async def test_without_the_guard_each_of_these_answers_would_have_led_to_the_listener() -> None:
    """The proof that the test above can fail."""
    async with listening() as listener:
        for answer in ANSWERS:
            web = GuardedWeb(
                lambda: ANY_PUBLIC_HOST,
                resolve=Names(answer),
                reach=lambda address: Reach.PUBLIC,
                network=Everywhere(listener),
            )
            assert (await web.request(WebRequest(INNOCENT), max_bytes=100)).status == 200
        assert listener.connections == len(ANSWERS)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_real_connection_to_this_machine_is_not_made_either(host: str) -> None:
    """Nothing stands in for the network here: the listener's own port, listed for a public name."""
    async with listening(host=host) as listener:
        hosts = WebHosts(HostList.read([f"innocent.example.com:{listener.port}"]))
        web = GuardedWeb(lambda: hosts, resolve=Names([host]))
        url = f"http://innocent.example.com:{listener.port}/"
        with pytest.raises(
            RequestRefused, match="is on this machine or in a private network"
        ) as caught:
            await web.request(WebRequest(url), max_bytes=100)
        assert caught.value.error_type is ErrorType.VALIDATION
        assert listener.connections == 0

        open_web = GuardedWeb(lambda: hosts, resolve=Names([host]), reach=lambda _: Reach.PUBLIC)
        assert (await open_web.request(WebRequest(url), max_bytes=100)).body == b"hello"


@pytest.mark.behaviour("web.pinned")
async def test_a_public_name_is_dialled_at_the_address_that_was_checked() -> None:
    async with listening() as listener:
        names = Names([PUBLIC])
        web, network = guarded(listener, names)
        assert (await web.request(WebRequest(INNOCENT), max_bytes=100)).body == b"hello"
        assert (network.dialled, names.asked) == ([(PUBLIC, 80)], ["innocent.example.com"])
        assert b"\r\nHost: innocent.example.com\r\n" in listener.asked[0]


async def test_a_name_that_changes_its_mind_is_asked_once_and_judged_anew_the_next_time() -> None:
    async with listening() as listener:
        names = Names([PUBLIC], ["127.0.0.1"], [PUBLIC])
        web, network = guarded(listener, names)
        await web.request(WebRequest(INNOCENT), max_bytes=100)
        with pytest.raises(RequestRefused):
            await web.request(WebRequest(INNOCENT), max_bytes=100)
        await web.request(WebRequest(INNOCENT), max_bytes=100)
        assert network.dialled == [(PUBLIC, 80)] * 2
        assert (len(names.asked), listener.connections) == (3, 2)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_inside_is_told_and_not_followed(status: int) -> None:
    location = "http://169.254.169.254/latest/meta-data/"
    moved = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    async with listening(saying(moved.encode())) as listener:
        web, network = guarded(listener, Names([PUBLIC]))
        response = await web.request(WebRequest(INNOCENT), max_bytes=100)
        assert (response.status, dict(response.headers)["location"]) == (status, location)
        assert len(network.dialled) == listener.connections == 1


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as listener, listening() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        web, _ = guarded(listener, Names([PUBLIC]))
        await web.request(WebRequest(INNOCENT), max_bytes=100)
        assert (listener.connections, proxy.connections) == (1, 0)


async def test_a_name_that_nobody_knows_could_not_be_found() -> None:
    async def nobody(name: str, port: int) -> list[str]:
        raise OSError("no such name")

    for resolve in (nobody, Names([])):
        web = GuardedWeb(lambda: ANY_PUBLIC_HOST, resolve=resolve)
        with pytest.raises(WebError, match=r"innocent\.example\.com:80 could not be resolved"):
            await web.request(WebRequest(INNOCENT), max_bytes=100)
