"""A server runs with or without a client of its own, and ends when told to."""

import gc
from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.run_server import serve, up
from handrail.app.settings import Settings
from handrail.core.errors import SetupError
from tests.app.conftest import read, running


async def test_up_serves_and_executes_and_ends_on_a_signal(
    settings: Settings, workspace: Path
) -> None:
    async with running(up, settings, workspace) as known:
        answer = await read(known, "call-1", wait=10)

    assert (answer["status"], answer["result"]["content"]) == ("completed", "hello")
    assert Home(settings.home).find_credentials(workspace) == known
    # The log of the database is folded into the one file.
    assert {file.name for file in settings.home.glob("handrail.db*")} == {"handrail.db"}


async def test_a_server_alone_executes_nothing(settings: Settings, workspace: Path) -> None:
    async with running(serve, settings, workspace) as known:
        answer = await read(known, "call-1", wait=0.05)

    assert answer["status"] == "approved"


async def test_what_waited_is_executed_after_a_new_start(
    settings: Settings, workspace: Path
) -> None:
    async with running(serve, settings, workspace) as known:
        before = await read(known, "call-1", wait=0)

    async with running(up, settings, workspace) as known:
        after = await read(known, "call-1", wait=10)

    assert (before["status"], after["status"]) == ("approved", "completed")
    assert after["tool_id"] == before["tool_id"]


async def test_the_port_is_free_again_when_starting_fails(tmp_path: Path) -> None:
    with pytest.raises(SetupError):
        await serve(Settings(tmp_path / "home", port=0), tmp_path / "none", lambda known: None)
    gc.collect()  # A socket left open would warn, and warnings are errors.
