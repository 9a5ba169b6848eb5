"""First steps: a folder made known, and a first call decided by a person."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handrail.app.clock import SystemClock
from handrail.app.doctor.home import ask_health
from handrail.app.enrol import enrol
from handrail.app.home import Credentials, Home
from handrail.app.proposals import Proposals
from handrail.app.run_both import while_up
from handrail.app.settings import DEFAULT_PORT, Settings
from handrail.app.storage import open_store
from handrail.app.tour import Chapter, Tour
from handrail.app.uninstall import TOUR_FOLDER
from handrail.bus.local import LocalBus
from handrail.client.api import HandrailApi
from handrail.core.access import hash_secret
from handrail.core.card import Card
from handrail.core.errors import NotFound
from handrail.core.ids import ProjectId, SessionId
from handrail.core.ports import Channel
from handrail.plane.decider import Decider
from handrail.plane.stopping import Stopper

HELLO = f"{TOUR_FOLDER}/hello.txt"
_CHAPTER = Chapter(
    "An agent wants to write a file",
    "write_file",
    {"path": HELLO, "content": "Hello from Handrail.\n"},
    "This is your first call: nothing is written until you say so.",
)


@dataclass(frozen=True, slots=True)
class Settled:
    """A folder that is known now; `is_new` when it was not before."""

    credentials: Credentials
    is_new: bool


async def settle(settings: Settings, workspace: Path) -> Settled:
    """Make a folder known. What is known already stays as it is."""
    home = Home(settings.home)
    before = _find_credentials(home, workspace)
    address = before.server if before is not None else await _address(home, settings)
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, SystemClock(), home, workspace, address)
    return Settled(known, is_new=before is None or before.client_token != known.client_token)


def _find_credentials(home: Home, workspace: Path) -> Credentials | None:
    return home.find_credentials(workspace.resolve())


class FirstCall:
    """One harmless write, asked for by a played agent and decided by whoever sits there."""

    def __init__(self, settings: Settings, workspace: Path, channel: Channel):
        self._settings = settings
        self._workspace = workspace
        self._channel = channel
        self._answer: dict[str, Any] | None = None
        self._session: str | None = None

    async def make(self, on_question: Callable[[Card], None]) -> dict[str, Any] | None:
        """What became of it; None when it was broken off, and then nothing of it is left."""

        async def visit(known: Credentials) -> None:
            async with (
                HandrailApi(known.server, known.project_id, known.agent_token) as agent,
                HandrailApi(known.server, known.project_id, known.user_token) as person,
            ):
                self._session = f"tour-{secrets.token_hex(4)}"
                proposals = Proposals(
                    agent, person, self._session, self._channel, on_question=on_question
                )
                self._answer = await Tour(proposals, auto=False).play(1, _CHAPTER)

        try:
            await while_up(self._settings, self._workspace, visit)
        finally:
            if self._answer is None and self._session is not None:
                await self._take_back(SessionId(self._session))
        return self._answer

    async def _take_back(self, session_id: SessionId) -> None:
        """End what was asked for: nobody shall find an old question at the next start."""
        home = Home(self._settings.home)
        known = home.get_credentials(self._workspace)
        async with open_store(home, LocalBus()) as store:
            token = await store.find_token(hash_secret(known.user_token))
            if token is None:
                return
            decider = Decider(token.principal, ProjectId(known.project_id), "terminal")
            try:
                await Stopper(store, SystemClock()).stop_session(session_id, decider)
            except NotFound:
                return  # It was broken off before anything was asked.


def remove_hello(workspace: Path) -> None:
    """Take away what the first call wrote, and its folder if nothing else is in it."""
    try:
        (workspace / HELLO).unlink(missing_ok=True)
        (workspace / TOUR_FOLDER).rmdir()
    except OSError:
        return


async def _address(home: Home, settings: Settings) -> str:
    """Where the server of this folder is, or will be."""
    for known in home.list_credentials():
        if await asyncio.to_thread(ask_health, known.server) is not None:
            return known.server
    there = replace(settings, port=settings.port or DEFAULT_PORT)
    host = f"[{there.host}]" if ":" in there.host else there.host
    return f"http://{host}:{there.port}"
