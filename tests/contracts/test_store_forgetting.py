"""What every store promises about deleted conversations: the words go, the decisions stay."""

import pytest

from handrail.core.blob import Blob, BlobHold, Purpose
from handrail.core.change import (
    Advance,
    Change,
    ForgetTalk,
    KeepBlob,
    OpenRun,
    Say,
    Step,
    StopSession,
    UseBlob,
)
from handrail.core.errors import ChangeRefused
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import SessionId
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_session, moving, opening
from tests.contracts.test_store_chat import a_run, said

BLOB = Blob("0123456789abcdef" * 4, 2_000_000)
SESSION = SessionId("session-1")


async def do(store: SqliteStore, home: Household, *steps: Step) -> None:
    await store.submit(Change(home.project.id, home.project.created_at, steps))


async def a_talk(store: SqliteStore, home: Household, session_id: SessionId) -> ToolExecution:
    """A conversation in which a call has brought something back; the call."""
    call = a_call(home, session_id=session_id, reasoning="to see")
    await store.submit(opening(call, home))
    run = a_run(home, session_id)
    await do(store, home, OpenRun(run), Say(said(run, 1)))
    at = call.created_at
    hold = BlobHold(home.project.id, *BLOB, home.agent.subject, Purpose.UPLOAD, at)
    held = BlobHold(home.project.id, *BLOB, call.id, Purpose.RESULT, at)
    await do(store, home, KeepBlob(hold), UseBlob(held))
    handed = call.assign(home.client_id, at)
    suspicion = {"source": "read_file", "score": 1.0, "findings": [{"excerpt": "obey"}]}
    ended = handed.advance(Status.COMPLETED, at, result={"output": "words"}, suspicion=suspicion)
    await store.submit(moving(Advance(call, handed)))
    await store.submit(moving(Advance(handed, ended)))
    return ended


async def test_what_was_said_and_brought_back_goes_and_what_was_asked_stays(
    store: SqliteStore, household: Household
) -> None:
    call = await a_talk(store, household, SESSION)
    session = a_session(household, SESSION)

    await do(store, household, StopSession(session), ForgetTalk(session))

    project_id = household.project.id
    assert await store.list_messages(project_id, SESSION, after=0, limit=10) == []
    assert (await store.list_talks(project_id, limit=10), await store.list_running()) == ([], [])
    left = await store.find_execution(call.id)
    assert left == call._replace(result=None, suspicion=None, reasoning=None)
    assert await store.list_oldest_results(project_id, limit=10) == []


async def test_other_sessions_are_left_alone(store: SqliteStore, household: Household) -> None:
    other = SessionId("session-2")
    await a_talk(store, household, SESSION)
    call = await a_talk(store, household, other)

    await do(store, household, StopSession(a_session(household)), ForgetTalk(a_session(household)))

    assert await store.find_execution(call.id) == call
    (held,) = await store.list_oldest_results(household.project.id, limit=10)
    assert held.holder == call.id
    (message,) = await store.list_messages(household.project.id, other, after=0, limit=10)
    assert message.session_id == other


async def test_a_session_that_goes_on_is_not_forgotten(
    store: SqliteStore, household: Household
) -> None:
    session = a_session(household)
    await a_talk(store, household, SESSION)
    with pytest.raises(ChangeRefused):
        await do(store, household, ForgetTalk(session))

    await store.submit(opening(a_call(household, "call-2"), household))
    with pytest.raises(ChangeRefused):
        await do(store, household, StopSession(session), ForgetTalk(session))

    assert len(await store.list_messages(household.project.id, SESSION, after=0, limit=10)) == 1
