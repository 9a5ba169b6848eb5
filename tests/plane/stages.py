"""Calls brought to a stage of their life; whatever client was needed on the way has left since."""

from typing import Any

from handrail.core.execution import ToolExecution
from handrail.plane.dispatch import Claim
from handrail.server.services import Services
from tests.conftest import Household
from tests.plane.conftest import KEY, approve_in_full, ask_unseen, connected, now_of


async def approved(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> ToolExecution:
    """A write that a person has approved, and no client was there to take."""
    question = await ask_unseen(services, home, call_id, **words)
    await approve_in_full(services, question, home)
    return await now_of(services.store, question.execution_id)


async def offered(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> ToolExecution:
    """A write that was approved and offered to the household's client."""
    question = await ask_unseen(services, home, call_id, **words)
    with connected(services, home.client):
        await approve_in_full(services, question, home)
    return await now_of(services.store, question.execution_id)


async def begun(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> ToolExecution:
    """A write that the household's client has claimed."""
    waiting = await offered(services, home, call_id, **words)
    return await services.dispatcher.claim(
        waiting.id, Claim(waiting.epoch, KEY), home.client, home.project.id
    )
