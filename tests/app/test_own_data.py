"""A person takes all of their data along, and what they want gone is gone from the disk."""

import io
import json
from pathlib import Path

import pytest

from handrail.app.audit import verify
from handrail.app.home import Home
from handrail.app.own_data import (
    Deleted,
    Share,
    delete_own_data,
    export_own_data,
    find_person,
)
from handrail.core.change import Change, KeepMemory, OpenRun, OpenSession, Say
from handrail.core.conversation import Speaker, Text, Utterance
from handrail.core.errors import SetupError
from handrail.core.execution import Status
from handrail.core.ids import SessionId
from handrail.core.memory import Memory
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.contracts.conftest import a_call, opening
from tests.contracts.test_store_chat import a_run, a_session, said

TALK, FOREIGN = SessionId("talk-1"), SessionId("session-1")
SECRET = Utterance(Speaker.USER, (Text("my diagnosis is half a character: \ud83d"),))


@pytest.fixture
async def home(store: SqliteStore, household: Household, tmp_path: Path) -> Home:
    """A conversation, a call of another agent, and a memory."""
    run, at = a_run(household, TALK), household.project.created_at
    memory = Memory("health", "the cholesterol", "general", at, at)
    steps = (
        OpenSession(a_session(household, TALK)),
        OpenRun(run),
        Say(said(run, 1, SECRET)),
        KeepMemory(household.project.user_id, memory),
    )
    await store.submit(Change(household.project.id, at, steps))
    ended = a_call(household, status=Status.COMPLETED, result={"output": "xylophone"})
    await store.submit(opening(ended, household))
    (tmp_path / "handrail.db.before-0010-was-0009").write_text("all of it")
    return Home(tmp_path)


def lines_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


async def test_an_export_holds_all_of_it_and_says_where_it_ends(
    home: Home, household: Household
) -> None:
    person = await find_person(home, household.project.id)
    output = io.StringIO()

    written = export_own_data(home, person.user_id, output)

    first, *between, last = lines_of(output.getvalue())
    assert (first["kind"], first["user_id"]) == ("handrail data 1", person.user_id)
    assert last == {"kind": "end", "lines": len(between)}
    assert written.total() == len(between)
    assert (written["message"], written["call"], written["memory"]) == (1, 1, 1)
    (message,) = (one for one in between if one["kind"] == "message")
    assert message["parts"] == [{"type": "text", "text": SECRET.text}]


@pytest.mark.parametrize(
    ("share", "gone", "deleted"),
    [
        (Share.CONVERSATIONS, b"my diagnosis", Deleted(1, 0, 1)),
        (Share.RESULTS, b"xylophone", Deleted(1, 0, 1)),
        (Share.MEMORIES, b"cholesterol", Deleted(0, 1, 1)),
    ],
)
async def test_what_is_deleted_is_not_on_the_disk_any_more_and_the_rest_is(
    home: Home,
    store: SqliteStore,
    household: Household,
    share: Share,
    gone: bytes,
    deleted: Deleted,
) -> None:
    # Nobody has it open: what was deleted is gone from the log as well.
    await store.close()

    assert await delete_own_data(home, household.project, {share}) == deleted

    left = b"".join(path.read_bytes() for path in home.path.glob("handrail.db*"))
    there = {word for word in (b"my diagnosis", b"xylophone", b"cholesterol") if word in left}
    assert there == {b"my diagnosis", b"xylophone", b"cholesterol"} - {gone}
    assert b"all of it" not in left


async def test_the_record_is_whole_afterwards_and_says_that_something_was_deleted(
    home: Home, store: SqliteStore, household: Household
) -> None:
    await delete_own_data(home, household.project, set(Share))

    record = await store.read_audit(household.project.id, after=0, limit=100)
    actions = [line.action for line in record[-3:]]
    assert sorted(actions) == ["memories.forgotten", "session.forgotten", "session.forgotten"]
    assert (await verify(home, household.project.id)).broken is None
    for session_id in (TALK, FOREIGN):
        place = await store.find_place(household.project.id, session_id)
        assert place is not None
        assert place.session.stopped_at is not None


async def test_a_session_with_a_call_that_has_not_ended_is_left_and_named(
    home: Home, store: SqliteStore, household: Household
) -> None:
    await store.submit(opening(a_call(household, "call-2"), household))

    deleted = await delete_own_data(home, household.project, {Share.RESULTS})

    assert (deleted.sessions, deleted.left) == (0, (FOREIGN,))


async def test_what_is_empty_already_is_not_counted_again(
    home: Home, store: SqliteStore, household: Household
) -> None:
    first = await delete_own_data(home, household.project, set(Share))
    lines = len(await store.read_audit(household.project.id, after=0, limit=100))
    again = await delete_own_data(home, household.project, set(Share))

    assert (first.sessions, first.memories) == (2, 1)
    assert again == Deleted(0, 0, 0)
    assert len(await store.read_audit(household.project.id, after=0, limit=100)) == lines


async def test_nothing_is_deleted_while_a_server_runs(home: Home, household: Household) -> None:
    with home.serving(), pytest.raises(SetupError, match="is running"):
        await delete_own_data(home, household.project, set(Share))


async def test_where_the_server_is_elsewhere_that_is_said(home: Home, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="where the server runs"):
        await find_person(home, "prj_of_another_server")
    empty = Home(tmp_path / "empty")
    with pytest.raises(SetupError, match="where the server runs"):
        await find_person(empty, "prj_1")
    assert not empty.path.exists()
