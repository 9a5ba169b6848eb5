"""The real application on a real socket, and a caller who speaks HTTP to it."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.applications import Starlette

from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.change import Add, Change
from handrail.core.ids import ClientId, TokenId, mint
from handrail.core.project import Client
from handrail.server.app import create_app
from handrail.server.console.files import ConsoleFiles
from handrail.server.http import Timeouts
from handrail.server.services import Services
from handrail.server.serving import HandrailServer, bind
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household

# Whether somebody has built the console changes nothing here.
UNBUILT = ConsoleFiles(Path("no-such-folder"))

# The API's description of itself: the same for every test, and slow to make.
_DOCUMENT: dict[str, Any] = {}


@asynccontextmanager
async def serving(
    services: Services,
    *,
    port: int = 0,
    app: Starlette | None = None,
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[str]:
    """Run a server for as long as the context is open; gives its address."""
    listening = bind("127.0.0.1", port)
    app = app or create_app(services, console=UNBUILT)
    server = HandrailServer(app, services.room, timeouts=timeouts)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(10):
            while not server.started:
                await asyncio.sleep(0.001)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        services.room.close()
        async with asyncio.timeout(10):
            await running


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what happens in its own time."""
    async with asyncio.timeout(10):
        while not await reached():
            await asyncio.sleep(0.005)


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    media_type: str
    headers: Mapping[str, str]

    @property
    def problem(self) -> tuple[int, str]:
        """What a program tells problems apart by; every problem has the one form."""
        assert self.media_type == "application/problem+json"
        assert set(self.body) == {"type", "title", "status", "detail"}
        assert self.body["status"] == self.status
        assert self.body["title"]
        assert self.body["detail"]
        return self.status, self.body["type"]


class Listener:
    """One open stream, read frame by frame."""

    def __init__(self, response: aiohttp.ClientResponse):
        self.response = response

    async def read(self) -> dict[str, Any] | None:
        """The next frame's fields, comments under the empty name; None at the end."""
        frame: dict[str, Any] = {}
        async with asyncio.timeout(10):
            while line := await self.response.content.readline():
                if line == b"\n":
                    return frame
                name, _, value = line.decode().rstrip("\n").partition(": ")
                name = name.removesuffix(":")
                frame[name] = json.loads(value) if name == "data" else value
        assert frame == {}
        return None

    async def event(self) -> tuple[int, str, dict[str, Any]]:
        frame = await self.read()
        assert frame is not None
        assert set(frame) == {"id", "event", "data"}
        return int(frame["id"]), frame["event"], frame["data"]

    async def told(self, count: int) -> list[tuple[int, str, str | None]]:
        """The numbers, names and calls of the next events."""
        events = [await self.event() for _ in range(count)]
        return [(number, name, data.get("tool_id")) for number, name, data in events]


class Caller:
    """Asks a running server; what the API's description does not know of may not be answered."""

    def __init__(self, session: aiohttp.ClientSession, address: str, document: dict[str, Any]):
        self.session = session
        self.address = address
        self.document = document

    async def ask(
        self,
        method: str,
        path: str,
        token: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Answer:
        sent = dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if "data" in options and "skip_auto_headers" not in options:
            sent.setdefault("content-type", "application/json")
        async with (
            asyncio.timeout(10),
            self.session.request(method, self.address + path, headers=sent, **options) as response,
        ):
            media_type = response.headers.get("content-type", "").partition(";")[0]
            body = None if media_type == "text/event-stream" else await response.read()
            if body is not None and media_type.endswith("json"):
                body = json.loads(body)
            self._hold_to_description(method, path, response.status)
            return Answer(response.status, body, media_type, response.headers)

    @asynccontextmanager
    async def listen(
        self, home: Household, token: str, last_event_id: int | None = None
    ) -> AsyncGenerator[Listener]:
        """Open a stream, and read past its greeting: from there on everything is told."""
        headers = {"authorization": f"Bearer {token}"}
        if last_event_id is not None:
            headers["last-event-id"] = str(last_event_id)
        address = f"{self.address}{base(home)}/chat/stream"
        async with self.session.get(address, headers=headers) as response:
            assert response.status == 200
            stream = Listener(response)
            greeting = await stream.read()
            assert greeting is not None
            assert greeting.pop("id").isdecimal()
            assert greeting == {"": "handrail 1.0", "retry": "1000"}
            yield stream
            # Without this the session would wait to use the connection again.
            response.close()

    def _hold_to_description(self, method: str, path: str, status: int) -> None:
        if status >= 500:
            return  # A defect is nothing to describe.
        for template, operations in self.document["paths"].items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", template)
            if re.fullmatch(pattern, path.partition("?")[0]) and method.lower() in operations:
                operation = operations[method.lower()]
                assert str(status) in operation["responses"], f"{method} {path} {status}"
                return


@pytest.fixture
async def caller(services: Services) -> AsyncGenerator[Caller]:
    # A connection for each request: none is used again that the server has just given up.
    connector = aiohttp.TCPConnector(force_close=True)
    async with (
        serving(services) as address,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        if not _DOCUMENT:
            async with session.get(f"{address}/openapi.json") as response:
                _DOCUMENT.update(await response.json())
        yield Caller(session, address, _DOCUMENT)


def base(home: Household) -> str:
    return f"/my/projects/{home.project.id}"


def a_body(call_id: str = "call-1", path: str = "README.md", **fields: Any) -> dict[str, Any]:
    """A request to read a file."""
    return {
        "tool_name": "read_file",
        "tool_params": {"path": path},
        "session_id": "session-1",
        "call_id": call_id,
        **fields,
    }


def a_result(content: str = "hello", **fields: Any) -> dict[str, Any]:
    return {"status": "completed", "result": {"success": True, "content": content}, **fields}


async def ask_to_read(caller: Caller, home: Household, call_id: str = "call-1") -> str:
    """Ask as the household's agent; gives the id of the call."""
    answer = await caller.ask(
        "POST", f"{base(home)}/tools/execute", home.secrets[Role.AGENT], json=a_body(call_id)
    )
    assert answer.status == 200
    return answer.body["tool_id"]


async def report(
    caller: Caller, home: Household, tool_id: str, body: dict[str, Any] | None = None
) -> Answer:
    """Report as the household's client."""
    return await caller.ask(
        "POST",
        f"{base(home)}/tools/{tool_id}/result",
        home.secrets[Role.CLIENT],
        json=body or a_result(),
    )


async def add_token(store: SqliteStore, home: Household, **fields: Any) -> str:
    """A further token, the agent's unless said otherwise; gives its secret."""
    at = home.project.created_at
    secret = new_secret(Role.AGENT)
    values: dict[str, Any] = {
        "role": Role.AGENT,
        "subject": home.agent.subject,
        "user_id": home.user.user_id,
        "project_id": home.project.id,
        "workspace_id": home.workspace.id,
        "name": "further",
        "created_at": at,
        **fields,
    }
    token = Token(id=TokenId(mint("tok", at)), secret_hash=hash_secret(secret), **values)
    await store.submit(Change(home.project.id, at, (Add(token),)))
    return secret


async def add_machine(store: SqliteStore, home: Household) -> tuple[ClientId, str]:
    """A further client of the household's workspace, with its token."""
    at = home.project.created_at
    client = Client(ClientId(mint("cli", at)), home.project.id, home.workspace.id, "there", at)
    await store.submit(Change(home.project.id, at, (Add(client),)))
    return client.id, await add_token(store, home, role=Role.CLIENT, subject=client.id)


def a_write(
    call_id: str = "call-1", path: str = "notes.md", content: str = "hello\n", **fields: Any
) -> dict[str, Any]:
    """A request to write a file, which a person is asked about."""
    params = {"path": path, "content": content}
    return a_body(call_id) | {"tool_name": "write_file", "tool_params": params} | fields


async def ask_to_write(
    caller: Caller, home: Household, call_id: str = "call-1", **fields: Any
) -> dict[str, Any]:
    """Ask as the household's agent. Where no client is there, a person is asked at once."""
    answer = await caller.ask(
        "POST",
        f"{base(home)}/tools/execute",
        home.secrets[Role.AGENT],
        json=a_write(call_id, **fields),
    )
    assert answer.status == 200
    return answer.body


async def send_facts(
    caller: Caller, home: Household, approval_id: str, *, token: str | None = None, **body: Any
) -> Answer:
    """Tell what the household's machine holds."""
    return await caller.ask(
        "POST",
        f"{base(home)}/approvals/{approval_id}/facts",
        token or home.secrets[Role.CLIENT],
        json=body,
    )


async def ask_with_a_look(
    caller: Caller, home: Household, call_id: str = "call-1", **fields: Any
) -> dict[str, Any]:
    """Ask likewise, and have the household's machine looked at before a person is asked."""
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, home, call_id, **fields)
        seen = await send_facts(caller, home, asked["approval_id"], facts={"exists": False})
    assert seen.body["status"] == "awaiting_approval"
    return asked


async def approve(
    caller: Caller, home: Household, approval_id: str, *, token: str | None = None, **body: Any
) -> Answer:
    """Say yes, as the household's person unless another token is given."""
    return await caller.ask(
        "POST",
        f"{base(home)}/approvals/{approval_id}/approve",
        token or home.secrets[Role.USER],
        json={"decision": "approved", **body},
    )


async def reject(
    caller: Caller, home: Household, approval_id: str, *, token: str | None = None, **body: Any
) -> Answer:
    """Say no, likewise."""
    return await caller.ask(
        "POST",
        f"{base(home)}/approvals/{approval_id}/reject",
        token or home.secrets[Role.USER],
        json=body,
    )


async def show(caller: Caller, home: Household, path: str) -> Any:
    """What the household's person reads there."""
    answer = await caller.ask("GET", base(home) + path, home.secrets[Role.USER])
    assert answer.status == 200
    return answer.body
