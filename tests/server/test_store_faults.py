"""A fault of the disk is answered with a sentence, told by /health, and over when it is over."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from handrail.core.access import Role
from handrail.store import sqlite
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.server.conftest import Answer, Caller, a_body, base

Fault = Callable[[SqliteStore, Path], AbstractContextManager[None]]

HOLD = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def full(store: SqliteStore, database: Path) -> Generator[None]:
    pages = store._writer.run("PRAGMA page_count")[0][0]
    store._writer.run(f"PRAGMA max_page_count = {pages}")
    yield
    store._writer.run("PRAGMA max_page_count = 1000000")


@contextmanager
def locked(store: SqliteStore, database: Path) -> Generator[None]:
    command = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def read_only(store: SqliteStore, database: Path) -> Generator[None]:
    store._writer.run("PRAGMA query_only = ON")
    yield
    store._writer.run("PRAGMA query_only = OFF")


async def ask_much(caller: Caller, household: Household, call_id: str) -> Answer:
    body = a_body(call_id, reasoning="x" * 9_000)
    token = household.secrets[Role.AGENT]
    return await caller.ask("POST", f"{base(household)}/tools/execute", token, json=body)


@pytest.mark.parametrize(
    ("fault", "status", "kind", "words"),
    [
        pytest.param(full, 507, "store-full", "database is full; free some space", id="full"),
        pytest.param(locked, 503, "store-unavailable", "another process has locked", id="locked"),
        pytest.param(read_only, 503, "store-unavailable", "is read-only; make it", id="read-only"),
    ],
)
async def test_a_fault_that_passes_is_told_and_ends_by_itself(
    caller: Caller,
    store: SqliteStore,
    household: Household,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    status: int,
    kind: str,
    words: str,
) -> None:
    monkeypatch.setattr(sqlite, "_MOST_LOCKED_SECONDS", 0.05)
    well = await caller.ask("GET", "/health")

    with fault(store, tmp_path / "handrail.db"):
        answer = await ask_much(caller, household, "call-1")
        ill = await caller.ask("GET", "/health")
        await store.check()
        still_ill = await caller.ask("GET", "/health")
    await store.check()
    well_again = await caller.ask("GET", "/health")
    asked_again = await ask_much(caller, household, "call-1")

    assert answer.problem == (status, f"urn:handrail:{kind}")
    assert words in answer.body["detail"]
    assert int(answer.headers["retry-after"]) > 0
    assert (ill.status, ill.body["status"]) == (503, "degraded")
    assert ill.body["problem"] == answer.body["detail"]
    assert "retry-after" in ill.headers
    if fault is not full:  # A page that is there already can be written without more space.
        assert still_ill.body == ill.body
    for answered in (well, well_again):
        assert (answered.status, answered.body["status"]) == (200, "ok")
    assert asked_again.status == 200


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
async def test_nothing_is_acknowledged_once_a_file_of_the_database_is_gone(
    caller: Caller, household: Household, tmp_path: Path, suffix: str, replaced: bool
) -> None:
    file = tmp_path / f"handrail.db{suffix}"
    content = file.read_bytes()
    file.unlink()
    if replaced:
        file.write_bytes(content)

    answer = await ask_much(caller, household, "call-1")
    again = await ask_much(caller, household, "call-2")
    health = await caller.ask("GET", "/health")

    assert answer.problem == again.problem == (503, "urn:handrail:store-unavailable")
    assert "were removed or replaced while the server was running" in answer.body["detail"]
    assert (health.status, health.body["problem"]) == (503, answer.body["detail"])


async def test_a_database_that_is_removed_is_noticed_though_nothing_is_written(
    caller: Caller, store: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "handrail.db").unlink()
    async with asyncio.timeout(10):
        await store.check()
    assert (await caller.ask("GET", "/health")).body["status"] == "degraded"


async def test_damage_that_is_met_while_the_server_runs_ends_writing(
    caller: Caller, store: SqliteStore, household: Household, tmp_path: Path
) -> None:
    database = tmp_path / "handrail.db"
    store._writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    page = store._reader.run("SELECT rootpage FROM sqlite_master WHERE name = 'clients'")[0][0]
    with database.open("r+b") as stream:
        stream.seek((page - 1) * 4096)
        stream.write(os.urandom(4096))
    store._reader.run("PRAGMA shrink_memory")
    token = household.secrets[Role.USER]

    read = await caller.ask("GET", f"{base(household)}/clients", token)
    written = await ask_much(caller, household, "call-1")
    health = await caller.ask("GET", "/health")

    assert read.problem == written.problem == (503, "urn:handrail:store-unavailable")
    for answered in (read.body["detail"], written.body["detail"], health.body["problem"]):
        assert "is damaged" in answered
        assert "`handrail restore`" in answered
        assert "`handrail init --fresh`" in answered
