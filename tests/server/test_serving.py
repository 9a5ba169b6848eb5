"""A server listens only where it is safe, and ends in good order."""

import asyncio
import signal
import socket

import aiohttp
import pytest

from handrail.core.access import Role
from handrail.core.errors import SetupError
from handrail.server.app import create_app
from handrail.server.services import Services
from handrail.server.serving import HandrailServer, bind
from tests.conftest import Household
from tests.server.conftest import a_body, base


async def test_open_streams_and_waiting_askers_are_let_go_when_the_server_ends(
    services: Services, household: Household
) -> None:
    listening = bind("127.0.0.1", 0)
    here = f"http://127.0.0.1:{listening.getsockname()[1]}{base(household)}"
    server = HandrailServer(create_app(services), services.room)
    running = asyncio.create_task(server.serve(sockets=[listening]))

    def bearer(role: Role) -> dict[str, str]:
        return {"authorization": f"Bearer {household.secrets[role]}"}

    async def ask() -> dict[str, object]:
        async with session.post(
            f"{here}/tools/execute", json=a_body(wait=3600), headers=bearer(Role.AGENT)
        ) as response:
            return await response.json()

    async with asyncio.timeout(20), aiohttp.ClientSession() as session:
        streams = [
            await session.get(f"{here}/chat/stream", headers=bearer(role))
            for role in (Role.USER, Role.CLIENT)
        ]
        asking = asyncio.create_task(ask())
        # The signal to the client and the news to the person: now the asker waits.
        for stream in streams:
            while b"data:" not in await stream.content.readline():
                pass

        async with asyncio.timeout(2):
            server.handle_exit(signal.SIGTERM, None)
            await running

        answer = await asking
        rest = [await stream.read() for stream in streams]
        for stream in streams:
            stream.release()

    # The streams end where an event ends, and the asker is told how things stand.
    assert rest == [b"\n", b"\n"]
    assert answer["status"] == "executing"
    assert services.connections.connected == frozenset()


async def test_signals_end_the_server_and_are_given_back(services: Services) -> None:
    loop = asyncio.get_running_loop()
    server = HandrailServer(create_app(services), services.room)
    running = asyncio.create_task(server.serve(sockets=[bind("127.0.0.1", 0)]))
    async with asyncio.timeout(10):
        while not server.started:
            await asyncio.sleep(0.001)

        signal.raise_signal(signal.SIGTERM)
        await running

    assert services.room.closed
    assert not loop.remove_signal_handler(signal.SIGTERM)
    assert not loop.remove_signal_handler(signal.SIGINT)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_a_free_port_of_this_machine_is_taken(host: str) -> None:
    with bind(host, 0) as listening:
        address, port = listening.getsockname()

        assert address.startswith("127.")
        assert port > 0
        with socket.create_connection((address, port), timeout=5):
            pass


def test_the_last_piece_of_an_answer_waits_for_nothing() -> None:
    with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_this_machine_is_known_by_its_long_address_too() -> None:
    try:
        listening = bind("::1", 0)
    except SetupError as error:
        pytest.skip(error.message)

    with listening:
        assert listening.family is socket.AF_INET6


def test_a_port_that_is_in_use_is_said_to_be() -> None:
    with bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]

        with pytest.raises(SetupError) as caught:
            bind("127.0.0.1", port)

    assert caught.value.message == (
        f"port {port} is in use; stop what listens there, or choose another with --port"
        " (`HANDRAIL_PORT=8010 make run`, where make starts it)"
    )


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.168.1.10", "10.0.0.1", "8.8.8.8", "example.com", "fe80::1", "", "127.1"],
)
def test_listening_beyond_this_machine_is_refused(host: str) -> None:
    with pytest.raises(SetupError, match="can be reached from other machines"):
        bind(host, 0)
