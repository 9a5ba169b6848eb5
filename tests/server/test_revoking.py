"""A token that is good no more ends what is open under it, though nobody rings for it."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from handrail.bus.local import LocalBus
from handrail.core.access import Role, hash_secret
from handrail.core.change import Change, RevokeToken, StopAgent
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.server.conftest import (
    Caller,
    a_body,
    add_token,
    approve,
    ask_to_read,
    ask_to_write,
    base,
    show,
    until,
)


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """The same data, opened by somebody whose rings nobody here can hear."""
    store = SqliteStore(tmp_path / "handrail.db", LocalBus())
    await store.open()
    yield store
    await store.close()


async def revoke(store: SqliteStore, home: Household, secret: str) -> None:
    token = await store.find_token(hash_secret(secret))
    assert token is not None
    steps = (RevokeToken(token),)
    if token.role is Role.AGENT:
        steps = (*steps, StopAgent(home.project.id, token.subject))
    await store.submit(Change(home.project.id, home.project.created_at, steps))


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
async def test_an_open_stream_ends_soon_after_its_token(
    caller: Caller,
    household: Household,
    services: Services,
    elsewhere: SqliteStore,
    store: SqliteStore,
    role: Role,
) -> None:
    secret = await add_token(
        store,
        household,
        role=role,
        subject=household.client.subject if role is Role.CLIENT else household.user.subject,
    )
    async with caller.listen(household, secret) as stream:
        await revoke(elsewhere, household, secret)
        async with asyncio.timeout(10):
            assert await stream.read() is None

    assert services.connections.connected == frozenset()
    refused = await caller.ask("GET", f"{base(household)}/chat/stream", secret)
    assert refused.problem == (401, "urn:handrail:unauthenticated")


async def test_a_busy_stream_ends_with_its_token_too(
    caller: Caller, household: Household, store: SqliteStore, elsewhere: SqliteStore
) -> None:
    secret = await add_token(store, household, role=Role.USER, subject=household.user.subject)

    async def make_noise() -> None:
        for number in range(1_000):
            await ask_to_read(caller, household, f"call-{number}")
            await asyncio.sleep(0.02)

    async with caller.listen(household, secret) as stream:
        noise = asyncio.create_task(make_noise())
        await stream.event()
        await revoke(elsewhere, household, secret)
        async with asyncio.timeout(10):
            while await stream.read() is not None:
                pass
        noise.cancel()
        await asyncio.gather(noise, return_exceptions=True)


async def test_a_stream_ends_when_its_token_expires(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    secret = await add_token(
        store,
        household,
        role=Role.USER,
        subject=household.user.subject,
        expires_at=clock.now() + timedelta(hours=1),
    )
    async with caller.listen(household, secret) as stream:
        clock.advance(3600)
        async with asyncio.timeout(10):
            assert await stream.read() is None


async def test_streams_of_tokens_that_are_good_stay_open(
    caller: Caller, household: Household, store: SqliteStore, elsewhere: SqliteStore
) -> None:
    other = await add_token(store, household, role=Role.USER, subject=household.user.subject)
    async with caller.listen(household, household.secrets[Role.USER]) as stream:
        await revoke(elsewhere, household, other)
        await asyncio.sleep(1.5)
        tool_id = await ask_to_read(caller, household)
        assert (await stream.event())[2]["tool_id"] == tool_id


async def test_an_agent_that_waits_is_turned_away_and_what_it_has_begun_is_stopped(
    caller: Caller, household: Household, elsewhere: SqliteStore
) -> None:
    agent = household.secrets[Role.AGENT]
    question = (await ask_to_write(caller, household, "call-1"))["approval_id"]
    waiting = asyncio.create_task(
        caller.ask("POST", f"{base(household)}/tools/execute", agent, json=a_body(wait=3600) | {
            "session_id": "session-2", "call_id": "call-2",
        })
    )  # fmt: skip
    await asyncio.sleep(0.1)

    await revoke(elsewhere, household, agent)
    async with asyncio.timeout(10):
        answer = await waiting

    # Whichever is seen first: the token, or the end of its session.
    assert answer.status == 401 or answer.body["error_type"] == "cancelled"
    refused = await caller.ask("GET", f"{base(household)}/tools/executions", agent)
    assert refused.status == 401

    async def all_ended() -> bool:
        calls = (await show(caller, household, "/tools/executions"))["executions"]
        return [call["error_type"] for call in calls] == ["cancelled", "cancelled"]

    await until(all_ended)
    assert (await approve(caller, household, question)).status == 409
