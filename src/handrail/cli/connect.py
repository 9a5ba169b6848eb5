"""handrail connect."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from handrail.app.home import Credentials, Home
from handrail.app.join import join
from handrail.app.logs import configure_logs
from handrail.app.run_client import connect as run_client
from handrail.app.settings import TOKEN, load_settings
from handrail.app.terminal import can_draw, find_terminal
from handrail.cli import options, screen
from handrail.cli.output import say, visible
from handrail.core.errors import BadInput
from handrail.core.ports import Channel


def register(app: typer.Typer) -> None:
    app.command("connect")(connect)


def connect(
    workspace: Annotated[
        Path, typer.Argument(help="The folder that agents should work in.", show_default="here")
    ] = Path(),
    server: Annotated[
        str | None, typer.Option(help="The address of the server, such as https://host:8000.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="The id of the project on that server.")
    ] = None,
    plain: options.Plain = False,
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Connect this machine to a server, and run approved calls here.

    For example: `handrail connect`, or `handrail connect --server https://host:8000 --project ID`.

    It runs approved calls in this folder and nowhere else, and reconnects by itself when the
    connection is lost.

    To connect to a server on another machine, create a client's token there with
    `handrail token create --role client`, and give it here in HANDRAIL_TOKEN or when asked. This is
    needed once.

    In a terminal it opens a screen with waiting, running and past calls; quitting it ends the
    client. With --plain, and where no screen can be drawn, cards are printed one after the other.
    """
    own, terminal = Home(load_settings(home=home).home), find_terminal()
    if server is None and project is None:
        credentials = own.get_credentials(workspace)
    elif server is None or project is None:
        raise BadInput(
            "--server and --project belong together; `handrail token create` printed both "
            "with the token"
        )
    else:
        credentials = asyncio.run(join(own, workspace, server, project, _token()))
    # Cards are shown in a terminal; nothing else may be written across them.
    configure_logs(verbose=verbose, file=own.log, on_screen=terminal is None or verbose)
    on_screen = can_draw() and not plain and not verbose
    stay_connected(own, workspace, credentials, terminal, on_screen=on_screen)


def stay_connected(
    own: Home,
    workspace: Path,
    credentials: Credentials,
    terminal: Channel | None,
    *,
    on_screen: bool,
) -> None:
    """Run this machine's client until its person ends it."""
    if on_screen:
        _show(own, workspace, credentials)
        return
    before: bool | None = None

    def announce(connected: bool) -> None:
        nonlocal before
        if connected != before:
            say(f"{_state(connected, before)} {visible(credentials.server)}")
        before = connected

    try:
        uvloop.run(run_client(own, credentials, announce, terminal))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("Disconnected.")


def _show(own: Home, workspace: Path, credentials: Credentials) -> None:
    """Run the client, and be asked on a screen."""

    def find_token() -> str | None:
        saved = own.find_credentials(workspace)
        return None if saved is None else saved.client_token

    async def listen(channel: Channel, announce: Callable[[bool], None]) -> None:
        await run_client(own, credentials, announce, channel)

    screen.connect(credentials, find_token, listen)
    say("Disconnected.")


def _token() -> str:
    found = TOKEN.read()
    if not found and sys.stdin.isatty():
        found = typer.prompt("Token", hide_input=True, err=True)
    if not found:
        raise BadInput(f"give the client's token in {TOKEN.name}")
    return found.strip()


def _state(connected: bool, before: bool | None) -> str:
    if connected:
        return "[green]connected[/] to"
    return "connecting to" if before is None else "[yellow]connection lost[/], reconnecting to"
