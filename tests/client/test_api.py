"""Errors come in words a person can act on."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from handrail.client import api as api_module
from handrail.client.api import (
    ApiError,
    HandrailApi,
    ServerTroubled,
    ServerUnreachable,
    problem_detail,
)
from handrail.core.access import Role
from handrail.core.errors import HandrailError
from handrail.server.services import Services
from tests.conftest import Household
from tests.ports import free_port
from tests.server.conftest import serving


@pytest.fixture
async def address(services: Services) -> AsyncGenerator[str]:
    async with serving(services) as found:
        yield found


@asynccontextmanager
async def foreign_server(answer: bytes) -> AsyncGenerator[str]:
    """Something else that listens there, and says this to everybody."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_calls_and_results_travel(
    address: str, services: Services, household: Household
) -> None:
    project, secrets = household.project.id, household.secrets
    async with (
        HandrailApi(f"{address}/", project, secrets[Role.AGENT]) as agent,
        HandrailApi(address, project, secrets[Role.CLIENT]) as client,
    ):
        with services.connections.open(household.client_id, household.workspace.id):
            asked = await agent.execute(
                "read_file", {"path": "a"}, session_id="s", call_id="c", reasoning="why"
            )
        result = {"success": True, "content": "ü"}
        receipts = await client.send_results(
            [{"tool_id": asked["tool_id"], "status": "completed", "result": result}]
        )
        shown = await agent.get(f"/tools/{asked['tool_id']}")
        listed = await agent.get("/tools/executions", limit=1)

    assert (asked["status"], asked["reasoning"]) == ("executing", "why")
    assert [(receipt.success, receipt.status) for receipt in receipts] == [(True, "completed")]
    assert shown["result"] == result
    assert listed["executions"] == [shown]


async def test_what_the_server_says_is_what_the_error_says(
    address: str, household: Household
) -> None:
    project = household.project.id
    async with HandrailApi(address, project, "hr_user_nobody") as stranger:
        with pytest.raises(ApiError) as unknown:
            await stranger.get("/tools/available")
    async with HandrailApi(address, project, household.secrets[Role.AGENT]) as agent:
        with pytest.raises(ApiError) as missing:
            await agent.get("/tools/exe_none")
        await agent.execute("read_file", {"path": "a"}, session_id="s", call_id="c")
        with pytest.raises(ApiError) as conflicting:
            await agent.execute("read_file", {"path": "b"}, session_id="s", call_id="c")

    errors = (unknown.value, missing.value, conflicting.value)
    assert [(error.status, error.message) for error in errors] == [
        (401, "this token is unknown, revoked or expired"),
        (404, "there is no execution 'exe_none'"),
        (409, "call 'c' was asked before with other parameters; use a new call_id"),
    ]


async def test_a_server_that_is_not_there_is_said_to_be() -> None:
    server = f"http://127.0.0.1:{free_port()}"

    async with HandrailApi(server, "prj_1", "hr_user_x") as api:
        with pytest.raises(ServerUnreachable, match=f"{server} does not answer"):
            await api.get("/tools/available")


async def test_a_server_that_hangs_up_is_said_to_be_unreachable() -> None:
    async with (
        foreign_server(b"") as server,
        HandrailApi(server, "prj_1", "hr_user_x") as api,
    ):
        with pytest.raises(ServerUnreachable, match="does not answer"):
            await api.get("/tools/available")


async def test_an_error_in_another_form_is_told_by_its_status() -> None:
    answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>"
    async with (
        foreign_server(answer) as server,
        HandrailApi(server, "prj_1", "hr_user_x") as api,
    ):
        with pytest.raises(ServerTroubled) as caught:
            await api.get("/tools/available")

    assert caught.value.message == "the server answered 502"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"detail": "too late"}', "too late"),
        (b'{"title": "no detail"}', "the server answered 418"),
        (b'["detail"]', "the server answered 418"),
        (b"null", "the server answered 418"),
        (b"<html>", "the server answered 418"),
        (b"", "the server answered 418"),
    ],
)
def test_a_problem_is_put_into_a_sentence(body: bytes, expected: str) -> None:
    assert problem_detail(body, 418) == expected


async def test_a_closed_api_says_how_to_open_it() -> None:
    with pytest.raises(HandrailError, match="async with"):
        await HandrailApi("http://127.0.0.1:1", "prj_1", "hr_user_x").get("/tools/available")


async def test_an_answer_that_is_not_json_is_told_in_words() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    async with foreign_server(answer) as server, HandrailApi(server, "p", "t") as api:
        with pytest.raises(ServerUnreachable, match="does not speak like Handrail"):
            await api.get("/x")


async def test_a_text_that_is_not_utf_8_is_sent_with_escapes() -> None:
    assert api_module._encode({"error": "caf\udce9", "more": ["\ud800"]}) == (
        b'{"error":"caf\\\\udce9","more":["\\\\ud800"]}'
    )
