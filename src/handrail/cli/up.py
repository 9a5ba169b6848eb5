"""handrail up."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from handrail.app.first_steps import settle
from handrail.app.home import Credentials, Home
from handrail.app.logs import configure_logs
from handrail.app.run_both import up as run_up
from handrail.app.run_both import while_up
from handrail.app.run_server import Ready
from handrail.app.settings import Settings, load_settings
from handrail.app.terminal import can_draw, find_terminal
from handrail.cli import options, screen
from handrail.cli.connect import stay_connected
from handrail.cli.output import is_terminal, program, say, visible
from handrail.core.errors import SetupError


def register(app: typer.Typer) -> None:
    app.command("up")(up)


def up(
    workspace: Annotated[
        Path, typer.Argument(help="The folder that agents should work in.", show_default="here")
    ] = Path(),
    host: options.Host = None,
    port: options.Port = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    behind_proxy: options.BehindProxy = None,
    tui: Annotated[
        bool, typer.Option("--tui", help="Show waiting, running and past calls on a screen.")
    ] = False,
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Start the server and this machine's client in one process.

    For example: `handrail up` in the folder that agents should work in, or `handrail up ~/shop`.

    If a server is already running on this machine, the folder joins it. Everything is stored in
    Handrail's own folder: stop it or kill it, start it again, and every call continues.
    """
    settings = load_settings(home, host, port, tls_cert, tls_key, behind_proxy)
    if tui and not can_draw():
        raise SetupError("this terminal cannot draw a screen; start without --tui")
    terminal = find_terminal()
    own = Home(settings.home)
    own.create()
    # Cards are shown in a terminal; nothing else may be written across them.
    configure_logs(verbose=verbose, file=own.log, on_screen=terminal is None or verbose)
    if own.is_served():
        known = _join(settings, workspace, [host, port, tls_cert, tls_key, behind_proxy])
        stay_connected(own, workspace, known, terminal, on_screen=tui)
        return
    if tui:
        visit, channel = screen.make_visit()
        uvloop.run(while_up(settings, workspace, visit, channel))
    else:
        uvloop.run(run_up(settings, workspace, _greet, terminal))
    say(
        f"Handrail has stopped. Commands that were running have ended; `{program()} up` "
        "continues with the rest."
    )


def _join(settings: Settings, workspace: Path, server_options: Sequence[object]) -> Credentials:
    """Connect this folder to the server that is running already.

    Raises:
        SetupError: A client runs for this folder, or a server of its own is asked for.
    """
    own, folder = Home(settings.home), workspace.resolve()
    known = own.find_credentials(folder)
    if known is not None and own.has_client(folder):
        raise SetupError(
            f"Handrail is already running for {folder} at {known.server}. "
            "`handrail console` opens it in the browser, `handrail approvals watch` in a terminal"
        )
    if any(option is not None for option in server_options):
        raise SetupError(
            f"a Handrail server is already running on {own.path}, so --host, --port, --tls-cert, "
            "--tls-key and --behind-proxy have no effect. Leave them out to connect this folder "
            "to it, or run a second server with --home"
        )
    known = asyncio.run(settle(settings, workspace)).credentials
    say(f"[bold]Handrail[/] is already running at [bold cyan]{known.server}[/]; joining it.")
    say(f"  workspace  {visible(known.workspace)}")
    say(f"  project    {known.project_id}")
    say(f"\nDecide in the browser: `{program()} console --workspace {visible(folder)}` opens it.")
    say("Disconnect with Ctrl+C; the server goes on.")
    return known


def _greet(ready: Ready) -> None:
    credentials = ready.credentials
    say(f"[bold]Handrail[/] is running at [bold cyan]{credentials.server}[/]")
    say(f"  workspace  {visible(credentials.workspace)}")
    say(f"  project    {credentials.project_id}")
    if is_terminal():
        say("\nDecide in the browser; this link works once, for 15 minutes:")
        say(f"  [bold cyan]{visible(ready.make_link())}[/]")
    else:
        say(f"\nDecide in the browser: `{program()} console` opens it.")
    say("In another terminal, take the tour of an agent's calls:")
    say(f"  [bold]{program()} tour --workspace {visible(credentials.workspace)}[/]")
    say("Stop with Ctrl+C.")
