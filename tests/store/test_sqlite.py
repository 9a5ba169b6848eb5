"""What is particular to the store in one SQLite file."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.access import Role, hash_secret
from handrail.core.change import Advance, Change, RevokeToken
from handrail.core.errors import ChangeRefused, HandrailError, StoreFull, StoreLocked
from handrail.core.execution import Status
from handrail.store import sqlite
from handrail.store.rows import Row
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call, moving, opening


async def test_erased_parameters_are_gone_from_the_file(tmp_path: Path, clock: FakeClock) -> None:
    store = SqliteStore(tmp_path / "own.db", LocalBus())
    await store.open()
    home = await settle_in(store, clock, "ada", "/ada")
    call = a_call(home).assign(home.client_id, clock.now())
    await store.submit(opening(call, home, '{"path":"token=open-sesame"}'))
    written = b"".join(file.read_bytes() for file in tmp_path.glob("own.db*"))
    assert b"open-sesame" in written

    over = call.advance(Status.COMPLETED, clock.now(), result={})
    await store.submit(moving(Advance(call, over)))
    await store.close()

    assert [file.name for file in tmp_path.iterdir()] == ["own.db"]
    assert b"open-sesame" not in (tmp_path / "own.db").read_bytes()


async def test_when_the_disk_is_full_everyone_is_told_and_the_store_goes_on(
    store: SqliteStore, household: Household
) -> None:
    pages = store._writer.run("PRAGMA page_count")[0][0]
    store._writer.run(f"PRAGMA max_page_count = {pages + 1}")
    calls = [a_call(household, f"call-{number}", reasoning="x" * 9000) for number in range(3)]

    async with asyncio.timeout(10):
        outcomes = await asyncio.gather(
            *(store.submit(opening(call, household)) for call in calls), return_exceptions=True
        )

    assert [type(outcome) for outcome in outcomes] == [StoreFull] * 3
    assert len({id(outcome) for outcome in outcomes}) == 3
    assert isinstance(store.fault, StoreFull)
    assert [await store.find_execution(call.id) for call in calls] == [None] * 3
    assert (await store.event_range(household.project.id)).last == 0
    store._writer.run("PRAGMA max_page_count = 1000000")
    async with asyncio.timeout(10):
        await store.submit(opening(calls[0], household))
    assert await store.find_execution(calls[0].id) == calls[0]
    assert store.fault is None


async def test_closing_writes_what_still_waits(tmp_path: Path, clock: FakeClock) -> None:
    store = SqliteStore(tmp_path / "own.db", LocalBus())
    await store.open()
    home = await settle_in(store, clock, "ada", "/ada")
    calls = [a_call(home, f"call-{number}") for number in range(300)]
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(store.submit(opening(call, home)))
        await asyncio.sleep(0)
        await store.close()

    again = SqliteStore(tmp_path / "own.db", LocalBus())
    await again.open()
    assert [await again.find_execution(call.id) for call in calls] == calls
    assert (await again.event_range(home.project.id)).last == 300
    await again.close()


async def test_a_slow_disk_is_waited_for_in_a_thread_and_a_quick_one_on_the_loop(
    store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, threads = store._commit, list[bool]()
    store._commit_seconds = 0.0

    def commit_at(seconds: float) -> None:
        threads.append(threading.current_thread() is not threading.main_thread())
        commit()
        store._commit_seconds = seconds

    for number, seconds in enumerate((0.0001, 0.05, 0.05, 0.0001, 0.0001)):
        monkeypatch.setattr(store, "_commit", partial(commit_at, seconds))
        await store.submit(opening(a_call(household, f"call-{number}"), household))

    assert threads == [False, False, True, True, False]


async def test_a_commit_that_fails_on_the_loop_is_told_and_leaves_nothing(
    store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("the disk is gone")

    call = a_call(household)
    with monkeypatch.context() as broken:
        broken.setattr(store, "_commit", fail)
        with pytest.raises(HandrailError, match="the disk is gone"):
            await store.submit(opening(call, household))

    assert await store.find_execution(call.id) is None
    await store.submit(opening(call, household))
    assert await store.find_execution(call.id) == call


async def test_a_commit_that_takes_long_to_fail_is_not_made_on_the_loop_again(
    store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._commit_seconds = 0.0
    run = store._writer.run

    def fail_slowly(sql: str, values: Sequence[Any] = ()) -> list[Row]:
        if sql != "COMMIT":
            return run(sql, values)
        time.sleep(0.01)
        raise OSError("the disk is dying")

    with monkeypatch.context() as broken:
        broken.setattr(store._writer, "run", fail_slowly)
        with pytest.raises(HandrailError, match="dying"):
            await store.submit(opening(a_call(household), household))

    assert store._commit_seconds >= 0.01


async def test_a_project_whose_record_contradicts_itself_takes_no_other_along(
    store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "bob", "/bob")
    await store.submit(opening(a_call(household), household))
    store._writer.run(
        "UPDATE projects SET audit_seq = audit_seq - 1 WHERE id = ?", (household.project.id,)
    )
    theirs, ours = a_call(household, "call-2"), a_call(neighbour)

    outcomes = await asyncio.gather(
        store.submit(opening(theirs, household)),
        store.submit(opening(ours, neighbour)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [ChangeRefused, type(None)]
    assert await store.find_execution(theirs.id) is None
    assert await store.find_execution(ours.id) == ours


async def test_a_closed_store_takes_nothing_more(tmp_path: Path, clock: FakeClock) -> None:
    store = SqliteStore(tmp_path / "own.db", LocalBus())
    await store.open()
    home = await settle_in(store, clock, "ada", "/ada")
    await store.close()

    with pytest.raises(HandrailError, match="closed"):
        await store.submit(opening(a_call(home), home))


async def test_a_long_log_is_folded_into_the_database(
    store: SqliteStore, tmp_path: Path, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MOST_LOG_PAGES", 50)
    log = tmp_path / "handrail.db-wal"

    for number in range(100):
        await store.submit(opening(a_call(household, f"call-{number}"), household))
        assert store._writer.log_pages < 50 + 20

    # Begun anew again and again, it is far from holding all that was written to it.
    assert log.stat().st_size < 4096 * 100
    assert (await store.event_range(household.project.id)).last == 100


async def test_a_token_is_remembered_until_somebody_revokes_it_from_elsewhere(
    store: SqliteStore, tmp_path: Path, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret_hash = hash_secret(household.secrets[Role.AGENT])
    token = await store.find_token(secret_hash)
    assert token is not None
    reads = list[str]()
    run = store._reader.run

    def note(sql: str, values: Sequence[Any] = ()) -> list[Row]:
        reads.append(sql)
        return run(sql, values)

    monkeypatch.setattr(store._reader, "run", note)

    assert await store.find_token(secret_hash) == token
    assert reads == []
    other = SqliteStore(tmp_path / "handrail.db", LocalBus())
    await other.open()
    at = household.project.created_at
    await other.submit(Change(household.project.id, at, (RevokeToken(token),)))
    await other.close()

    seen = await store.find_token(secret_hash)
    assert seen is not None
    assert seen.revoked_at == at


async def test_memory_is_dropped_when_somebody_else_has_written(
    store: SqliteStore, tmp_path: Path, household: Household
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))
    other = SqliteStore(tmp_path / "handrail.db", LocalBus())
    await other.open()
    handed = call.assign(household.client_id, household.project.created_at)
    await other.submit(moving(Advance(call, handed)))
    await other.close()

    await store.submit(opening(a_call(household, "call-2"), household))

    assert await store.find_execution(call.id) == handed
    stream = await store.read_stream(household.project.id, after=0, client_id=None, limit=10)
    assert [item.event.seq for item in stream] == [1, 2, 3]


async def test_what_is_on_disk_is_seen_before_its_writer_has_heard_of_it(
    store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))
    handed = call.assign(household.client_id, household.project.created_at)
    is_committed, may_go_on = threading.Event(), threading.Event()
    commit = store._commit

    def commit_and_dawdle() -> None:
        commit()
        is_committed.set()
        may_go_on.wait(10)

    monkeypatch.setattr(store, "_commit", commit_and_dawdle)
    store._commit_seconds = 1.0  # A slow disk is waited for in the thread.
    storing = asyncio.create_task(store.submit(moving(Advance(call, handed))))
    await asyncio.to_thread(is_committed.wait, 10)

    # Whoever finds it in a list, and then by its name, must not find it as it was before.
    (listed,) = await store.list_open(household.workspace.id)
    assert (listed, await store.find_execution(call.id)) == (handed, handed)
    assert not storing.done()
    may_go_on.set()
    await storing


async def test_a_change_that_builds_on_what_somebody_else_changed_is_refused(
    store: SqliteStore, tmp_path: Path, household: Household
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))
    handed = call.assign(household.client_id, household.project.created_at)
    other = SqliteStore(tmp_path / "handrail.db", LocalBus())
    await other.open()
    await other.submit(moving(Advance(call, handed)))
    await other.close()

    with pytest.raises(ChangeRefused):
        await store.submit(moving(Advance(call, handed)))


async def test_while_somebody_else_holds_the_file_the_loop_goes_on(
    store: SqliteStore, household: Household, tmp_path: Path
) -> None:
    stranger = SqliteFile(tmp_path / "handrail.db")
    stranger.run("BEGIN IMMEDIATE")
    call = a_call(household)

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        storing = group.create_task(store.submit(opening(call, household)))
        for _ in range(5):
            await asyncio.sleep(0.01)
            assert await store.find_execution(call.id) is None
            assert not storing.done()
        stranger.run("ROLLBACK")

    assert await store.find_execution(call.id) == call
    stranger.close()


async def test_who_holds_the_file_for_too_long_is_not_waited_for(
    store: SqliteStore, household: Household, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MOST_LOCKED_SECONDS", 0.05)
    stranger = SqliteFile(tmp_path / "handrail.db")
    stranger.run("BEGIN IMMEDIATE")
    call = a_call(household)

    async with asyncio.timeout(10):
        with pytest.raises(StoreLocked, match="another process has locked"):
            await store.submit(opening(call, household))
        stranger.run("ROLLBACK")
        await store.submit(opening(call, household))

    assert await store.find_execution(call.id) == call
    stranger.close()


async def test_somebody_who_looks_in_from_outside_takes_nothing_away(
    store: SqliteStore, household: Household, tmp_path: Path
) -> None:
    file = tmp_path / "handrail.db"

    def count_from_outside() -> int:
        look = (
            "import sqlite3, sys; file = sqlite3.connect(sys.argv[1])\n"
            "print(file.execute('SELECT count(*) FROM tool_executions').fetchone()[0])\n"
            "file.close()"
        )
        said = subprocess.run(
            [sys.executable, "-c", look, str(file)], capture_output=True, check=True, timeout=30
        )
        return int(said.stdout)

    for number in range(3):
        await store.submit(opening(a_call(household, f"call-{number}"), household))
        # Who closes the file last tidies it up: it must be seen that we still have it open.
        assert await asyncio.to_thread(count_from_outside) == number + 1
