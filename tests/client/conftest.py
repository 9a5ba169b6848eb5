"""Signals as a server would send them, and a machine and a person that can be made to wait."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from handrail.client.api import HandrailApi
from handrail.client.asking import Asking
from handrail.client.handler import ToolHandler
from handrail.client.journal import Journal
from handrail.client.messages import Signal
from handrail.client.review import Reviewer
from handrail.client.streaming import StreamingClient
from handrail.core.access import Role
from handrail.core.audit import canonical
from handrail.core.card import Card, Choice
from handrail.core.digest import digest_call
from handrail.core.errors import FileOperationError
from handrail.core.hands import Commands, FileContent, Files, FileState, Hands
from handrail.core.ids import ClientId
from handrail.core.ports import Channel
from handrail.core.project import Autonomy
from handrail.core.tool import JsonObject
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.server.app import create_app
from handrail.server.services import Services
from handrail.testing import FakeClock, FakeCommands, FakeFiles
from handrail.tools.catalogue import builtin_registry
from tests.conftest import Household

SALT = "salt"


@pytest.fixture(autouse=True)
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made in passing lies where pytest clears it away."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def a_journal() -> Journal:
    """The journal of a machine that has done nothing yet."""
    return Journal(Path(tempfile.mkdtemp(prefix="journal-")))


class SlowFiles(FakeFiles):
    """Files that take until `let_go` is set to be read; counts reads, and how many at once."""

    def __init__(self, files: Mapping[str, bytes], *, slow: bool = True):
        super().__init__(files)
        self.let_go = asyncio.Event()
        if not slow:
            self.let_go.set()
        self.read_paths: list[str] = []
        self.at_once = 0
        self.most_at_once = 0

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        self.read_paths.append(path)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await self.let_go.wait()
        finally:
            self.at_once -= 1
        if path not in self.files:
            raise FileOperationError(f"{path} does not exist")
        return FileContent(self.files[path], len(self.files[path]))


def a_signal(tool_id: str = "exe_1", path: str = "README.md", **fields: Any) -> Signal:
    """A good signal to read a file."""
    params: dict[str, Any] = {"path": path}
    digest = digest_call(SALT, "read_file", canonical(params), Plan(paths=(path,)))
    values: dict[str, Any] = {
        "tool_id": tool_id,
        "tool_name": "read_file",
        "tool_params": params,
        "digest": digest,
        "salt": SALT,
        "epoch": 1,
        "status": "executing",
        "risk_level": "LOW",
        **fields,
    }
    return Signal(**values)


async def until(reached: Callable[[], Awaitable[bool] | bool]) -> None:
    """Wait for what happens in its own time."""
    async with asyncio.timeout(10):
        while True:
            answer = reached()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.002)


def facts_of(found: bytes | None, path: str = "notes.md") -> JsonObject:
    """What a survey sees of a file with that content, or of none."""
    state = FileState(exists=False) if found is None else FileContent(found, len(found)).state
    return {f"the file {path}": state.as_facts()}


def a_change(
    tool_id: str = "exe_1",
    path: str = "notes.md",
    content: str = "new\n",
    *,
    found: bytes | None = b"old\n",
    **fields: Any,
) -> Signal:
    """A good signal to write a file that was seen to hold `found`, to be claimed first."""
    params: dict[str, Any] = {"path": path, "content": content}
    surveyed = fields.get("surveyed", True)
    facts = facts_of(found, path) if surveyed else None
    digest = digest_call(SALT, "write_file", canonical(params), Plan(paths=(path,)), facts)
    values: dict[str, Any] = {
        "tool_name": "write_file",
        "tool_params": params,
        "digest": digest,
        "status": "approved",
        "risk_level": "MEDIUM",
        "surveyed": surveyed,
        **fields,
    }
    return a_signal(tool_id, path, **values)


class PatientPerson:
    """Somebody who looks at every card until they are made to `choose`."""

    name = "desk"

    def __init__(self) -> None:
        self.cards: list[Card] = []
        self.told: list[str] = []
        self.taken_away: list[str] = []
        self._thinking: dict[str, asyncio.Future[Choice | None]] = {}

    @property
    def looking_at(self) -> list[str]:
        return list(self._thinking)

    async def ask(self, card: Card) -> Choice | None:
        self.cards.append(card)
        self._thinking[card.approval_id] = asyncio.get_running_loop().create_future()
        try:
            return await self._thinking[card.approval_id]
        except asyncio.CancelledError:
            self.taken_away.append(card.approval_id)
            raise
        finally:
            del self._thinking[card.approval_id]

    def tell(self, words: str) -> None:
        self.told.append(words)

    async def sees_a_card(self, count: int = 1) -> Card:
        """Wait until so many cards have been shown; gives the last."""
        await until(lambda: len(self.cards) >= count)
        return self.cards[count - 1]

    def choose(self, card: Card, choice: Choice | None) -> None:
        self._thinking[card.approval_id].set_result(choice)


Way = Callable[[ASGIApp, AsgiScope, Receive, Send], Awaitable[None]]


class Meddler:
    """Sits between server and client: each request for such a path goes its own way.

    When there are no ways left, requests pass untouched.
    """

    def __init__(self, app: ASGIApp, path_end: str, ways: Sequence[Way]):
        self._app = app
        self._path_end = path_end
        self._ways = list(ways)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].endswith(self._path_end) or not self._ways:
            await self._app(scope, receive, send)
            return
        await self._ways.pop(0)(self._app, scope, receive, send)


def meddled(services: Services, path_end: str, *ways: Way) -> Starlette:
    """The application with somebody sitting in the line to it."""
    app = create_app(services)
    app.add_middleware(Meddler, path_end=path_end, ways=ways)
    return app


async def lose_answer(app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> None:
    """Let the request through, and hang up in the middle of the answer."""

    async def send_in_part(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)

    await app(scope, receive, send_in_part)


def turn_away(status: int) -> Way:
    """Answer in the server's place."""

    async def answer(app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await JSONResponse({"detail": "not now"}, status)(scope, receive, send)

    return answer


@asynccontextmanager
async def a_client(
    server: str,
    home: Household,
    files: Files,
    person: Channel | None = None,
    *,
    machine: tuple[ClientId, str] | None = None,
    commands: Commands | None = None,
    scene: Scene | None = None,
    announce: Callable[[bool], None] = lambda up: None,
    journal: Journal | None = None,
) -> AsyncGenerator[ToolHandler]:
    """The household's client, or another of its machines, while the context is open."""
    hands = Hands(files, commands or FakeCommands({}))
    scene = scene or Scene(home.workspace.root, Autonomy.FULL, isolated=False)
    reviewer = Reviewer(builtin_registry(), scene, hands)
    who, secret = machine or (home.client_id, home.secrets[Role.CLIENT])
    async with HandrailApi(server, home.project.id, secret) as api:
        asking = Asking(api, person)
        notes = journal or a_journal()
        handlers: list[ToolHandler] = []

        def handler(line: StreamingClient) -> ToolHandler:
            handlers.append(ToolHandler(reviewer, FakeClock(), line, asking, notes))
            return handlers[0]

        async def is_connected() -> bool:
            found = (await api.get("/clients"))["clients"]
            return any(one["connected"] for one in found if one["client_id"] == who)

        running = asyncio.create_task(StreamingClient(api, handler, asking, announce).run())
        try:
            await until(is_connected)
            yield handlers[0]
            assert not running.done(), "the client has ended by itself"
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
