"""A server runs without a client of its own, and leaves nothing behind."""

import gc
from pathlib import Path

import pytest

from handrail.app.run_server import serve
from handrail.app.settings import Settings
from handrail.core.errors import SetupError
from tests.app.conftest import read, running


async def test_a_server_alone_executes_nothing(settings: Settings, workspace: Path) -> None:
    async with running(serve, settings, workspace) as known:
        answer = await read(known, "call-1", wait=0.05)

    assert answer["status"] == "approved"


async def test_the_port_is_free_again_when_starting_fails(tmp_path: Path) -> None:
    with pytest.raises(SetupError):
        await serve(Settings(tmp_path / "home", port=0), tmp_path / "none", lambda ready: None)
    gc.collect()  # A socket left open would warn, and warnings are errors.
