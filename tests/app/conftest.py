"""A server in this process, as `handrail serve` and `handrail up` start one."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.app.home import Credentials
from handrail.app.run_server import Ready
from handrail.app.settings import Settings
from handrail.client.api import HandrailApi

Run = Callable[[Settings, Path, Callable[[Ready], None]], Coroutine[Any, Any, None]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", port=0)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "README.md").write_text("hello")
    return folder


@asynccontextmanager
async def running(run: Run, settings: Settings, workspace: Path) -> AsyncGenerator[Credentials]:
    """Run it until the context closes; then it is told to stop, as a system would tell it."""
    ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run(settings, workspace, ready.set_result))
    async with asyncio.timeout(10):
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
    try:
        yield (await ready).credentials
    finally:
        signal.raise_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            await task


async def read(known: Credentials, call_id: str, wait: float) -> dict[str, Any]:
    """Ask for README.md as the agent."""
    async with (
        asyncio.timeout(15),
        HandrailApi(known.server, known.project_id, known.agent_token) as api,
    ):
        return await api.execute(
            "read_file", {"path": "README.md"}, session_id="s", call_id=call_id, wait=wait
        )
