"""Opening the screens, alone or with something that runs beside them."""

import asyncio
from collections.abc import Coroutine

from handrail.core.errors import HandrailError, leaves
from handrail.tui.app import HandrailApp
from handrail.tui.inbox import Inbox
from handrail.tui.line import Line


async def show(line: Line, inbox: Inbox, beside: Coroutine[None, None, None] | None = None) -> None:
    """Show what waits until its person leaves; what runs `beside` ends then, too.

    Cancelled, it puts the terminal back first.

    Raises:
        HandrailError: What ended the screen, or what ran beside it.
    """
    app = HandrailApp(line, inbox)
    trouble: HandrailError | None = None
    async with asyncio.TaskGroup() as group:
        running = group.create_task(app.run_async())
        working = None if beside is None else group.create_task(_run(beside, app))
        try:
            trouble = await asyncio.shield(running)
        except asyncio.CancelledError:
            app.exit()
            await running
            raise
        finally:
            if working is not None:
                working.cancel()
    if trouble is not None:
        raise trouble


async def _run(beside: Coroutine[None, None, None], app: HandrailApp) -> None:
    troubles: list[HandrailError] = []
    try:
        await beside
    except* HandrailError as group:
        troubles = list(leaves(group))
    # Not before there is something that could end.
    await app.is_open.wait()
    for trouble in troubles:
        app.exit(trouble)
