"""A client serves one workspace, alone, for as long as the server knows it."""

import asyncio
import getpass
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.run_client import connect
from handrail.app.run_server import serve
from handrail.app.settings import Settings
from handrail.app.tokens import open_tokens
from handrail.core.access import Role
from handrail.core.errors import SetupError
from tests.app.conftest import read, running


async def test_a_client_that_comes_executes_what_waited(
    settings: Settings, workspace: Path
) -> None:
    lines: list[bool] = []
    async with running(serve, settings, workspace) as known:
        before = await read(known, "call-1", wait=0)
        client = asyncio.create_task(connect(Home(settings.home), known, lines.append))
        after = await read(known, "call-1", wait=10)
        client.cancel()
        await asyncio.gather(client, return_exceptions=True)

    assert (before["status"], after["status"]) == ("approved", "completed")
    assert lines == [True]


async def test_a_client_that_is_turned_away_says_by_whom(
    settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    elsewhere = Home(tmp_path / "elsewhere")
    elsewhere.create()
    async with running(serve, settings, workspace) as known:
        stranger = replace(known, client_token="hr_client_x")
        with pytest.raises(SetupError) as caught:
            async with asyncio.timeout(10):
                await connect(elsewhere, stranger, lambda up: None)

    assert caught.value.message == (
        f"{known.server} refused the connection: this token is unknown, revoked or expired; "
        "where the "
        "server runs, `handrail token create --role client --save` creates a new one"
    )


async def test_a_client_goes_on_with_the_token_that_has_taken_the_place_of_its_own(
    settings: Settings, workspace: Path
) -> None:
    home, lines = Home(settings.home), list[bool]()
    async with running(serve, settings, workspace) as known:
        client = asyncio.create_task(connect(home, known, lines.append))
        assert (await read(known, "call-1", wait=10))["status"] == "completed"
        async with open_tokens(home) as book:
            (token,) = [
                token
                for token in await book.tokens_of(await book.find_user(getpass.getuser()))
                if token.role is Role.CLIENT
            ]
            await book.rotate(token)
        async with asyncio.timeout(10):
            while lines != [True, False, True] and lines != [True, False, False, True]:
                await asyncio.sleep(0.05)
        after = await read(known, "call-2", wait=10)
        client.cancel()
        await asyncio.gather(client, return_exceptions=True)

    assert after["status"] == "completed"


async def test_a_second_client_for_the_same_folder_is_refused(
    settings: Settings, workspace: Path
) -> None:
    home = Home(settings.home)
    async with running(serve, settings, workspace) as known:
        with (
            home.acting_for(workspace),
            pytest.raises(SetupError, match="a Handrail client is already running"),
        ):
            await connect(home, known, lambda up: None)
