"""A person who answers every question in the same way, and remembers what was asked."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from handrail.client.api import ApiError, HandrailApi
from handrail.core.card import Card, Choice
from tests.journeys.conftest import Rig


@asynccontextmanager
async def answering(rig: Rig, choice: Choice) -> AsyncGenerator[list[Card]]:
    """Answer all questions until the end of the block; the list grows by each that was answered."""
    known, answered = rig.credentials, list[Card]()
    async with HandrailApi(known.server, known.project_id, known.user_token) as api:
        task = asyncio.create_task(_answer_all(api, choice, answered))
        try:
            yield answered
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _answer_all(api: HandrailApi, choice: Choice, answered: list[Card]) -> None:
    while True:
        for masked in await api.pending_approvals():
            try:
                card = await api.unmask(masked)
                await api.decide(card, choice, channel="journey")
            except ApiError:
                # Its facts came meanwhile, or it has ended; the next round shows which.
                continue
            answered.append(card)
        await asyncio.sleep(0.05)
