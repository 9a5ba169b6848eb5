"""handrail console."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, say, visible


def register(app: typer.Typer) -> None:
    app.command("console")(console)


def console(
    workspace: options.Workspace = Path(),
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it, or print its link alone.")
    ] = True,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Open the console in a browser, signed in.

    The link is good once, for a quarter of an hour. Who has it is you: send it to nobody.
    """
    made = ask(workspace, home, lambda api: api.post("/console/links", {}))
    server = Home(load_settings(home=home).home).get_credentials(workspace).server
    address = f"{server}/#{made['link']}"
    if json:
        print_json({"address": address, "expires_at": made["expires_at"]})
        return
    say(f"[bold cyan]{visible(address)}[/]")
    if open_it and _has_a_screen():
        webbrowser.open(address)


def _has_a_screen() -> bool:
    """Elsewhere a browser would open in the terminal, and hold it."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
