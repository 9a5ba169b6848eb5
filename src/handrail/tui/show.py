"""Opening the screens, and what fills their inbox."""

import asyncio
from collections.abc import Awaitable, Callable

from handrail.client.api import HandrailApi
from handrail.client.watching import Watcher
from handrail.core.errors import HandrailError, leaves
from handrail.core.ports import Channel
from handrail.tui.app import HandrailApp
from handrail.tui.inbox import Inbox
from handrail.tui.line import Line

# Asks a channel about whatever comes, and says when the line is up or down.
Listen = Callable[[Channel, Callable[[bool], None]], Awaitable[None]]


def watching(api: HandrailApi) -> Listen:
    """To be asked, on a machine that executes nothing."""
    return lambda channel, announce: Watcher(api, channel, announce).run()


async def show(line: Line, inbox: Inbox, listen: Listen, ends_with_it: str | None = None) -> None:
    """Show what waits until its person leaves; then nobody listens any more.

    Cancelled, it puts the terminal back first.

    Raises:
        HandrailError: What ended the listening, and with it the screen.
    """
    app = HandrailApp(line, inbox, ends_with_it=ends_with_it)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(app.run_async())
        filling = group.create_task(fill(app, listen))
        try:
            trouble = await asyncio.shield(running)
        except asyncio.CancelledError:
            app.exit()
            await running
            raise
        finally:
            filling.cancel()
    if trouble is not None:
        raise trouble


async def fill(app: HandrailApp, listen: Listen) -> None:
    """Fill an app's inbox and carry its answers; the app ends with whatever ends this."""
    troubles: list[HandrailError] = []
    await app.is_open.wait()
    try:
        await listen(app.inbox, app.desk.announce)
    except* HandrailError as group:
        troubles = list(leaves(group))
    for trouble in troubles:
        app.exit(trouble)
