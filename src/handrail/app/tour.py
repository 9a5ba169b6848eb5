"""The tour: a played agent asks for real calls, and a person decides about them."""

import asyncio
import json
import secrets
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.card import Card, Choice
from handrail.core.execution import FINAL
from handrail.core.ports import Channel
from handrail.executors.processes.programs import SEARCH_PATH

T = TypeVar("T")

_STEP_SECONDS = 0.5
_PATIENCE_SECONDS = 120.0
_YES = Choice(approved=True)
_ENDED = {str(status) for status in FINAL}


@dataclass(frozen=True, slots=True)
class Chapter:
    """One call of the tour; `answer` is what the tour says itself where it is to decide."""

    story: str
    tool_name: str
    tool_params: dict[str, Any]
    reasoning: str
    answer: Choice = _YES


def chapters(workspace: Path) -> list[Chapter]:
    """The four stories Handrail was built for."""
    settings = json.dumps({"greeting": "hello", "tour": secrets.token_hex(2)}, indent=2) + "\n"
    return [
        Chapter(
            "An agent reads a file",
            "read_file",
            {"path": _something_to_read(workspace), "limit": 20},
            "I want to know what this project is.",
        ),
        Chapter(
            "An agent wants to change a file",
            "write_file",
            {"path": "handrail-tour/config.json", "content": settings},
            "The tour needs a file to show you.",
        ),
        _command_to_run(),
        Chapter(
            "An agent tries something dangerous",
            "execute_command",
            {"command": "rm", "args": ["-rf", "/"]},
            "I want to tidy up.",
        ),
    ]


def _command_to_run() -> Chapter:
    """Installing a package, where there is what installs it: the card names the hosts."""
    title = "An agent wants to run a command"
    if shutil.which("npm", path=":".join(SEARCH_PATH)) is None:
        return Chapter(
            title,
            "execute_command",
            {"command": "mkdir", "args": ["-p", "handrail-tour/build"]},
            "I want to put things there.",
            Choice(approved=False, reason="there is nothing to build"),
        )
    return Chapter(
        title,
        "execute_command",
        {"command": "npm", "args": ["install", "express"], "timeout": 300},
        "I could use a web framework.",
        Choice(approved=False, reason="this project needs no web framework"),
    )


def _something_to_read(workspace: Path) -> str:
    names = sorted(
        path.name for path in workspace.iterdir() if path.is_file() and path.name[0] != "."
    )
    return "README.md" if "README.md" in names else next(iter(names), "README.md")


class Tour:
    """Plays the agent, and with `auto` the person as well.

    `on_question` is called with the card when a call waits for a person, `on_silence` when the
    server does not answer: the tour waits until it is back.
    """

    def __init__(
        self,
        agent: HandrailApi,
        person: HandrailApi,
        channel: Channel | None,
        *,
        auto: bool,
        on_question: Callable[[Card], None],
        on_silence: Callable[[], None],
    ):
        self._agent = agent
        self._person = person
        self._channel = channel
        self._auto = auto
        self._on_question = on_question
        self._on_silence = on_silence
        self.session = f"tour-{secrets.token_hex(4)}"

    async def play(self, number: int, chapter: Chapter) -> dict[str, Any]:
        """Ask for one call and see it through; what became of it."""

        async def ask() -> dict[str, Any]:
            return await self._agent.execute(
                chapter.tool_name,
                chapter.tool_params,
                session_id=self.session,
                call_id=f"call-{number}",
                reasoning=chapter.reasoning,
                wait=_STEP_SECONDS,
            )

        answer = await self._insist(ask)
        async with asyncio.TaskGroup() as group:
            deciding: asyncio.Task[None] | None = None
            while answer["status"] not in _ENDED:
                if answer["status"] == "awaiting_approval" and deciding is None:
                    deciding = group.create_task(
                        self._decide(answer["approval_id"], chapter.answer)
                    )
                answer = await self._insist(ask)
            if deciding is not None:
                deciding.cancel()
        return answer

    async def _decide(self, approval_id: str, scripted: Choice) -> None:
        found = await self._insist(lambda: self._person.get(f"/approvals/{approval_id}"))
        card = await self._person.unmask(msgspec.convert(found, Card))
        self._on_question(card)
        choice = scripted if self._auto else None
        if self._channel is not None and not self._auto:
            choice = await self._channel.ask(card)
        if choice is None:
            return
        name = "tour" if self._channel is None else self._channel.name
        # Somebody else may have been faster; the call tells.
        with suppress(ApiError):
            await self._insist(lambda: self._person.decide(card, choice, channel=name))

    async def _insist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer: the server may be killed and started again meanwhile."""
        waited = 0.0
        while True:
            try:
                return await ask()
            except ServerUnreachable:
                if waited == 0.0:
                    self._on_silence()
                if waited > _PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(_STEP_SECONDS)
                waited += _STEP_SECONDS
