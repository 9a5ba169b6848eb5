"""Running a server and this machine's client in one process."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from handrail.app.home import Credentials, Home
from handrail.app.run_client import connect
from handrail.app.run_server import Ready, Visit, serve
from handrail.app.settings import Settings
from handrail.core.errors import HandrailError
from handrail.core.ports import Channel


async def up(
    settings: Settings,
    workspace: Path,
    on_ready: Callable[[Ready], None],
    channel: Channel | None = None,
) -> None:
    """Run a server and this machine's client in one process; it asks its person by `channel`.

    It is ready when calls can run: when the client is on the line for the first time.
    """
    waiting: list[Ready] = []

    def announce(connected: bool) -> None:
        if connected and waiting:
            on_ready(waiting.pop())

    async def client(home: Home, known: Credentials) -> None:
        await connect(home, known, announce, channel)

    await serve(settings, workspace, waiting.append, client)


async def while_up(
    settings: Settings, workspace: Path, visit: Visit, channel: Channel | None = None
) -> None:
    """Run both for as long as a visit takes; told to stop, they end the visit first.

    The visit begins when the client is there; what that has to tell goes to `channel`.
    """
    troubles: list[HandrailError] = []
    is_connected = asyncio.Event()

    def announce(connected: bool) -> None:
        if connected:
            is_connected.set()

    async def client(home: Home, known: Credentials) -> None:
        await connect(home, known, announce, channel)

    async def visiting(known: Credentials) -> None:
        await is_connected.wait()
        try:
            await visit(known)
        except HandrailError as error:
            # Raised later: whatever it is, the server is to end in good order.
            troubles.append(error)

    await serve(settings, workspace, lambda ready: None, client, visiting)
    for trouble in troubles:
        raise trouble
