"""The terminal's screens, loaded only when one is opened."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

import uvloop

from handrail.app.home import Credentials
from handrail.client.api import HandrailApi
from handrail.core.ports import Channel

Listen = Callable[[Channel, Callable[[bool], None]], Awaitable[None]]
_CLIENT_ENDS = (
    "This also ends the client of this machine: commands that are running end, and new calls wait "
    "until the client is connected again. `handrail approvals watch` shows this screen alone."
)
_ALL_ENDS = (
    "This also stops the server and the client of this machine: commands that are running end. "
    "`handrail up` continues with the calls that wait."
)

Visit = Callable[[Credentials], Coroutine[None, None, None]]


async def watch(api: HandrailApi) -> None:
    """Show what waits, for a person who decides here and executes nothing."""
    from handrail.tui.inbox import Inbox
    from handrail.tui.line import Line
    from handrail.tui.show import show, watching

    await _until_told(show(Line(api), Inbox(), watching(api)))


def connect(known: Credentials, find_token: Callable[[], str | None], listen: Listen) -> None:
    """Show what waits while this machine's client works, and asks there.

    A client has one connection to the server, so nothing else may listen with its token.
    """
    from handrail.tui.inbox import Inbox
    from handrail.tui.line import Line
    from handrail.tui.show import show

    async def run() -> None:
        async with HandrailApi(
            known.server, known.project_id, known.client_token, find_token
        ) as api:
            await _until_told(show(Line(api), Inbox(), listen, _CLIENT_ENDS))

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        uvloop.run(run())


def make_visit() -> tuple[Visit, Channel]:
    """A screen for the person of a server in this process, and what its client tells there."""
    from handrail.tui.inbox import Aside, Inbox
    from handrail.tui.line import Line
    from handrail.tui.show import show, watching

    inbox = Inbox()

    async def visit(known: Credentials) -> None:
        async with HandrailApi(known.server, known.project_id, known.user_token) as api:
            await show(Line(api), inbox, watching(api), _ALL_ENDS)

    return visit, Aside(inbox)


async def _until_told(shown: Awaitable[None]) -> None:
    """Who is told to end leaves the terminal as it was."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await shown
