"""What every store promises about sessions that are not trusted, and about results."""

from datetime import timedelta
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.change import Advance, ClearTaint, OpenCall, OpenSession, TaintSession
from handrail.core.errors import ChangeRefused
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant_steps import UseGrant
from handrail.core.ids import OWN_AGENT, SessionId
from handrail.core.project import Session
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import OpenStore, a_call, a_session, moving, opening
from tests.contracts.test_store_approvals import give
from tests.contracts.test_store_ends import do, open_call, refused

SESSION = SessionId("session-1")
BY = "read_file notes.md"


async def taint(store: SqliteStore, home: Household, call: ToolExecution, by: str = BY) -> None:
    await do(store, home, TaintSession(call, by), after_seconds=9)


async def session_of(store: SqliteStore, home: Household) -> Session:
    place = await store.find_place(home.project.id, SESSION)
    assert place is not None
    return place.session


async def told(
    store: SqliteStore, home: Household, call_id: str, seconds: int = 0, **fields: Any
) -> ToolExecution:
    """A call that has ended with something to tell."""
    at = home.project.created_at + timedelta(seconds=seconds)
    call = await open_call(store, home, call_id, created_at=at)
    handed = call.assign(home.client_id, at)
    ended = handed.advance(Status.COMPLETED, at, **fields)
    for before, after in ((call, handed), (handed, ended)):
        await store.submit(moving(Advance(before, after)))
    return ended


async def test_a_taint_is_seen_by_everyone_and_the_first_one_counts(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    first = await open_call(store, household)
    second = await open_call(store, household, "call-2")
    # Kept in memory, it must not outlive the change.
    assert (await session_of(store, household)).tainted_at is None

    await taint(store, household, first)
    await taint(store, household, second, "something else")

    at = household.project.created_at + timedelta(seconds=9)
    expected = a_session(household, tainted_at=at, tainted_by=BY, tainted_call=first.id)
    for reader in (store, await open_store(LocalBus())):
        assert await session_of(reader, household) == expected
        assert await reader.list_tainted(household.project.id) == [expected]


async def test_other_sessions_and_projects_are_left_alone(
    store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    call = await open_call(store, household)
    await open_call(store, household, "other", session_id=SessionId("session-2"))
    await open_call(store, neighbour)

    await taint(store, household, call._replace(agent_id=OWN_AGENT))

    other = await store.find_place(household.project.id, SessionId("session-2"))
    assert other is not None
    assert other.session.tainted_at is None
    assert (await session_of(store, neighbour)).tainted_at is None
    assert await store.list_tainted(neighbour.project.id) == []


async def test_it_is_cleared_once(store: SqliteStore, household: Household) -> None:
    await taint(store, household, await open_call(store, household))

    await do(store, household, ClearTaint(a_session(household)))

    assert await session_of(store, household) == a_session(household)
    assert await store.list_tainted(household.project.id) == []
    await refused(store, household, ClearTaint(a_session(household)))
    await refused(store, household, ClearTaint(a_session(household, "session-9")))


async def test_a_call_that_was_judged_before_the_taint_does_not_enter(
    store: SqliteStore, household: Household
) -> None:
    await taint(store, household, await open_call(store, household))
    late = a_call(household, "late")

    with pytest.raises(ChangeRefused):
        await store.submit(opening(late, household))
    assert await store.find_execution(late.id) is None

    session = OpenSession(a_session(household))
    await do(store, household, session, OpenCall(late, "{}", judged_tainted=True))
    assert await store.find_execution(late.id) is not None


async def test_no_grant_is_used_while_its_session_is_tainted(
    store: SqliteStore, household: Household
) -> None:
    call = await open_call(store, household)
    grant = await give(store, household)
    await taint(store, household, call)

    await refused(store, household, UseGrant(grant, grant.session_id))

    await do(store, household, ClearTaint(a_session(household)))
    await do(store, household, UseGrant(grant, grant.session_id))


async def test_a_lasting_answer_is_used_only_by_sessions_that_are_not_tainted(
    store: SqliteStore, household: Household
) -> None:
    call = await open_call(store, household)
    grant = await give(store, household, agent_id=call.agent_id)
    await taint(store, household, call)

    await refused(store, household, UseGrant(grant, call.session_id))
    await do(store, household, UseGrant(grant, SessionId("another")))


async def test_what_was_suspicious_is_kept_with_the_call(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    found = {"source": BY, "score": 1.5, "findings": [{"rule": "a", "line": 3}]}

    ended = await told(store, household, "call-1", result={"output": "x"}, suspicion=found)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_execution(ended.id) == ended


async def test_results_come_newest_first_and_without_calls_that_tell_nothing(
    store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    first = await told(store, household, "call-1", 1, result={"output": "a"})
    second = await told(store, household, "call-2", 2, error="b")
    await open_call(store, household, "call-3")
    await open_call(store, household, "other", session_id=SessionId("session-2"))
    await told(store, neighbour, "call-1", 4, result={"output": "c"})

    found = await store.list_results(household.project.id, SESSION, limit=50, most_chars=1000)
    latest = await store.list_results(household.project.id, SESSION, limit=1, most_chars=1000)

    assert found == [second, first]
    assert latest == [second]


async def test_results_are_given_until_they_are_too_much(
    store: SqliteStore, household: Household
) -> None:
    calls = [
        await told(store, household, f"call-{n}", n, result={"output": "x" * 1000})
        for n in range(4)
    ]

    found = await store.list_results(household.project.id, SESSION, limit=50, most_chars=1_500)
    least = await store.list_results(household.project.id, SESSION, limit=50, most_chars=1)

    assert found == [calls[3], calls[2]]
    assert least == [calls[3]]
