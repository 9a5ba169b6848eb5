"""The folder of a command that needs a server and a client, made known if a person wants that."""

import asyncio
from pathlib import Path

import typer

from handrail.app.first_steps import settle
from handrail.app.home import Credentials
from handrail.app.settings import Settings
from handrail.app.visits import UnknownFolder, find_server
from handrail.cli.output import remark, visible
from handrail.core.ports import Channel


def find_or_set_up(
    settings: Settings, workspace: Path, terminal: Channel | None, *, yes: bool
) -> Credentials | None:
    """The server that runs already; a folder it does not know is made known, if that is wanted."""
    try:
        return find_server(settings, workspace)
    except UnknownFolder:
        if not yes:
            if terminal is None:
                raise
            folder = visible(workspace.resolve())
            remark(f"Handrail is already running, and [bold]{folder}[/] is not set up yet.")
            if not typer.confirm(
                "Set it up, so that the agent can work there?", default=True, err=True
            ):
                raise
        return asyncio.run(settle(settings, workspace)).credentials
