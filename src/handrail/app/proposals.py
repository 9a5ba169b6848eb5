"""Proposals: calls of a command of ours, which a person decides about here or on another screen."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import msgspec

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.card import Card, Choice
from handrail.core.execution import FINAL
from handrail.core.ports import Channel

T = TypeVar("T")

_STEP_SECONDS = 0.5
_PATIENCE_SECONDS = 120.0
_ENDED = {str(status) for status in FINAL}


class Proposal(NamedTuple):
    tool_name: str
    tool_params: dict[str, Any]
    call_id: str
    reasoning: str | None = None


class Proposals:
    """The calls of one session, asked for by `asker` and decided about by `person`.

    `on_question` is called with the card when a call waits for a person, `on_silence` when the
    server does not answer: a call is seen through as soon as it is back.
    """

    def __init__(
        self,
        asker: HandrailApi,
        person: HandrailApi,
        session_id: str,
        channel: Channel | None,
        *,
        on_question: Callable[[Card], None] = lambda card: None,
        on_silence: Callable[[], None] = lambda: None,
    ):
        self.session_id = session_id
        self._asker = asker
        self._person = person
        self._channel = channel
        self._on_question = on_question
        self._on_silence = on_silence

    async def propose(self, proposal: Proposal, answer: Choice | None = None) -> dict[str, Any]:
        """Ask for a call and wait for its end; with an `answer`, the person is not asked."""

        async def ask() -> dict[str, Any]:
            return await self._asker.execute(
                proposal.tool_name,
                proposal.tool_params,
                session_id=self.session_id,
                call_id=proposal.call_id,
                reasoning=proposal.reasoning,
                wait=_STEP_SECONDS,
            )

        call = await self._insist(ask)
        async with asyncio.TaskGroup() as group:
            deciding: asyncio.Task[None] | None = None
            while call["status"] not in _ENDED:
                if call["status"] == "awaiting_approval" and deciding is None:
                    deciding = group.create_task(self._decide(call["approval_id"], answer))
                call = await self._insist(ask)
            if deciding is not None:
                deciding.cancel()
        return call

    async def _decide(self, approval_id: str, answer: Choice | None) -> None:
        found = await self._insist(lambda: self._person.get(f"/approvals/{approval_id}"))
        card = await self._person.unmask(msgspec.convert(found, Card))
        self._on_question(card)
        choice = answer
        if choice is None and self._channel is not None:
            choice = await self._channel.ask(card)
        if choice is None:
            return
        name = "tour" if self._channel is None else self._channel.name
        # Another screen may have been faster; the call tells.
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
