"""What every store promises about tokens: they are found, listed, and taken back once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from handrail.bus.local import LocalBus
from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import AuditRecord, find_break
from handrail.core.change import Add, Change, OpenSession, RevokeToken, Step, StopAgent
from handrail.core.errors import ChangeRefused
from handrail.core.ids import SessionId, TokenId, mint
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import OpenStore, a_call, a_grant, a_session, opening

MINUTE = timedelta(minutes=1)


async def do(store: SqliteStore, home: Household, *steps: Step) -> None:
    """One change, a minute after the household has settled in, with a line that proves it."""
    at = home.project.created_at + MINUTE
    line = AuditRecord("it.happened", "somebody", "something")
    await store.submit(Change(home.project.id, at, steps, audit=(line,)))


async def token_of(store: SqliteStore, home: Household, role: Role) -> Token:
    found = await store.find_token(hash_secret(home.secrets[role]))
    assert found is not None
    return found


def successor_of(token: Token) -> Token:
    at = token.created_at + MINUTE
    secret = new_secret(token.role)
    return replace(
        token, id=TokenId(mint("tok", at)), secret_hash=hash_secret(secret), created_at=at
    )


async def test_the_tokens_of_a_user_are_listed_oldest_first_and_nobody_elses(
    store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    await settle_in(store, clock, "bob", "/elsewhere")
    own = {role: await token_of(store, household, role) for role in Role}
    later = successor_of(own[Role.USER])
    await do(store, household, Add(later))

    listed = await store.list_tokens(household.project.user_id)

    assert listed[-1] == later
    assert sorted(listed[:-1], key=lambda token: token.id) == sorted(
        own.values(), key=lambda token: token.id
    )


async def test_a_token_is_revoked_once_and_stays_on_the_list(
    store: SqliteStore, household: Household
) -> None:
    token = await token_of(store, household, Role.AGENT)

    await do(store, household, RevokeToken(token))

    revoked = await token_of(store, household, Role.AGENT)
    assert revoked == replace(token, revoked_at=household.project.created_at + MINUTE)
    assert revoked in await store.list_tokens(household.project.user_id)
    with pytest.raises(ChangeRefused):
        await do(store, household, RevokeToken(revoked))


async def test_an_exchange_is_stored_whole_or_not_at_all(
    store: SqliteStore, household: Household
) -> None:
    token = await token_of(store, household, Role.CLIENT)
    first, second = successor_of(token), successor_of(token)

    await do(store, household, RevokeToken(token), Add(first))
    with pytest.raises(ChangeRefused):
        await do(store, household, Add(second), RevokeToken(token))

    assert await store.find_token(first.secret_hash) == first
    assert await store.find_token(second.secret_hash) is None
    lines = await store.read_audit(household.project.id, after=0, limit=9)
    assert (len(lines), find_break(lines)) == (2, None)


async def test_a_revocation_is_seen_at_once_through_another_store(
    open_store: OpenStore, household: Household
) -> None:
    here, there = await open_store(LocalBus()), await open_store(LocalBus())
    token = await token_of(here, household, Role.USER)

    await do(there, household, RevokeToken(token))

    assert (await token_of(here, household, Role.USER)).revoked_at is not None


async def test_stopping_an_agent_stops_its_sessions_and_no_one_elses(
    open_store: OpenStore, household: Household
) -> None:
    here, there = await open_store(LocalBus()), await open_store(LocalBus())
    other = a_session(household, "session-2")
    await here.submit(opening(a_call(household), household))
    await do(here, household, OpenSession(replace(other, opened_by="agt_other")))
    grants = [
        a_grant(household),
        a_grant(household, agent_id=household.agent.subject),
        a_grant(household, session_id=SessionId("session-2")),
    ]
    await do(here, household, *map(Add, grants))
    assert await here.find_place(household.project.id, SessionId("session-1")) is not None

    await do(there, household, StopAgent(household.project.id, household.agent.subject))
    await do(there, household, StopAgent(household.project.id, household.agent.subject))

    with pytest.raises(ChangeRefused):
        await here.submit(opening(a_call(household, "call-2"), household))
    stopped, untouched = [
        await here.find_place(household.project.id, SessionId(name))
        for name in ("session-1", "session-2")
    ]
    assert stopped is not None
    assert stopped.session.stopped_at == household.project.created_at + MINUTE
    assert untouched is not None
    assert untouched.session.stopped_at is None
    assert [call.call_id for call in await here.list_left_in_stopped()] == ["call-1"]
    listed = await here.list_grants(household.project.id, session_id=None)
    assert {one.id: one.revoked_at is not None for one in listed} == {
        grants[0].id: True,
        grants[1].id: True,
        grants[2].id: False,
    }
