"""A server and a client run in one process, and end when told to."""

from pathlib import Path

from handrail.app.home import Home
from handrail.app.run_both import up
from handrail.app.run_server import serve
from handrail.app.settings import Settings
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


async def test_what_waited_is_executed_after_a_new_start(
    settings: Settings, workspace: Path
) -> None:
    async with running(serve, settings, workspace) as known:
        before = await read(known, "call-1", wait=0)

    async with running(up, settings, workspace) as known:
        after = await read(known, "call-1", wait=10)

    assert (before["status"], after["status"]) == ("approved", "completed")
    assert after["tool_id"] == before["tool_id"]
