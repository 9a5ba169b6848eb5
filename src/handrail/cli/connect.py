"""handrail connect."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from handrail.app.home import Home
from handrail.app.logs import configure_logs
from handrail.app.run_client import connect as run_client
from handrail.app.settings import load_settings
from handrail.app.terminal import find_terminal
from handrail.cli import options
from handrail.cli.output import say, visible


def register(app: typer.Typer) -> None:
    app.command("connect")(connect)


def connect(
    workspace: Annotated[
        Path, typer.Argument(help="The folder your agents shall work in.", show_default="here")
    ] = Path(),
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Start this machine's client alone.

    It executes what the server has approved, in this folder and nowhere else, and finds its way
    back by itself when the line breaks.
    """
    configure_logs(verbose=verbose)
    own = Home(load_settings(home=home).home)
    credentials = own.get_credentials(workspace)

    before: bool | None = None

    def announce(connected: bool) -> None:
        nonlocal before
        if connected != before:
            say(f"{_state(connected, before)} {visible(credentials.server)}")
        before = connected

    try:
        uvloop.run(run_client(own, credentials, announce, find_terminal()))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("Disconnected.")


def _state(connected: bool, before: bool | None) -> str:
    if connected:
        return "[green]connected[/] to"
    return "looking for" if before is None else "[yellow]lost[/], looking for"
