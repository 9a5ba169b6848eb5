"""handrail serve."""

from pathlib import Path

import typer
import uvloop

from handrail.app.home import Credentials
from handrail.app.logs import configure_logs
from handrail.app.run_server import serve as run_server
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import program, say, visible


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    workspace: options.Workspace = Path(),
    port: options.Port = None,
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Start the server alone.

    The workspace is made known to it, so that `handrail connect` can run beside it.
    """
    configure_logs(verbose=verbose)
    uvloop.run(run_server(load_settings(home=home, port=port), workspace, _greet))


def _greet(credentials: Credentials) -> None:
    say(f"[bold]Handrail[/] serves at [bold cyan]{credentials.server}[/]")
    say(f"Connect this machine: [bold]{program()} connect {visible(credentials.workspace)}[/]")
