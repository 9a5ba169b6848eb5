"""The terminal's screens, loaded only when one is opened."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

import uvloop

from handrail.app.home import Credentials
from handrail.client.api import HandrailApi
from handrail.core.ports import Channel

Work = Callable[[Channel], Coroutine[None, None, None]]
Visit = Callable[[Credentials], Coroutine[None, None, None]]


async def watch(api: HandrailApi) -> None:
    """Show what waits, for a person who decides here and executes nothing."""
    await _until_told(_show(api, None))


def connect(known: Credentials, find_token: Callable[[], str | None], work: Work) -> None:
    """Show what waits while this machine's client does its work."""

    async def run() -> None:
        async with HandrailApi(
            known.server, known.project_id, known.client_token, find_token
        ) as api:
            await _until_told(_show(api, work))

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        uvloop.run(run())


def make_visit() -> tuple[Visit, Channel]:
    """A screen for the person of a server in this process, and what its client tells there."""
    from handrail.tui.inbox import Aside, Inbox
    from handrail.tui.line import Line
    from handrail.tui.show import show

    inbox = Inbox()

    async def visit(known: Credentials) -> None:
        async with HandrailApi(known.server, known.project_id, known.user_token) as api:
            await show(Line(api), inbox)

    return visit, Aside(inbox)


async def _show(api: HandrailApi, work: Work | None) -> None:
    from handrail.tui.inbox import Aside, Inbox
    from handrail.tui.line import Line
    from handrail.tui.show import show

    inbox = Inbox()
    await show(Line(api), inbox, None if work is None else work(Aside(inbox)))


async def _until_told(shown: Awaitable[None]) -> None:
    """Who is told to end leaves the terminal as it was."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await shown
