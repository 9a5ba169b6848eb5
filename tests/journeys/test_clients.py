"""Two machines for one workspace: each call is done by one of them, whichever dies."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.bus.local import LocalBus
from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.card import Choice
from handrail.core.change import Add, Change
from handrail.core.grant import Scope
from handrail.core.ids import ClientId, TokenId, mint
from handrail.core.project import Client
from handrail.store.sqlite import SqliteStore
from tests.journeys.conftest import Rig


async def a_second_home(rig: Rig, folder: Path) -> Home:
    """The credentials of another machine for the same workspace."""
    known, at, secret = rig.credentials, SystemClock().now(), new_secret(Role.CLIENT)
    store = SqliteStore(rig.home / "handrail.db", LocalBus())
    await store.open()
    first = await store.find_token(hash_secret(known.client_token))
    assert first is not None
    assert first.project_id is not None
    assert first.workspace_id is not None
    client = Client(ClientId(mint("cli", at)), first.project_id, first.workspace_id, "second", at)
    token = Token(
        TokenId(mint("tok", at)),
        hash_secret(secret),
        Role.CLIENT,
        client.id,
        first.user_id,
        first.project_id,
        first.workspace_id,
        "second",
        at,
    )
    await store.submit(Change(first.project_id, at, (Add(client), Add(token))))
    await store.close()
    home = Home(folder / "second")
    home.create()
    home.save_credentials(replace(known, client_token=secret))
    return home


def a_write(number: int) -> dict[str, Any]:
    """Done twice, it would show."""
    return {"path": f"{number}.txt", "content": "once\n", "mode": "append"}


@pytest.mark.slow
@pytest.mark.behaviour("clients.two")
async def test_of_two_machines_one_does_each_call_even_when_one_is_killed(
    rig: Rig, tmp_path: Path
) -> None:
    rig.start_server()
    first = rig.start_client()
    second = await a_second_home(rig, tmp_path)
    async with asyncio.TaskGroup() as group:
        group.create_task(rig.call("write_file", a_write(0), "call-0"))
        await rig.answer(Choice(approved=True, scope=Scope.SESSION))
    rig.environment["HANDRAIL_HOME"] = str(second.path)
    await asyncio.to_thread(rig.start_client)
    del rig.environment["HANDRAIL_HOME"]

    async def kill_the_first() -> None:
        await asyncio.sleep(0.1)
        await asyncio.to_thread(rig.kill, first)
        # What it had begun, only it can tell.
        await asyncio.sleep(1)
        await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        group.create_task(kill_the_first())
        asking = [
            group.create_task(rig.call("write_file", a_write(number), f"call-{number}"))
            for number in range(1, 31)
        ]

    for number, task in enumerate(asking, start=1):
        ended, file = task.result(), rig.workspace / f"{number}.txt"
        if ended["status"] == "completed":
            assert file.read_text() == "once\n"
        else:
            assert ended["error_type"] == "outcome_unknown"
            assert not file.exists() or file.read_text() == "once\n"
    done = [task for task in asking if task.result()["status"] == "completed"]
    assert len(done) >= len(asking) - 3
    rig.assert_told_once_and_provable(calls=31)
