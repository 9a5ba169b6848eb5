"""A call that a person makes: its question is put to them here, and its end is waited for."""

import asyncio
import secrets
from typing import Any

from handrail.client.api import HandrailApi
from handrail.client.asking import Asking, Resolved
from handrail.core.card import Card
from handrail.core.execution import FINAL, Status
from handrail.core.ports import Channel

_LOOKS_EVERY_SECONDS = 0.3


async def make_call(
    api: HandrailApi,
    tool_name: str,
    params: dict[str, Any],
    session_id: str,
    channel: Channel | None = None,
) -> dict[str, Any]:
    """The call when it has ended, or if it waits for an answer that is not given here.

    Raises:
        ApiError: The server refuses it.
        ServerUnreachable: The server does not answer.
    """
    call_id = f"person-{secrets.token_hex(8)}"
    call = await api.execute(tool_name, params, session_id=session_id, call_id=call_id, wait=1)
    asking = Asking(api, channel)
    showing: asyncio.Task[None] | None = None
    shown: set[tuple[str, tuple[str, ...]]] = set()
    async with asyncio.TaskGroup() as group:
        try:
            while call["status"] not in FINAL:
                waits = call["status"] == Status.AWAITING_APPROVAL
                if waits and channel is None:
                    break
                if waits and (showing is None or not showing.done()):
                    for card in await _new_cards(api, call, shown):
                        showing = group.create_task(asking.ask(card))
                elif not waits and call["approval_id"]:
                    asking.close(Resolved(call["approval_id"], "answered"))
                await asyncio.sleep(_LOOKS_EVERY_SECONDS)
                was_left = showing is not None and showing.done()
                call = await api.get(f"/tools/{call['tool_id']}")
                if was_left and call["status"] == Status.AWAITING_APPROVAL:
                    break
        finally:
            asking.dispose()
    return call


async def _new_cards(
    api: HandrailApi, call: dict[str, Any], shown: set[tuple[str, tuple[str, ...]]]
) -> list[Card]:
    """The open question about a call, if it has not been shown like this."""
    cards = [one for one in await api.pending_approvals() if one.tool_id == call["tool_id"]]
    new = [card for card in cards if (card.digest, card.notes) not in shown]
    shown |= {(card.digest, card.notes) for card in new}
    return new
