"""Visits: work of a command that needs a server and a client of its folder."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from handrail.app.home import Credentials, Home
from handrail.app.run_both import while_up
from handrail.app.run_client import connect
from handrail.app.settings import DEFAULT_PORT, Settings
from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.core.errors import SetupError

# Gets the person's line to the server, and the ids of the workspace where a client is connected.
Visit = Callable[[HandrailApi, list[str]], Awaitable[None]]

_CONNECT_SECONDS = 30.0


class UnknownFolder(SetupError):
    """A server runs here, and this folder is not set up on it."""


def find_server(settings: Settings, workspace: Path) -> Credentials | None:
    """The credentials for a server that has this folder already; None where there is none.

    Raises:
        UnknownFolder: A server runs here, and does not know this folder.
        SetupError: There is no such folder.
    """
    if not workspace.is_dir():
        what = "is not a folder" if workspace.exists() else "does not exist"
        raise SetupError(f"{workspace} {what}; name the folder that the agent should work in")
    home = Home(settings.home)
    if home.is_served():
        try:
            return home.get_credentials(workspace)
        except SetupError as error:
            folder = workspace.resolve()
            raise UnknownFolder(
                f"Handrail is already running on {home.path}, and {folder} is not set up yet; "
                f"`handrail init {folder}` sets it up, and so does --yes here"
            ) from error
    known = home.find_credentials(workspace.resolve())
    # A machine that was let in by its client's token has its server elsewhere.
    return known if known is not None and not known.user_token else None


async def visit_there(home: Home, known: Credentials, visit: Visit) -> None:
    """Visit a server that runs already.

    Where no client is connected for the folder, one runs here for as long as it takes.

    Raises:
        SetupError: No client can be connected.
    """
    async with _person(known) as api:
        found = await api.get("/clients")
        here = {one["workspace_id"] for one in found["clients"] if one["connected"]}
        places = await _find_places(api, known)
        if here.intersection(places):
            await visit(api, [place for place in places if place in here])
            return
        is_connected = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            client = connect(home, known, lambda now: is_connected.set() if now else None)
            connected = group.create_task(client)
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await is_connected.wait()
                await visit(api, places)
            except TimeoutError as error:
                raise SetupError(
                    f"no client can connect to {known.server}; is it still running?"
                ) from error
            finally:
                connected.cancel()


async def visit_here(settings: Settings, workspace: Path, visit: Visit) -> None:
    """Start a server and a client in this process, for as long as the visit takes.

    Raises:
        SetupError: The folder cannot be worked in.
    """
    home, root = Home(settings.home), await asyncio.to_thread(workspace.resolve)
    before = home.find_credentials(root)
    usual = f"http://{settings.host}:{settings.port or DEFAULT_PORT}"

    async def begin(known: Credentials) -> None:
        async with _person(known) as api:
            await visit(api, await _find_places(api, known))

    try:
        await while_up(replace(settings, port=0), workspace, begin)
    finally:
        # This address was for one run only.
        if (after := home.find_credentials(root)) is not None:
            server = usual if before is None else before.server
            home.save_credentials(replace(after, server=server))


def _person(known: Credentials) -> HandrailApi:
    return HandrailApi(known.server, known.project_id, known.token_for(Role.USER))


async def _find_places(api: HandrailApi, known: Credentials) -> list[str]:
    """The workspaces of the project that are this folder, by their ids."""
    policy = await api.get("/policy")
    return [one["workspace_id"] for one in policy["effective"] if one["root"] == known.workspace]
